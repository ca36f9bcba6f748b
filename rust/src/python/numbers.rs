//! `IntervalSampler` and `Grid`: draws from intervals, and quantiles.

use dashu_int::{IBig, UBig};
use pyo3::prelude::*;

use super::arrays::{Array, Memory, Numbers, array};
use super::errors::invalid_parameter;
use super::sampler::{run, scale_of};
use crate::entropy::{Entropy, with_entropy};
use crate::error::SelectError;
use crate::exact::pieces::Chooser;
use crate::float_control::with_standard_floats;
use crate::numbers::answer_range::Answers;
use crate::numbers::grid;
use crate::numbers::joint_quantiles as joint;
use crate::numbers::point::Point;
use crate::numbers::quantile::{self, Route};
use crate::numbers::quantiles_by_halving;
use crate::numbers::scored_pieces::Scored;
use crate::scores::scale::Scale;
use crate::scores::score_view::View;

/// The doubles nearest to `(start + j * step) / denominator`.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct Grid(grid::Grid);

#[pymethods]
impl Grid {
    /// The integers as little-endian bytes, `start` in two's complement.
    #[new]
    fn new(py: Python<'_>, start: &[u8], step: &[u8], denominator: &[u8], count: u64) -> PyResult<Self> {
        let (start, step) = (IBig::from_le_bytes(start), UBig::from_le_bytes(step));
        let denominator = UBig::from_le_bytes(denominator);
        let grid = with_standard_floats(|| grid::Grid::new(start, step, denominator, count));
        grid.map(Self)
            .ok_or_else(|| invalid_parameter(py, "step", "<out of range>", "a positive step of a finite grid"))
    }

    fn __len__(&self) -> usize {
        self.0.count() as usize
    }

    /// Point `index`.
    #[pyo3(signature = (index, /))]
    fn point(&self, py: Python<'_>, index: u64) -> PyResult<f64> {
        if index >= self.0.count() {
            return Err(invalid_parameter(py, "index", "<out of range>", "the index of a point of the grid"));
        }
        Ok(with_standard_floats(|| self.0.point(index)))
    }

    /// All points.
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let points: Vec<f64> = with_standard_floats(|| (0..self.0.count()).map(|index| self.0.point(index)).collect());
        array(py, points.len(), &points)
    }

    /// The index of the point that each of `values` counts as: the nearest, of two as near the lower.
    #[pyo3(signature = (values, /))]
    fn nearest<'py>(&self, py: Python<'py>, values: Numbers<f64>) -> PyResult<Array<'py>> {
        let nearest = || values.0.iter().map(|&value| self.0.nearest(value)).collect();
        let indices: Vec<u64> = with_standard_floats(nearest);
        array(py, indices.len(), &indices)
    }
}

/// A scale, and nothing else.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct IntervalSampler {
    scale: Scale,
}

#[pymethods]
impl IntervalSampler {
    #[new]
    fn new(py: Python<'_>, epsilon: f64, sensitivity: f64, factor: u8) -> PyResult<Self> {
        Ok(Self { scale: scale_of(py, epsilon, sensitivity, factor)? })
    }

    /// A point of the intervals between `breakpoints`, with density proportional to `exp(score / b)`.
    #[pyo3(signature = (breakpoints, scores, /))]
    fn draw(&self, py: Python<'_>, breakpoints: Numbers<f64>, scores: Numbers<f64>) -> PyResult<f64> {
        let (breakpoints, scores) = (breakpoints.0, scores.0);
        run(py, usize::MAX, || {
            let pieces = Scored::new(&breakpoints, scores, &self.scale)?;
            let chooser = Chooser::new(&pieces)?;
            with_entropy(|entropy| {
                let piece = chooser.draw(&pieces, entropy);
                Ok(Point::draw(breakpoints[piece], breakpoints[piece + 1], entropy).rounded(entropy))
            })
        })
    }

