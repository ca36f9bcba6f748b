//! `Partial`: the winner of some of the scores with its time, to be merged with those of the others.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{Memory, with_view};
use super::errors::{invalid_parameter, to_python};
use super::sampler::{law_named, run};
use crate::entropy::with_thread_entropy;
use crate::selection::partial::{Terms, Winner, merge};
use crate::selection::partial_bytes::{from_bytes, to_bytes};

/// What became of a state: each is used once, because what was drawn for it must not decide two releases.
enum State {
    Fresh(Option<Winner>),
    Used,
}

#[pyclass(frozen, module = "dpselect._native._core")]
pub struct Partial {
    terms: Terms,
    state: Mutex<State>,
}

impl Partial {
    fn new(terms: Terms, winner: Option<Winner>) -> Self {
        Self { terms, state: Mutex::new(State::Fresh(winner)) }
    }

    fn take(&self, py: Python<'_>) -> PyResult<Option<Winner>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Used) {
            State::Fresh(winner) => Ok(winner),
            State::Used => Err(used_before(py)),
        }
    }
}

fn used_before(py: Python<'_>) -> PyErr {
    invalid_parameter(py, "partial", "<used before>", "one that was not merged, written or read yet")
}

#[pymethods]
impl Partial {
    /// Draw from some of the scores.
    #[staticmethod]
    fn of(
        law: &str,
        epsilon: f64,
        sensitivity: f64,
        factor: u8,
        scores: &Bound<'_, PyAny>,
        partition: u64,
    ) -> PyResult<Self> {
        let py = scores.py();
        let terms = Terms { law: law_named(py, law)?, epsilon, sensitivity, factor };
        let memory = Memory::of(scores)?;
        let winner = with_view!(memory, view => {
            run(py, memory.bytes(), || with_thread_entropy(|entropy| Winner::of(&terms, view, partition, entropy)))
        })?;
        Ok(Self::new(terms, winner))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> Option<Self> {
        from_bytes(data).map(|(terms, winner)| Self::new(terms, winner))
    }

    /// Law, epsilon, sensitivity and factor, which are public.
    fn is_drawn_with(&self, py: Python<'_>, law: &str, epsilon: f64, sensitivity: f64, factor: u8) -> PyResult<bool> {
        Ok(self.terms == Terms { law: law_named(py, law)?, epsilon, sensitivity, factor })
    }

    /// Partition and index of the winner so far, which is as private as the state and does not use it up.
    fn so_far(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Fresh(winner) => Ok(winner.as_ref().map(|winner| (winner.partition, winner.index))),
            State::Used => Err(used_before(py)),
        }
    }

    /// The first of both, which are used up.
    fn merged(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        if self.terms != other.terms {
            return Err(invalid_parameter(py, "other", "<of another mechanism>", "one of the same mechanism"));
        }
        let scale = self.terms.scale().map_err(|error| to_python(py, error))?;
        let (one, another) = (self.take(py)?, other.take(py)?);
        let first = run(py, 0, || with_thread_entropy(|entropy| Ok(merge(one, another, &scale, entropy))))?;
        Ok(Self::new(self.terms, first))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &to_bytes(&self.terms, self.take(py)?.as_ref())))
    }

    /// Partition and index, `None` without scores.
    fn winner(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        Ok(self.take(py)?.map(|winner| (winner.partition, winner.index)))
    }
}
