//! `Partial`: the winners of some of the scores with their times, to be merged with those of the others.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::Memory;
use super::errors::invalid_parameter;
use super::sampler::{law_named, run};
use crate::entropy::with_entropy;
use crate::float_control::with_standard_floats;
use crate::select::partial::{Row, Terms};

/// A row until it is used: once, because what was drawn for it must not decide two releases.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct Partial(Mutex<Option<Row>>);

impl Partial {
    fn new(row: Row) -> Self {
        Self(Mutex::new(Some(row)))
    }

    /// The only place where a row is locked, and no other with it. Nothing of Python may be touched meanwhile: a thread that
    /// waits for this lock may hold the interpreter's.
    fn with<R>(&self, at_once: impl FnOnce(&mut Option<Row>) -> R) -> R {
        at_once(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn look<R>(&self, py: Python<'_>, look: impl FnOnce(&Row) -> R) -> PyResult<R> {
        self.with(|row| row.as_ref().map(look)).ok_or_else(|| used_before(py))
    }

    fn take(&self, py: Python<'_>) -> PyResult<Row> {
        self.with(Option::take).ok_or_else(|| used_before(py))
    }

    fn put_back(&self, row: Row) {
        self.with(|place| *place = Some(row));
    }
}

fn used_before(py: Python<'_>) -> PyErr {
    invalid_parameter(py, "partial", "<used before>", "one that was not merged, written or read yet")
}

fn places(row: &Row) -> Vec<(u64, u64)> {
    row.winners.iter().map(|winner| (winner.partition, winner.index)).collect()
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
        count: usize,
        scores: &Bound<'_, PyAny>,
        partition: u64,
    ) -> PyResult<Self> {
        let py = scores.py();
        let terms = Terms { law: law_named(py, law)?, epsilon, sensitivity, factor, count };
        let memory = Memory::of(scores)?;
        let view = memory.view();
        run(py, memory.bytes(), || with_entropy(|entropy| Row::of(terms, view, partition, entropy))).map(Self::new)
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> Option<Self> {
        with_standard_floats(|| Row::from_bytes(data)).map(Self::new)
    }

    /// Law, epsilon, sensitivity, factor and count, which are public.
    fn is_drawn_with(
        &self,
        py: Python<'_>,
        law: &str,
        epsilon: f64,
        sensitivity: f64,
        factor: u8,
        count: usize,
    ) -> PyResult<bool> {
        let terms = Terms { law: law_named(py, law)?, epsilon, sensitivity, factor, count };
        self.look(py, |row| row.terms == terms)
    }

    /// The first of both, which are used up; if this raises, both are as they were.
    fn merged(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let one = self.take(py)?;
        let Some(another) = other.with(Option::take) else {
            self.put_back(one);
            return Err(used_before(py));
        };
        let merged = run(py, usize::MAX, || with_entropy(|entropy| one.merged(&another, entropy)));
        merged.map(Self::new).inspect_err(|_| {
            // No bit that the merge drew was shown, so those that come next may be fresh.
            self.put_back(one);
            other.put_back(another);
        })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.take(py).map(|row| PyBytes::new(py, &row.to_bytes()))
    }

    /// Partitions and indices, the first one first.
    fn winners(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        self.take(py).map(|row| places(&row))
    }
}
