//! `tally`: how often each cell comes, by whole weights.

use pyo3::prelude::*;

use super::arrays::{Array, Numbers, array};
use super::sampler::run;
use crate::entropy::with_entropy;
use crate::exact::cumulative_table::CumulativeTable;

/// How often each cell comes in `size` draws with probabilities proportional to `weights`.
#[pyfunction]
#[pyo3(signature = (weights, size, /))]
pub fn tally(py: Python<'_>, weights: Numbers<u64>, size: u64) -> PyResult<Array<'_>> {
    let counts = run(py, usize::MAX, || {
        let table = CumulativeTable::new(weights.0.into_iter())?;
        with_entropy(|entropy| table.draw_counts(size, entropy))
    })?;
    let counts: Vec<i64> = counts.into_iter().map(|count| count as i64).collect();
    array(py, counts.len(), &counts)
}
