//! Candidates that are not alike: `WeightedSampler`, and draws where sensitivities differ.

use pyo3::prelude::*;

use super::arrays::{Array, Memory, Numbers, array};
use super::errors::invalid_parameter;
use super::noise::{Fraction, to_amount};
use super::sampler::{indices, run, scale_of};
use crate::scores::scale::Scale;
use crate::select::different_sensitivities::{Generalized, OwnScales};
use crate::select::steepest::{Points, Together};
use crate::select::weighted_candidates::{self, Weights};

/// A weight for each candidate and a scale, and nothing else.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct WeightedSampler {
    scale: Scale,
    weights: Weights,
}

#[pymethods]
impl WeightedSampler {
    #[new]
    fn new(py: Python<'_>, epsilon: f64, sensitivity: f64, factor: u8, weights: &Bound<'_, PyAny>) -> PyResult<Self> {
        let weights = if let Ok(Numbers(doubles)) = weights.extract() {
            Weights::of_doubles(doubles)
                .ok_or_else(|| invalid_parameter(py, "weights", "<out of range>", "finite numbers >= 0"))?
        } else {
            let fractions: Vec<Fraction> = weights.extract()?;
            Weights::of_ratios(
                fractions.into_iter().map(|fraction| to_amount(py, "weights", fraction)).collect::<PyResult<_>>()?,
            )
            .ok_or_else(|| invalid_parameter(py, "weights", "<too far apart>", "numbers within a factor of 2^8192"))?
        };
        Ok(Self { scale: scale_of(py, epsilon, sensitivity, factor)?, weights })
    }

    /// `size` independent draws.
    #[pyo3(signature = (scores, size, /))]
    fn select_many<'py>(&self, scores: &Bound<'py, PyAny>, size: usize) -> PyResult<Array<'py>> {
        let memory = Memory::of(scores)?;
        let view = memory.view();
        let draws =
            run(scores.py(), usize::MAX, || weighted_candidates::select_many(&self.weights, view, &self.scale, size))?;
        indices(scores.py(), draws)
    }

    /// `k` draws without replacement, best first.
    #[pyo3(signature = (scores, k, /))]
    fn peel<'py>(&self, scores: &Bound<'py, PyAny>, k: usize) -> PyResult<Array<'py>> {
        let memory = Memory::of(scores)?;
        let view = memory.view();
        let picks = run(scores.py(), usize::MAX, || weighted_candidates::peel(&self.weights, view, &self.scale, k))?;
        indices(scores.py(), picks)
    }
}

/// How far each candidate lies below the others, times epsilon / 2.
#[pyfunction]
#[pyo3(signature = (scores, sensitivities, shift, epsilon, together, /))]
pub fn generalized_exponents<'py>(
    py: Python<'py>,
    scores: Numbers<f64>,
    sensitivities: Numbers<f64>,
    shift: f64,
    epsilon: f64,
    together: &str,
) -> PyResult<Array<'py>> {
    let together = together_named(py, together)?;
    let exponents = run(py, usize::MAX, || {
        Ok(Generalized::new(Points::new(&scores.0, &sensitivities.0, shift, together)?, epsilon)?.into_exponents())
    })?;
    array(py, exponents.len(), &exponents)
}

/// `size` independent draws by permute-and-flip on that.
#[pyfunction]
#[pyo3(signature = (scores, sensitivities, shift, epsilon, together, size, /))]
pub fn generalized_draws<'py>(
    py: Python<'py>,
    scores: Numbers<f64>,
    sensitivities: Numbers<f64>,
    shift: f64,
    epsilon: f64,
    together: &str,
    size: usize,
) -> PyResult<Array<'py>> {
    let together = together_named(py, together)?;
    let draws = run(py, usize::MAX, || {
        Generalized::new(Points::new(&scores.0, &sensitivities.0, shift, together)?, epsilon)?.select_many(size)
    })?;
    indices(py, draws)
}

/// `size` independent draws with exponential noise of a scale of its own for each candidate.
#[pyfunction]
#[pyo3(signature = (scores, sensitivities, epsilon, size, /))]
pub fn own_scale_draws(
    py: Python<'_>,
    scores: Numbers<f64>,
    sensitivities: Numbers<f64>,
    epsilon: f64,
    size: usize,
) -> PyResult<Array<'_>> {
    let draws = run(py, usize::MAX, || OwnScales::new(&scores.0, &sensitivities.0, epsilon)?.select_many(size))?;
    indices(py, draws)
}

fn together_named(py: Python<'_>, name: &str) -> PyResult<Together> {
    match name {
        "sum" => Ok(Together::Sum),
        "larger" => Ok(Together::Larger),
        _ => Err(invalid_parameter(py, "together", "<unknown>", "sum or larger")),
    }
}
