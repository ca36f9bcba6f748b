//! `PiecewiseSampler` and `PiecewisePlan`: draws where the score goes in lines and parabolas.

use dashu_int::{IBig, UBig};
use pyo3::prelude::*;

use super::arrays::{Array, Numbers, array};
use super::sampler::{run, scale_of};
use crate::entropy::with_entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt;
use crate::numbers::piecewise_quadratic::{PiecewiseScore, Prepared};
use crate::numbers::score_shapes::{Concave, Lines, LinesThroughOrigin, Peak, Tail};
use crate::scores::scale::Scale;

/// A scale, and nothing else.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct PiecewiseSampler {
    scale: Scale,
}

/// A score and the bounds of its pieces' masses; holds no generator state.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct PiecewisePlan(Prepared);

#[pymethods]
impl PiecewiseSampler {
    #[new]
    fn new(py: Python<'_>, epsilon: f64, sensitivity: f64, factor: u8) -> PyResult<Self> {
        Ok(Self { scale: scale_of(py, epsilon, sensitivity, factor)? })
    }

    /// Lines from `starts[i]` to `ends[i]` between the breakpoints, and tails of (score, fall for each unit) outside.
    #[pyo3(signature = (breakpoints, starts, ends, below, above, /))]
    fn plan_lines(
        &self,
        py: Python<'_>,
        breakpoints: Numbers<f64>,
        starts: Numbers<f64>,
        ends: Numbers<f64>,
        below: Option<(f64, f64)>,
        above: Option<(f64, f64)>,
    ) -> PyResult<PiecewisePlan> {
        let tail = |given: Option<(f64, f64)>| given.map(|(score, slope)| Tail { score, slope });
        self.plan(py, move || Lines::new(breakpoints.0, starts.0, ends.0, tail(below), tail(above)))
    }

    /// Lines `slopes[i] * x` between the breakpoints.
    #[pyo3(signature = (breakpoints, slopes, /))]
    fn plan_lines_through_origin(
        &self,
        py: Python<'_>,
        breakpoints: Numbers<f64>,
        slopes: Numbers<f64>,
    ) -> PyResult<PiecewisePlan> {
        self.plan(py, move || LinesThroughOrigin::new(breakpoints.0, slopes.0))
    }

    /// A concave score with these slopes at the breakpoints, linear in between, and kept up outside if there are tails.
    #[pyo3(signature = (breakpoints, slopes, has_tails, /))]
    fn plan_concave(
        &self,
        py: Python<'_>,
        breakpoints: Numbers<f64>,
        slopes: Numbers<f64>,
        has_tails: bool,
    ) -> PyResult<PiecewisePlan> {
        self.plan(py, move || Concave::new(breakpoints.0, slopes.0, has_tails))
    }

    /// One draw with the score `-|x - center| / unit`, or minus its square, from `lower` to `upper` (all over
    /// `denominator`).
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (center, lower, upper, unit, denominator, is_squared, /))]
    fn draw_peak(
        &self,
        py: Python<'_>,
        center: &[u8],
        lower: Option<&[u8]>,
        upper: Option<&[u8]>,
        unit: &[u8],
        denominator: &[u8],
        is_squared: bool,
    ) -> PyResult<f64> {
        let center = IBig::from_le_bytes(center);
        let (lower, upper) = (lower.map(IBig::from_le_bytes), upper.map(IBig::from_le_bytes));
        let (unit, denominator) = (UBig::from_le_bytes(unit), UBig::from_le_bytes(denominator));
        run(py, 0, || {
            let plan =
                Prepared::new(Peak::new(center, lower, upper, unit, denominator, is_squared)?, self.scale.clone())?;
            with_entropy(|entropy| Ok(plan.draw(entropy)))
        })
    }
}

impl PiecewiseSampler {
    fn plan<S: PiecewiseScore + 'static>(
        &self,
        py: Python<'_>,
        score: impl FnOnce() -> Result<S, SelectError> + Send,
    ) -> PyResult<PiecewisePlan> {
        run(py, usize::MAX, || Ok(PiecewisePlan(Prepared::new(score()?, self.scale.clone())?)))
    }
}

#[pymethods]
impl PiecewisePlan {
    /// `size` independent points.
    #[pyo3(signature = (size, /))]
    fn draw_many<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Array<'py>> {
        let points = run(py, usize::MAX, || {
            let mut points: Vec<f64> = reserved(size)?;
            with_entropy(|entropy| {
                for _ in 0..size {
                    interrupt::check()?;
                    points.push(self.0.draw(entropy));
                }
                Ok(())
            })?;
            Ok(points)
        })?;
        array(py, points.len(), &points)
    }
}
