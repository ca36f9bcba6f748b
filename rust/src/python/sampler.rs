//! `Sampler`: a law and a scale, and nothing else.

use pyo3::prelude::*;

use super::arrays::{Array, Memory, Memory2, array};
use super::errors::{invalid_parameter, to_python};
use crate::entropy::with_entropy;
use crate::error::SelectError;
use crate::float_control::with_standard_floats;
use crate::interrupt::interruptible;
use crate::scores::scale::Scale;
use crate::select::many_draws::{self, Law};
use crate::select::rows::select_rows;
use crate::select::{lead, once, top_k};

/// From this many bytes of scores on, other Python threads may run meanwhile.
const BYTES_TO_RELEASE_THE_LOCK: usize = 128 << 10;

#[pyclass(frozen, module = "dpselect._native._core")]
pub struct Sampler {
    law: Law,
    scale: Scale,
}

#[pymethods]
impl Sampler {
    #[new]
    fn new(py: Python<'_>, law: &str, epsilon: f64, sensitivity: f64, factor: u8) -> PyResult<Self> {
        Ok(Self { law: law_named(py, law)?, scale: scale_of(py, epsilon, sensitivity, factor)? })
    }

    /// One draw.
    #[pyo3(signature = (scores, /))]
    fn select(&self, scores: &Bound<'_, PyAny>) -> PyResult<usize> {
        let memory = Memory::of(scores)?;
        let view = memory.view();
        run(scores.py(), memory.bytes(), || many_draws::select(self.law, view, &self.scale))
    }

    /// `size` independent draws.
    #[pyo3(signature = (scores, size, /))]
    fn select_many<'py>(&self, scores: &Bound<'py, PyAny>, size: usize) -> PyResult<Array<'py>> {
        let memory = Memory::of(scores)?;
        let view = memory.view();
        let draws = run(scores.py(), usize::MAX, || many_draws::select_many(self.law, view, &self.scale, size))?;
        indices(scores.py(), draws)
    }

    /// One draw for each row.
    #[pyo3(signature = (scores, /))]
    fn select_rows<'py>(&self, scores: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
        let memory = Memory2::of(scores)?;
        let matrix = memory.matrix();
        let draws = run(scores.py(), usize::MAX, || select_rows(self.law, &matrix, &self.scale))?;
        indices(scores.py(), draws)
    }

    /// `k` draws without replacement, best first.
    #[pyo3(signature = (scores, k, /))]
    fn peel<'py>(&self, scores: &Bound<'py, PyAny>, k: usize) -> PyResult<Array<'py>> {
        let memory = Memory::of(scores)?;
        let view = memory.view();
        let picks = run(scores.py(), usize::MAX, || {
            with_entropy(|entropy| top_k::peel(self.law, view, &self.scale, k, entropy))
        })?;
        indices(scores.py(), picks)
    }

    /// One draw, and by how much the winner is ahead of all others, rounded down to a multiple of `step`.
    #[pyo3(signature = (scores, step, /))]
    fn select_with_gap(&self, scores: &Bound<'_, PyAny>, step: f64) -> PyResult<(usize, f64)> {
        let memory = Memory::of(scores)?;
        let view = memory.view();
        run(scores.py(), memory.bytes(), || {
            with_entropy(|entropy| lead::select(self.law, view, &self.scale, step, entropy))
        })
    }

    /// The candidates with the `k` largest scores after exponential noise once, best first.
    #[pyo3(signature = (scores, k, /))]
    fn once<'py>(&self, scores: &Bound<'py, PyAny>, k: usize) -> PyResult<Array<'py>> {
        let memory = Memory::of(scores)?;
        let view = memory.view();
        let picks = run(scores.py(), usize::MAX, || {
            let candidates = with_entropy(|entropy| once::largest(view, &self.scale, k, entropy))?;
            Ok(candidates.iter().map(|candidate| candidate.index).collect())
        })?;
        indices(scores.py(), picks)
    }
}

fn law_named(py: Python<'_>, name: &str) -> PyResult<Law> {
    match name {
        "exponential" => Ok(Law::Exponential),
        "permute_and_flip" => Ok(Law::PermuteAndFlip),
        "laplace" => Ok(Law::LaplaceNoisyMax),
        _ => Err(invalid_parameter(py, "law", "<unknown>", "exponential, permute_and_flip or laplace")),
    }
}

pub fn scale_of(py: Python<'_>, epsilon: f64, sensitivity: f64, factor: u8) -> PyResult<Scale> {
    if !matches!(factor, 1 | 2) {
        return Err(invalid_parameter(py, "factor", "<out of range>", "1 or 2"));
    }
    run(py, 0, || Scale::new(epsilon, sensitivity, factor))
}

/// Indices as an array of NumPy's own kind of index.
pub fn indices(py: Python<'_>, indices: Vec<usize>) -> PyResult<Array<'_>> {
    let indices: Vec<i64> = indices.into_iter().map(|index| index as i64).collect();
    array(py, indices.len(), &indices)
}

/// Do the work of one call, without the interpreter lock if it takes long enough: floating point is the standard's, and the
/// caller may end it.
pub fn run<R: Send>(py: Python<'_>, bytes: usize, draw: impl FnOnce() -> Result<R, SelectError> + Send) -> PyResult<R> {
    let (mut draw, mut drawn) = (Some(draw), None);
    run_any(py, bytes, &mut || {
        drawn = draw.take().map(|draw| draw()).transpose()?;
        Ok(())
    })?;
    drawn.ok_or_else(|| to_python(py, SelectError::Interrupted))
}

/// The same for a call whose type is not known here, so that this is compiled once.
fn run_any(py: Python<'_>, bytes: usize, draw: &mut (dyn FnMut() -> Result<(), SelectError> + Send)) -> PyResult<()> {
    let call = || with_standard_floats(|| interruptible(draw));
    let result = if bytes >= BYTES_TO_RELEASE_THE_LOCK { py.detach(call) } else { call() };
    result.map_err(|error| to_python(py, error))
}
