//! Blocks of known random bits; see `crate::entropy::seeding`.

use pyo3::prelude::*;

use crate::entropy::seeding;

/// Begin a block on this thread; false if it is in one.
#[pyfunction]
#[pyo3(signature = (key, /))]
pub fn begin_seeded(key: [u8; 32]) -> bool {
    seeding::begin(key)
}

/// End the block of this thread, if it is in one.
#[pyfunction]
pub fn end_seeded() {
    seeding::end();
}

/// Whether this thread is in a block, and how many draws it ever made in one.
#[pyfunction]
pub fn seeded_draws() -> (bool, u64) {
    (seeding::is_on(), seeding::draws())
}
