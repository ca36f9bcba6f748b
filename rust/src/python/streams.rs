//! `ThresholdStream` and `LazyFlips`: draws of several calls, with random numbers that stay secret in between.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use super::arrays::Array;
use super::errors::{invalid_parameter, stream_ended};
use super::noise::{Fraction, to_amount, to_rational};
use super::sampler::{indices, run, scale_of};
use crate::entropy::with_entropy;
use crate::select::above_threshold::{Setting, Stream};
use crate::select::lazy_flips;

/// One stream, with its secret offset.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct ThresholdStream(Mutex<Stream>);

/// The lock, under which nothing of Python may be touched: a thread that waits for it may hold the interpreter's.
fn locked<T>(secret: &Mutex<T>) -> MutexGuard<'_, T> {
    secret.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl ThresholdStream {
    #[new]
    fn new(
        py: Python<'_>,
        threshold: Fraction,
        first: f64,
        second: f64,
        sensitivity: f64,
        positives: u64,
    ) -> PyResult<Self> {
        let threshold = to_rational(py, threshold)?;
        let begin = || {
            let terms = Setting::new(threshold, first, second, sensitivity)?;
            with_entropy(|entropy| Ok(Stream::begin(terms, positives, entropy)))
        };
        Ok(Self(Mutex::new(run(py, 0, begin)?)))
    }

    /// Whether a finite double is above.
    #[pyo3(signature = (value, /))]
    fn test(&self, py: Python<'_>, value: f64) -> PyResult<bool> {
        if !value.is_finite() {
            return Err(invalid_parameter(py, "value", "<not finite>", "a finite number"));
        }
        run(py, 0, || with_entropy(|entropy| Ok(locked(&self.0).test(value, entropy))))?
            .map_err(|ended| stream_ended(py, ended))
    }

    #[pyo3(signature = (value, /))]
    fn test_exactly(&self, py: Python<'_>, value: Fraction) -> PyResult<bool> {
        let value = to_rational(py, value)?;
        run(py, 0, || with_entropy(|entropy| Ok(locked(&self.0).test_exactly(&value, entropy))))?
            .map_err(|ended| stream_ended(py, ended))
    }

    /// Forget the offset; nothing is answered from now on.
    fn close(&self) {
        locked(&self.0).close();
    }

    fn is_open(&self) -> bool {
        locked(&self.0).is_open()
    }
}

/// Coins of items that are asked one by one.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct LazyFlips(Mutex<lazy_flips::LazyFlips>);

#[pymethods]
impl LazyFlips {
    #[new]
    fn new(py: Python<'_>, size: usize, epsilon: f64, sensitivity: f64, factor: u8) -> PyResult<Self> {
        let scale = scale_of(py, epsilon, sensitivity, factor)?;
        Ok(Self(Mutex::new(run(py, 0, || lazy_flips::LazyFlips::new(size, scale))?)))
    }

    /// A random order of all items.
    fn order<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let order = run(py, 0, || with_entropy(|entropy| locked(&self.0).order(entropy)))?;
        indices(py, order)
    }

    /// Whether the uniform of `item` is below exp(-gap / b); it is drawn once.
    #[pyo3(signature = (item, gap, /))]
    fn is_head(&self, py: Python<'_>, item: usize, gap: Fraction) -> PyResult<bool> {
        let gap = to_amount(py, "gap", gap)?;
        if item >= locked(&self.0).len() {
            return Err(invalid_parameter(py, "item", "<out of range>", "one of the items"));
        }
        run(py, 0, || with_entropy(|entropy| Ok(locked(&self.0).is_head(item, &gap, entropy))))
    }
}
