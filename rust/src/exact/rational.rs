//! Exact rational numbers: dashu's, shortened by powers of two only, so that no sum waits for a common divisor.

use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};
pub use dashu_ratio::Relaxed as Rational;

use crate::exact::rounding::{nearest, nearest_quotient, parts};

/// A finite double itself.
pub fn exactly(value: f64) -> Rational {
    let (integer, exponent) = parts(value);
    scaled(integer, exponent)
}

/// `integer * 2^exponent`.
pub fn scaled(integer: IBig, exponent: i64) -> Rational {
    let shift = exponent.unsigned_abs() as usize;
    if exponent >= 0 { (integer << shift).into() } else { Rational::from_parts(integer, UBig::ONE << shift) }
}

/// The nearest double.
pub fn nearest_f64(number: &Rational) -> f64 {
    nearest_of(number.numerator(), number.denominator())
}

/// The double nearest to `numerator / denominator`; without a division by a power of two.
pub fn nearest_of(numerator: &IBig, denominator: &UBig) -> f64 {
    match denominator.trailing_zeros() {
        Some(zeros) if zeros + 1 == denominator.bit_len() => nearest(numerator, -(zeros as i64)),
        _ => nearest_quotient(numerator, denominator),
    }
}

/// A rational number that is not negative, in two parts that anybody may look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ratio {
    pub numerator: UBig,
    /// Never zero.
    pub denominator: UBig,
}

/// The number without its sign.
impl From<Rational> for Ratio {
    fn from(number: Rational) -> Self {
        let (numerator, denominator) = number.into_parts();
        Self { numerator: numerator.into_parts().1, denominator }
    }
}

impl From<Ratio> for Rational {
    fn from(ratio: Ratio) -> Self {
        Self::from_parts(ratio.numerator.into(), ratio.denominator)
    }
}

impl Ratio {
    /// The exact value of a finite, non-negative double.
    pub fn from_f64(value: f64) -> Self {
        debug_assert!(value.is_finite() && value >= 0.0);
        let (integer, exponent) = parts(value);
        Self::scaled(integer.into_parts().1, exponent)
    }

    /// `mantissa * 2^exponent`.
    pub fn scaled(mantissa: UBig, exponent: i64) -> Self {
        let shift = exponent.unsigned_abs() as usize;
        if exponent >= 0 {
            Self { numerator: mantissa << shift, denominator: UBig::ONE }
        } else {
            Self { numerator: mantissa, denominator: UBig::ONE << shift }
        }
    }

    pub fn times(&self, other: &Self) -> Self {
        Self { numerator: &self.numerator * &other.numerator, denominator: &self.denominator * &other.denominator }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_of_doubles_have_no_error() {
        let [large, one, small] = [1e300, 1.0, -3e-300].map(exactly);
        let sum = &large + &one + &small - &large;
        assert_eq!(nearest_f64(&(sum - one)), -3e-300);
        assert_eq!(nearest_f64(&(&large * exactly(-1.5))), -1.5e300);
        assert_eq!(nearest_f64(&(exactly(1.0) / exactly(-3.0))), -1.0 / 3.0);
        assert_eq!(Ratio::from(small), Ratio::from(exactly(3e-300)));
        // Sums of doubles stay as short as the longest of them.
        let many = (0..1000).fold(exactly(0.0), |sum, _| sum + exactly(0.1));
        assert!(many.denominator().bit_len() < 60);
    }

    #[test]
    fn doubles_come_back_as_themselves() {
        for value in [1.0, 0.1, 5e-324, f64::MAX, 2.2e-308, 0.0, -0.75] {
            assert_eq!(nearest_f64(&exactly(value)), value);
            assert_eq!(Rational::from(Ratio::from_f64(value.abs())), exactly(value.abs()));
        }
    }
}