    /// The quantile at `level` of `values` moved into [lower, upper]: a real number, rounded once.
    #[pyo3(signature = (values, level, lower, upper, /))]
    fn quantile(&self, values: &Bound<'_, PyAny>, level: f64, lower: f64, upper: f64) -> PyResult<f64> {
        self.quantile_in(values, level, range_of(values.py(), lower, upper, None)?)
    }

    /// The quantile at `level` of `values` moved onto the grid's range: a point of the grid.
    #[pyo3(signature = (values, level, grid, /))]
    fn grid_quantile(&self, values: &Bound<'_, PyAny>, level: f64, grid: &Grid) -> PyResult<f64> {
        self.quantile_in(values, level, Answers::Grid(&grid.0))
    }
}

impl IntervalSampler {
    fn quantile_in(&self, values: &Bound<'_, PyAny>, level: f64, range: Answers<'_>) -> PyResult<f64> {
        let draw = |view: View<'_>, entropy: &mut _| {
            quantile::draw(view, level, range, &self.scale, Route::Automatic, entropy)
        };
        draw_from(values, &[level], draw)
    }
}

/// Quantiles at strictly increasing `levels`, `epsilon` for each depth of halving, on [lower, upper] or on the grid.
#[pyfunction(name = "quantiles")]
#[pyo3(signature = (values, levels, epsilon, lower, upper, grid=None, /))]
pub fn draw_quantiles(
    values: &Bound<'_, PyAny>,
    levels: Vec<f64>,
    epsilon: f64,
    lower: f64,
    upper: f64,
    grid: Option<&Grid>,
) -> PyResult<Vec<f64>> {
    let range = range_of(values.py(), lower, upper, grid)?;
    draw_from(values, &levels, |view, entropy| quantiles_by_halving::draw(&view, &levels, range, epsilon, entropy))
}

/// Quantiles at strictly increasing `levels` by one draw, on [lower, upper] or on the grid; `sensitivity` is that of
/// how many values are in another group than they should be.
#[pyfunction]
#[pyo3(signature = (values, levels, epsilon, sensitivity, lower, upper, grid=None, /))]
pub fn joint_quantiles(
    values: &Bound<'_, PyAny>,
    levels: Vec<f64>,
    epsilon: f64,
    sensitivity: f64,
    lower: f64,
    upper: f64,
    grid: Option<&Grid>,
) -> PyResult<Vec<f64>> {
    let range = range_of(values.py(), lower, upper, grid)?;
    // A value in a wrong group is one too many there and one missing in another.
    let scale = run(values.py(), 0, || Scale::new(epsilon, sensitivity, 4))?;
    draw_from(values, &levels, |view, entropy| joint::draw(&view, &levels, range, &scale, entropy))
}

fn range_of<'a>(py: Python<'_>, lower: f64, upper: f64, grid: Option<&'a Grid>) -> PyResult<Answers<'a>> {
    if !(lower < upper && lower.is_finite() && upper.is_finite()) {
        return Err(invalid_parameter(py, "bounds", "<out of range>", "two finite numbers, lower < upper"));
    }
    Ok(grid.map_or(Answers::Interval { lower, upper }, |grid| Answers::Grid(&grid.0)))
}

/// What `draw` makes of all values.
fn draw_from<R: Send>(
    values: &Bound<'_, PyAny>,
    levels: &[f64],
    draw: impl FnOnce(View<'_>, &mut Entropy) -> Result<R, SelectError> + Send,
) -> PyResult<R> {
    let are_levels = levels.iter().all(|level| (0.0..=1.0).contains(level)) && levels.is_sorted_by(|a, b| a < b);
    if !are_levels || levels.is_empty() {
        let expected = "increasing numbers from 0 to 1, at least one";
        return Err(invalid_parameter(values.py(), "levels", "<out of range>", expected));
    }
    let memory = Memory::of(values)?;
    let view = memory.view();
    run(values.py(), memory.bytes(), || with_entropy(|entropy| draw(view, entropy)))
}
