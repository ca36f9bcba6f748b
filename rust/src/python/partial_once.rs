//! `PartialOnce`: the first of some of the scores with their times, to be merged with those of the others.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::Memory;
use super::errors::invalid_parameter;
use super::partial::{UsedBefore, UsedOnce};
use super::sampler::run;
use crate::entropy::with_entropy;
use crate::float_control::with_standard_floats;
use crate::select::many_draws::Law;
use crate::select::partial::{Terms, Winner};
use crate::select::partial_once::{first_of, from_bytes, merge, to_bytes};

#[pyclass(frozen, module = "dpselect._native._core")]
pub struct PartialOnce {
    terms: Terms,
    count: usize,
    state: UsedOnce<Vec<Winner>>,
}

fn terms(epsilon: f64, sensitivity: f64, factor: u8) -> Terms {
    Terms { law: Law::PermuteAndFlip, epsilon, sensitivity, factor }
}

fn places(winners: &[Winner]) -> Vec<(u64, u64)> {
    winners.iter().map(|winner| (winner.partition, winner.index)).collect()
}

#[pymethods]
impl PartialOnce {
    /// Draw from some of the scores.
    #[staticmethod]
    fn of(
        epsilon: f64,
        sensitivity: f64,
        factor: u8,
        count: usize,
        scores: &Bound<'_, PyAny>,
        partition: u64,
    ) -> PyResult<Self> {
        let py = scores.py();
        let terms = terms(epsilon, sensitivity, factor);
        let memory = Memory::of(scores)?;
        let view = memory.view();
        let winners =
            run(py, memory.bytes(), || with_entropy(|entropy| first_of(&terms, view, count, partition, entropy)))?;
        Ok(Self { terms, count, state: UsedOnce::new(winners) })
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> Option<Self> {
        let (terms, count, winners) = with_standard_floats(|| from_bytes(data))?;
        Some(Self { terms, count, state: UsedOnce::new(winners) })
    }

    /// Epsilon, sensitivity, factor and count, which are public.
    fn is_drawn_with(&self, epsilon: f64, sensitivity: f64, factor: u8, count: usize) -> bool {
        self.terms == terms(epsilon, sensitivity, factor) && self.count == count
    }

    /// Partitions and indices of the first so far, which are as private as the state and do not use it up.
    fn so_far(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        self.state.look(|winners| places(winners)).map_err(|UsedBefore| UsedBefore::raised(py))
    }

    /// The first of both, which are used up; if this raises, both are as they were.
    fn merged(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        if self.terms != other.terms || self.count != other.count {
            return Err(invalid_parameter(py, "other", "<of another mechanism>", "one of the same mechanism"));
        }
        let scale = run(py, 0, || self.terms.scale())?;
        let first = self.state.merged(&other.state, py, |one, another| {
            with_entropy(|entropy| merge(one, another, self.count, &scale, entropy))
        })?;
        Ok(Self { terms: self.terms, count: self.count, state: UsedOnce::new(first) })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let winners = self.state.take().map_err(|UsedBefore| UsedBefore::raised(py))?;
        Ok(PyBytes::new(py, &to_bytes(&self.terms, self.count, &winners)))
    }

    /// Partitions and indices, the first one first.
    fn winners(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        self.state.take().map(|winners| places(&winners)).map_err(|UsedBefore| UsedBefore::raised(py))
    }
}
