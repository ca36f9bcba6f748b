//! `LandscapeSampler`: draws where the score has slopes.

use dashu_int::{IBig, UBig};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use super::errors::{invalid_parameter, to_python};
use super::sampler::run;
use crate::density::piecewise_quadratic::{Landscape, draw};
use crate::density::score_shapes::{Concave, Inclines, Lines, Peak, Tail};
use crate::entropy::with_thread_entropy;
use crate::error::SelectError;
use crate::numbers::scale::Scale;

/// A scale, and nothing else.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct LandscapeSampler {
    scale: Scale,
}

type Doubles<'py> = Bound<'py, PyArray1<f64>>;

#[pymethods]
impl LandscapeSampler {
    #[new]
    fn new(py: Python<'_>, epsilon: f64, sensitivity: f64, factor: u8) -> PyResult<Self> {
        if !matches!(factor, 1 | 2) {
            return Err(invalid_parameter(py, "factor", "<out of range>", "1 or 2"));
        }
        let scale = Scale::new(epsilon, sensitivity, factor).map_err(|error| to_python(py, error))?;
        Ok(Self { scale })
    }

    /// Lines from `starts[i]` to `ends[i]` between the breakpoints, and tails of (score, fall for each unit) outside.
    #[pyo3(signature = (breakpoints, starts, ends, below, above, /))]
    fn lines(
        &self,
        breakpoints: &Doubles<'_>,
        starts: &Doubles<'_>,
        ends: &Doubles<'_>,
        below: Option<(f64, f64)>,
        above: Option<(f64, f64)>,
    ) -> PyResult<f64> {
        let tail = |given: Option<(f64, f64)>| given.map(|(score, slope)| Tail { score, slope });
        let (points, starts, ends) = (to_vec(breakpoints), to_vec(starts), to_vec(ends));
        self.draw(breakpoints.py(), move || Lines::new(points, starts, ends, tail(below), tail(above)))
    }

    /// Lines `heights[i] + slopes[i] * (x - anchors[i])` between the breakpoints.
    #[pyo3(signature = (breakpoints, slopes, anchors, heights, /))]
    fn slopes(
        &self,
        breakpoints: &Doubles<'_>,
        slopes: &Doubles<'_>,
        anchors: &Doubles<'_>,
        heights: &Doubles<'_>,
    ) -> PyResult<f64> {
        let (points, slopes) = (to_vec(breakpoints), to_vec(slopes));
        let (anchors, heights) = (to_vec(anchors), to_vec(heights));
        self.draw(breakpoints.py(), move || Inclines::new(points, slopes, anchors, heights))
    }

    /// A concave score with these slopes at the breakpoints, linear in between, and kept up outside if there are tails.
    #[pyo3(signature = (breakpoints, slopes, has_tails, /))]
    fn concave(&self, breakpoints: &Doubles<'_>, slopes: &Doubles<'_>, has_tails: bool) -> PyResult<f64> {
        let (points, slopes) = (to_vec(breakpoints), to_vec(slopes));
        self.draw(breakpoints.py(), move || Concave::new(points, slopes, has_tails))
    }

    /// The score `-|x - center| / unit`, or minus its square, from `lower` to `upper` (all over `denominator`).
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (center, lower, upper, unit, denominator, is_squared, /))]
    fn peak(
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
        self.draw(py, move || Peak::new(center, lower, upper, unit, denominator, is_squared))
    }
}

impl LandscapeSampler {
    fn draw<L: Landscape>(
        &self,
        py: Python<'_>,
        landscape: impl FnOnce() -> Result<L, SelectError> + Send,
    ) -> PyResult<f64> {
        run(py, usize::MAX, || {
            let landscape = landscape()?;
            with_thread_entropy(|entropy| draw(&landscape, &self.scale, entropy))
        })
    }
}

fn to_vec(array: &Doubles<'_>) -> Vec<f64> {
    array.readonly().as_array().to_vec()
}
