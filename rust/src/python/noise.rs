//! `GeometricSampler`, `GaussianSampler`, `Proposals` and `ResponseSampler`: noise on whole numbers, proposals of them, noise on bits.

use dashu_int::{IBig, UBig};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyInt};

use super::arrays::{Array, Number, Numbers, array};
use super::errors::invalid_parameter;
use super::sampler::{run, scale_of};
use crate::entropy::{Entropy, with_entropy};
use crate::error::reserved;
use crate::exact::rational::{Rational, exactly};
use crate::interrupt;
use crate::noise::gaussian::Gaussian;
use crate::noise::geometric::{Geometric, Noise};
use crate::noise::offsets;
use crate::noise::randomized_response::BitFlip;
use crate::scores::scale::Scale;

/// Noisy numbers between two checks for Ctrl-C.
const CHECK_EVERY: usize = 1 << 10;

/// The two-sided geometric law at one scale, and nothing else.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct GeometricSampler(Geometric);

#[pymethods]
impl GeometricSampler {
    #[new]
    fn new(py: Python<'_>, epsilon: f64, sensitivity: f64) -> PyResult<Self> {
        Ok(Self(run(py, 0, || Ok(Geometric::new(Scale::new(epsilon, sensitivity, 1)?)))?))
    }

    /// One draw of noise.
    fn noise<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let noise = run(py, 0, || with_entropy(|entropy| Ok(self.0.draw(entropy))))?;
        let noise = match noise {
            Noise::Small(noise) => IBig::from(noise),
            Noise::Large(noise) => noise,
        };
        to_int(py, &noise)
    }

    /// `values`, each with noise of its own, moved into [lower, upper].
    #[pyo3(signature = (values, lower, upper, /))]
    fn draw_many<'py>(&self, py: Python<'py>, values: Numbers<i64>, lower: i64, upper: i64) -> PyResult<Array<'py>> {
        each_drawn(py, &values.0, |value, entropy| self.0.around(value, lower, upper, entropy))
    }
}

/// The discrete Gaussian law at one variance, and nothing else.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct GaussianSampler(Gaussian);

#[pymethods]
impl GaussianSampler {
    #[new]
    fn new(py: Python<'_>, variance: f64, block: f64) -> PyResult<Self> {
        Ok(Self(run(py, 0, || Gaussian::new(variance, block))?))
    }

    /// `values`, each with noise of its own, moved into the machine's integers.
    #[pyo3(signature = (values, /))]
    fn draw_many<'py>(&self, py: Python<'py>, values: Numbers<i64>) -> PyResult<Array<'py>> {
        each_drawn(py, &values.0, |value, entropy| self.0.around(value, entropy))
    }
}

/// What `draw` makes of each of `values`.
fn each_drawn<'py, T: Number + Copy + Send + Sync>(
    py: Python<'py>,
    values: &[T],
    draw: impl Fn(T, &mut Entropy) -> T + Sync,
) -> PyResult<Array<'py>> {
    let made = run(py, size_of_val(values), || {
        let mut made = reserved(values.len())?;
        with_entropy(|entropy| {
            for (number, &value) in values.iter().enumerate() {
                if number.is_multiple_of(CHECK_EVERY) {
                    interrupt::check()?;
                }
                made.push(draw(value, entropy));
            }
            Ok(made)
        })
    })?;
    array(py, made.len(), &made)
}

/// A Python integer of any size.
pub fn to_int<'py>(py: Python<'py>, number: &IBig) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(small) = i64::try_from(number.clone()) {
        return Ok(small.into_pyobject(py)?.into_any());
    }
    let bytes = PyBytes::new(py, &number.to_le_bytes());
    let signed = [("signed", true)].into_py_dict(py)?;
    py.get_type::<PyInt>().call_method("from_bytes", (bytes, "little"), Some(&signed))
}

/// A coin for each bit, and nothing else.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct ResponseSampler(BitFlip);

#[pymethods]
impl ResponseSampler {
    #[new]
    fn new(py: Python<'_>, epsilon: f64, bits_per_unit: f64) -> PyResult<Self> {
        let turn = || {
            let scale = Scale::new(epsilon, bits_per_unit, 1)?;
            Ok(BitFlip::new(scale.exact_exponent_of_gap(&exactly(1.0))))
        };
        Ok(Self(run(py, 0, turn)?))
    }

    /// `bits`, as numbers 0 and 1, each turned by a coin of its own.
    #[pyo3(signature = (bits, /))]
    fn draw<'py>(&self, py: Python<'py>, bits: Numbers<u8>) -> PyResult<Array<'py>> {
        each_drawn(py, &bits.0, |bit, entropy| bit ^ u8::from(self.0.flip(entropy)))
    }
}

/// Numerator in two's complement and denominator, as little-endian bytes.
pub type Fraction = (Vec<u8>, Vec<u8>);

/// A ceiling at one scale, and nothing else.
#[pyclass(frozen, module = "dpselect._native._core")]
pub struct Proposals {
    scale: Scale,
    offsets: offsets::Offsets,
}

#[pymethods]
impl Proposals {
    /// Each side is how much the ceiling falls a step, and the last step, if there is one.
    #[new]
    #[pyo3(signature = (epsilon, sensitivity, factor, left, right, left_last=None, right_last=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        epsilon: f64,
        sensitivity: f64,
        factor: u8,
        left: Fraction,
        right: Fraction,
        left_last: Option<Vec<u8>>,
        right_last: Option<Vec<u8>>,
    ) -> PyResult<Self> {
        let scale = scale_of(py, epsilon, sensitivity, factor)?;
        let side = |fall: Fraction, last: Option<Vec<u8>>| {
            let fall = scale.exact_exponent_of_gap(&to_amount(py, "fall", fall)?);
            let side = offsets::Side::new(fall, last.map(|last| UBig::from_le_bytes(&last)));
            side.ok_or_else(|| invalid_parameter(py, "fall", "<out of range>", "a number > 0 on an open side"))
        };
        let offsets = offsets::Offsets::new(side(left, left_last)?, side(right, right_last)?);
        Ok(Self { scale, offsets })
    }

    /// An offset from the centre, with probability proportional to `exp(-fall * |offset| / b)`.
    fn draw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let offset = run(py, 0, || with_entropy(|entropy| Ok(self.offsets.draw(entropy))))?;
        to_int(py, &offset)
    }

    /// True with probability `exp(-gap / b)`.
    #[pyo3(signature = (gap, /))]
    fn accepts(&self, py: Python<'_>, gap: Fraction) -> PyResult<bool> {
        let x = self.scale.exact_exponent_of_gap(&to_amount(py, "gap", gap)?);
        run(py, 0, || with_entropy(|entropy| Ok(offsets::flip_exactly(&x, entropy))))
    }
}

pub fn to_rational(py: Python<'_>, (numerator, denominator): Fraction) -> PyResult<Rational> {
    let (numerator, denominator) = (IBig::from_le_bytes(&numerator), UBig::from_le_bytes(&denominator));
    if denominator == UBig::ZERO {
        return Err(invalid_parameter(py, "denominator", "0", "a number > 0"));
    }
    Ok(Rational::new(numerator, denominator))
}

/// The same, of a number that is not negative.
pub fn to_amount(py: Python<'_>, name: &str, fraction: Fraction) -> PyResult<Rational> {
    let number = to_rational(py, fraction)?;
    if number < Rational::ZERO {
        return Err(invalid_parameter(py, name, "<negative>", "a number >= 0"));
    }
    Ok(number)
}
