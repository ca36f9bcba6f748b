//! `Partial`: the winner of some of the scores with its time, to be merged with those of the others.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::Memory;
use super::errors::invalid_parameter;
use super::sampler::{law_named, run};
use crate::entropy::with_entropy;
use crate::error::SelectError;
use crate::float_control::with_standard_floats;
use crate::select::partial::{Terms, Winner, merge};
use crate::select::partial_bytes::{from_bytes, to_bytes};

/// What became of a state: each is used once, because what was drawn for it must not decide two releases.
enum State<W> {
    Fresh(W),
    Used,
}

/// A state behind a lock, under which nothing of Python may be touched: whoever waits for it may hold the interpreter's.
pub struct UsedOnce<W>(Mutex<State<W>>);

impl<W: Clone> UsedOnce<W> {
    pub fn new(drawn: W) -> Self {
        Self(Mutex::new(State::Fresh(drawn)))
    }

    fn locked(&self) -> MutexGuard<'_, State<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Look at what was drawn; it is not used up.
    pub fn look<R>(&self, look: impl FnOnce(&W) -> R) -> Result<R, UsedBefore> {
        match &*self.locked() {
            State::Fresh(drawn) => Ok(look(drawn)),
            State::Used => Err(UsedBefore),
        }
    }

    /// What was drawn; the state is used up.
    pub fn take(&self) -> Result<W, UsedBefore> {
        self.locked().take()
    }

    /// Both states, which are used up, or neither.
    pub fn take_both(&self, other: &Self) -> Result<(W, W), UsedBefore> {
        if std::ptr::eq(self, other) {
            return Err(UsedBefore);
        }
        // In one order everywhere, so that no two merges wait for each other.
        let is_first = std::ptr::from_ref(self) < std::ptr::from_ref(other);
        let (low, high) = if is_first { (self, other) } else { (other, self) };
        let (mut low, mut high) = (low.locked(), high.locked());
        if !low.is_fresh() || !high.is_fresh() {
            return Err(UsedBefore);
        }
        let (low, high) = (low.take()?, high.take()?);
        Ok(if is_first { (low, high) } else { (high, low) })
    }

    /// Merge both, which are used up; if that fails, both are as they were.
    pub fn merged<R: Send>(
        &self,
        other: &Self,
        py: Python<'_>,
        merge: impl FnOnce(W, W) -> Result<R, SelectError> + Send,
    ) -> PyResult<R>
    where
        W: Send,
    {
        let (one, another) = self.take_both(other).map_err(|UsedBefore| UsedBefore::raised(py))?;
        let (kept, kept_other) = (one.clone(), another.clone());
        run(py, usize::MAX, || merge(one, another)).inspect_err(|_| {
            // Nobody has learnt a bit that the merge drew, so those that come next may be fresh.
            *self.locked() = State::Fresh(kept);
            *other.locked() = State::Fresh(kept_other);
        })
    }
}

impl<W> State<W> {
    fn is_fresh(&self) -> bool {
        matches!(self, Self::Fresh(_))
    }

    fn take(&mut self) -> Result<W, UsedBefore> {
        match std::mem::replace(self, Self::Used) {
            Self::Fresh(drawn) => Ok(drawn),
            Self::Used => Err(UsedBefore),
        }
    }
}

#[pyclass(frozen, module = "dpselect._native._core")]
pub struct Partial {
    terms: Terms,
    state: UsedOnce<Option<Winner>>,
}

impl Partial {
    fn new(terms: Terms, winner: Option<Winner>) -> Self {
        Self { terms, state: UsedOnce::new(winner) }
    }
}

/// That a state was used, to be raised when no lock is held.
pub struct UsedBefore;

impl UsedBefore {
    pub fn raised(py: Python<'_>) -> PyErr {
        invalid_parameter(py, "partial", "<used before>", "one that was not merged, written or read yet")
    }
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
        let view = memory.view();
        let winner = run(py, memory.bytes(), || with_entropy(|entropy| Winner::of(&terms, view, partition, entropy)))?;
        Ok(Self::new(terms, winner))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> Option<Self> {
        with_standard_floats(|| from_bytes(data)).map(|(terms, winner)| Self::new(terms, winner))
    }

    /// Law, epsilon, sensitivity and factor, which are public.
    fn is_drawn_with(&self, py: Python<'_>, law: &str, epsilon: f64, sensitivity: f64, factor: u8) -> PyResult<bool> {
        Ok(self.terms == Terms { law: law_named(py, law)?, epsilon, sensitivity, factor })
    }

    /// Partition and index of the winner so far, which is as private as the state and does not use it up.
    fn so_far(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let so_far = self.state.look(|winner| winner.as_ref().map(|winner| (winner.partition, winner.index)));
        so_far.map_err(|UsedBefore| UsedBefore::raised(py))
    }

    /// The first of both, which are used up; if this raises, both are as they were.
    fn merged(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        if self.terms != other.terms {
            return Err(invalid_parameter(py, "other", "<of another mechanism>", "one of the same mechanism"));
        }
        let scale = run(py, 0, || self.terms.scale())?;
        let first = self.state.merged(&other.state, py, |one, another| {
            with_entropy(|entropy| Ok(merge(one, another, &scale, entropy)))
        })?;
        Ok(Self::new(self.terms, first))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(
            py,
            &to_bytes(&self.terms, self.state.take().map_err(|UsedBefore| UsedBefore::raised(py))?.as_ref()),
        ))
    }

    /// Partition and index, `None` without scores.
    fn winner(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let winner = self.state.take().map_err(|UsedBefore| UsedBefore::raised(py))?;
        Ok(winner.map(|winner| (winner.partition, winner.index)))
    }
}
