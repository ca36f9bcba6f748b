//! `DensityPlan`: bands around one data set, and samples from them.

use pyo3::prelude::*;

use super::arrays::{Array, Memory, Numbers, array};
use super::sampler::run;
use crate::density::base_measure::{BaseMeasure, Sample};
use crate::density::cumulative_counts::CumulativeCounts;
use crate::density::density_mechanism::Plan;
use crate::entropy::with_entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::intervals::answer_range::Range;
use crate::intervals::rank_window::Window;
use crate::numbers::scale::Scale;

/// Bands around a data set; holds no generator state.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct DensityPlan(Plan);

#[pymethods]
impl DensityPlan {
    /// Samples of size `k` from cells with these counts of the data, of these lengths or all histograms alike.
    #[staticmethod]
    #[pyo3(signature = (counts, lengths, k, epsilon, /))]
    fn of_counts(
        py: Python<'_>,
        counts: Numbers<u64>,
        lengths: Option<Numbers<f64>>,
        k: u64,
        epsilon: f64,
    ) -> PyResult<Self> {
        let (counts, lengths) = (counts.0, lengths.map(|lengths| lengths.0));
        run(py, usize::MAX, || {
            if lengths.as_ref().is_some_and(|lengths| lengths.len() != counts.len()) {
                return Err(SelectError::NotFinite);
            }
            let cumulative = CumulativeCounts::of_counts(&counts, k)?;
            let base = match lengths {
                Some(lengths) => BaseMeasure::cells(lengths, k)?,
                None => BaseMeasure::Histograms,
            };
            plan(cumulative, base, k, epsilon)
        })
    }

    /// Samples of `k` points of [lower, upper], from the values moved into it.
    #[staticmethod]
    #[pyo3(signature = (values, lower, upper, k, epsilon, /))]
    fn of_values(values: &Bound<'_, PyAny>, lower: f64, upper: f64, k: u64, epsilon: f64) -> PyResult<Self> {
        let memory = Memory::of(values)?;
        let view = memory.view();
        run(values.py(), usize::MAX, || {
            if !(lower < upper && lower.is_finite() && upper.is_finite()) {
                return Err(SelectError::NotFinite);
            }
            let (lower, upper) = (lower + 0.0, upper + 0.0);
            let (cumulative, positions) =
                jumps(&Window::of_all(&view, Range::Interval { lower, upper })?, (lower, upper), k)?;
            plan(cumulative, BaseMeasure::line(positions, k)?, k, epsilon)
        })
    }

    /// At least so many of the rounds are accepted.
    #[getter]
    fn acceptance(&self) -> f64 {
        self.0.acceptance()
    }

    /// How many bands there are.
    #[getter]
    fn bands(&self) -> usize {
        self.0.shell_count()
    }

    /// `size` independent samples: how many points of each lie in each cell.
    #[pyo3(signature = (size, /))]
    fn draw_counts<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Array<'py>> {
        let cells = self.0.cumulative().cells();
        let counts = run(py, usize::MAX, || {
            let length = size.checked_mul(cells).ok_or(SelectError::Memory)?;
            let mut counts: Vec<i64> = reserved(length)?;
            counts.resize(length, 0);
            self.draw_all(size, |index, sample| {
                for &cell in &sample.cells {
                    counts[index * cells + cell] += 1;
                }
            })?;
            Ok(counts)
        })?;
        array(py, (size, cells), &counts)
    }

    /// `size` independent samples: the points of each, in increasing order (of a plan for values).
    #[pyo3(signature = (size, /))]
    fn draw_points<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Array<'py>> {
        let k = self.0.cumulative().sample_size() as usize;
        let points = run(py, usize::MAX, || {
            let length = size.checked_mul(k).ok_or(SelectError::Memory)?;
            let mut points: Vec<f64> = reserved(length)?;
            self.draw_all(size, |_, sample| points.extend_from_slice(&sample.points))?;
            Ok(points)
        })?;
        let columns = points.len().checked_div(size).unwrap_or(k);
        array(py, (size, columns), &points)
    }
}

impl DensityPlan {
    fn draw_all(&self, size: usize, mut take: impl FnMut(usize, &Sample)) -> Result<(), SelectError> {
        let mut sample = Sample::new(self.0.cumulative().sample_size() as usize)?;
        with_entropy(|entropy| {
            for index in 0..size {
                self.0.draw(&mut sample, entropy)?;
                take(index, &sample);
            }
            Ok(())
        })
    }
}

fn plan(cumulative: CumulativeCounts, base: BaseMeasure, k: u64, epsilon: f64) -> Result<DensityPlan, SelectError> {
    // Replacing one value moves the distance by at most k.
    let scale = Scale::new(epsilon, k as f64, 2)?;
    Ok(DensityPlan(Plan::new(cumulative, base, scale)?))
}

/// Where the cumulative counts of the values jump: at the bounds, whatever lies there, and at every value between.
fn jumps(window: &Window, bounds: (f64, f64), k: u64) -> Result<(CumulativeCounts, Vec<f64>), SelectError> {
    let places = window.values.len() + 2;
    let mut positions: Vec<f64> = reserved(places)?;
    let (mut before, mut through): (Vec<u64>, Vec<u64>) = (reserved(places)?, reserved(places)?);
    let mut sum = 0;
    let mut jump = |position: f64, up_to: u64| {
        positions.push(position);
        before.push(sum);
        through.push(up_to);
        sum = up_to;
    };
    if window.values.first() != Some(&bounds.0) {
        jump(bounds.0, 0);
    }
    for (&value, &up_to) in window.values.iter().zip(&window.up_to) {
        jump(value, up_to);
    }
    if window.values.last() != Some(&bounds.1) {
        jump(bounds.1, window.total);
    }
    Ok((CumulativeCounts::new(before, through, k)?, positions))
}
