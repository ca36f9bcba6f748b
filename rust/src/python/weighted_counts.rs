//! `tally`: how often each cell comes, by whole weights.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use super::sampler::run;
use crate::entropy::with_thread_entropy;
use crate::numbers::cumulative_table::CumulativeTable;

/// How often each cell comes in `size` draws with probabilities proportional to `weights`.
#[pyfunction]
#[pyo3(signature = (weights, size, /))]
pub fn tally<'py>(weights: &Bound<'py, PyArray1<u64>>, size: u64) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let py = weights.py();
    let weights = weights.readonly().as_array().to_vec();
    let counts = run(py, usize::MAX, || {
        let table = CumulativeTable::new(weights.into_iter())?;
        with_thread_entropy(|entropy| table.draw_counts(size, entropy))
    })?;
    Ok(PyArray1::from_iter(py, counts.into_iter().map(|count| count as i64)))
}
