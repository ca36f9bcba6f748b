//! Exact numbers of either sign: binary ones, closed under sums and products, and quotients.

use dashu_int::{IBig, Sign, UBig};

use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::rounding::parts;

/// `integer * 2^exponent`.
#[derive(Clone, Debug)]
pub struct Dyadic {
    integer: IBig,
    exponent: i64,
}

impl Dyadic {
    #[must_use]
    pub fn new(integer: IBig, exponent: i64) -> Self {
        Self { integer, exponent }
    }

    /// A finite double.
    #[must_use]
    pub fn from_f64(value: f64) -> Self {
        let (integer, exponent) = parts(value);
        // As short as it can be: what is computed from it stays short, too.
        match integer.trailing_zeros() {
            Some(zeros) => Self { integer: integer >> zeros, exponent: exponent + zeros as i64 },
            None => Self { integer, exponent: 0 },
        }
    }

    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let at = |number: &Self| &number.integer << (number.exponent - exponent) as usize;
        Self { integer: at(self) + at(other), exponent }
    }

    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&Self { integer: -other.integer.clone(), exponent: other.exponent })
    }

    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        Self { integer: &self.integer * &other.integer, exponent: self.exponent + other.exponent }
    }

    #[must_use]
    pub fn half(&self) -> Self {
        Self { integer: self.integer.clone(), exponent: self.exponent - 1 }
    }

    #[must_use]
    pub fn is_positive(&self) -> bool {
        self.integer > IBig::ZERO
    }

    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.integer < IBig::ZERO
    }

    #[must_use]
    pub fn magnitude(&self) -> Ratio {
        Ratio::scaled(self.integer.clone().into_parts().1, self.exponent)
    }

    #[must_use]
    pub fn exactly(&self) -> Rational {
        let (sign, _) = self.integer.clone().into_parts();
        let Ratio { numerator, denominator } = self.magnitude();
        Rational { numerator: IBig::from_parts(sign, numerator), denominator }
    }
}

/// `numerator / denominator`.
#[derive(Clone, Debug)]
pub struct Rational {
    pub numerator: IBig,
    /// Never zero.
    pub denominator: UBig,
}

impl Rational {
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        if self.denominator == other.denominator {
            return Self { numerator: &self.numerator + &other.numerator, denominator: self.denominator.clone() };
        }
        Self {
            numerator: &self.numerator * IBig::from(other.denominator.clone())
                + &other.numerator * IBig::from(self.denominator.clone()),
            denominator: &self.denominator * &other.denominator,
        }
    }

    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&Self { numerator: -other.numerator.clone(), denominator: other.denominator.clone() })
    }

    /// `self + distance`, or `self - distance`.
    #[must_use]
    pub fn moved(&self, distance: &Ratio, is_upward: bool) -> Self {
        let sign = if is_upward { Sign::Positive } else { Sign::Negative };
        let numerator = IBig::from_parts(sign, distance.numerator.clone());
        self.plus(&Self { numerator, denominator: distance.denominator.clone() })
    }

    #[must_use]
    pub fn is_above(&self, other: &Self) -> bool {
        self.minus(other).numerator > IBig::ZERO
    }

    /// `max(self - other, 0)`.
    #[must_use]
    pub fn height_above(&self, other: &Self) -> Ratio {
        let difference = self.minus(other);
        let (sign, magnitude) = difference.numerator.into_parts();
        let numerator = if sign == Sign::Positive { magnitude } else { UBig::ZERO };
        Ratio { numerator, denominator: difference.denominator }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::rounding::nearest_quotient;

    fn rounded(number: &Rational) -> f64 {
        nearest_quotient(&number.numerator, &number.denominator)
    }

    #[test]
    fn binary_numbers_add_and_multiply_without_an_error() {
        let [large, one, small] = [1e300, 1.0, -3e-300].map(Dyadic::from_f64);
        let sum = large.plus(&one).plus(&small).minus(&large);
        assert_eq!(rounded(&sum.minus(&one).exactly()), -3e-300);
        assert!(sum.is_positive() && small.is_negative() && !large.minus(&large).is_positive());
        assert_eq!(rounded(&large.times(&Dyadic::from_f64(-3.0)).half().exactly()), -1.5e300);
        assert_eq!(small.magnitude(), Dyadic::from_f64(3e-300).magnitude());
    }

    #[test]
    fn quotients_are_compared_and_moved_as_real_numbers() {
        let third = Ratio { numerator: UBig::ONE, denominator: UBig::from(3_u8) };
        let zero = Dyadic::from_f64(0.0).exactly();
        let (above, below) = (zero.moved(&third, true), zero.moved(&third, false));
        assert!(above.is_above(&zero) && zero.is_above(&below) && !zero.is_above(&above) && !zero.is_above(&zero));
        assert_eq!(rounded(&below), -1.0 / 3.0);
        assert_eq!(
            above.height_above(&below).numerator * UBig::from(3_u8),
            above.height_above(&below).denominator * UBig::from(2_u8)
        );
        assert_eq!(below.height_above(&above).numerator, UBig::ZERO);
    }
}
