//! Exact rational numbers, shortened by powers of two only: no sum waits for a common divisor, and those of doubles stay as
//! short as the longest of them.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

use dashu_int::ops::{BitTest, DivEuclid};
use dashu_int::{IBig, UBig};

use crate::exact::rounding::{nearest, nearest_quotient, parts};

/// `numerator / denominator`.
#[derive(Clone, Debug)]
pub struct Rational {
    pub numerator: IBig,
    /// Never zero.
    pub denominator: UBig,
}

impl Rational {
    pub const ZERO: Self = Self { numerator: IBig::ZERO, denominator: UBig::ONE };
    pub const ONE: Self = Self { numerator: IBig::ONE, denominator: UBig::ONE };

    /// The denominator must not be zero.
    pub fn new(numerator: impl Into<IBig>, denominator: impl Into<UBig>) -> Self {
        let (numerator, denominator) = (numerator.into(), denominator.into());
        let shared = match (numerator.trailing_zeros(), denominator.trailing_zeros()) {
            (Some(above), Some(below)) => above.min(below),
            (None, Some(_)) => return Self::ZERO,
            (_, None) => unreachable!("a quotient by zero"),
        };
        Self { numerator: numerator >> shared, denominator: denominator >> shared }
    }

    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// The numerator without its sign.
    pub fn magnitude(&self) -> UBig {
        self.numerator.clone().into_parts().1
    }

    /// The number without its sign.
    pub fn abs(self) -> Self {
        Self { numerator: self.numerator.into_parts().1.into(), denominator: self.denominator }
    }

    /// The largest whole number that is not above.
    pub fn floor(&self) -> IBig {
        (&self.numerator).div_euclid(self.denominator.as_ibig())
    }
}

/// A whole number.
impl<T: Into<IBig>> From<T> for Rational {
    fn from(number: T) -> Self {
        Self { numerator: number.into(), denominator: UBig::ONE }
    }
}

/// A finite double itself.
pub fn exactly(value: f64) -> Rational {
    let (integer, exponent) = parts(value);
    scaled(integer, exponent)
}

/// `integer * 2^exponent`.
pub fn scaled(integer: impl Into<IBig>, exponent: i64) -> Rational {
    let shift = exponent.unsigned_abs() as usize;
    if exponent >= 0 { (integer.into() << shift).into() } else { Rational::new(integer, UBig::ONE << shift) }
}

/// The nearest double.
pub fn nearest_f64(number: &Rational) -> f64 {
    nearest_of(&number.numerator, &number.denominator)
}

/// The double nearest to `numerator / denominator`; without a division by a power of two.
pub fn nearest_of(numerator: &IBig, denominator: &UBig) -> f64 {
    match denominator.trailing_zeros() {
        Some(zeros) if zeros + 1 == denominator.bit_len() => nearest(numerator, -(zeros as i64)),
        _ => nearest_quotient(numerator, denominator),
    }
}

/// An operator by what it makes of two references.
macro_rules! operator {
    ($name:ident, $method:ident, $result:expr) => {
        impl<T: Borrow<Rational>> $name<T> for &Rational {
            type Output = Rational;
            fn $method(self, other: T) -> Rational {
                let result: fn(&Rational, &Rational) -> Rational = $result;
                result(self, other.borrow())
            }
        }

        impl<T: Borrow<Rational>> $name<T> for Rational {
            type Output = Rational;
            fn $method(self, other: T) -> Rational {
                (&self).$method(other)
            }
        }
    };
}

operator!(Add, add, |a, b| Rational::new(
    &a.numerator * &b.denominator + &b.numerator * &a.denominator,
    &a.denominator * &b.denominator,
));
operator!(Sub, sub, |a, b| Rational::new(
    &a.numerator * &b.denominator - &b.numerator * &a.denominator,
    &a.denominator * &b.denominator,
));
operator!(Mul, mul, |a, b| Rational::new(&a.numerator * &b.numerator, &a.denominator * &b.denominator));
operator!(Div, div, |a, b| {
    let numerator = &a.numerator * &b.denominator * b.numerator.sign();
    Rational::new(numerator, &a.denominator * b.magnitude())
});

impl Neg for Rational {
    type Output = Self;
    fn neg(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rational {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rational {}

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
        assert_eq!(small.abs(), -exactly(-3e-300));
        // Sums of doubles stay as short as the longest of them.
        let many = (0..1000).fold(exactly(0.0), |sum, _| sum + exactly(0.1));
        assert!(many.denominator.bit_len() < 60);
    }

    #[test]
    fn small_fractions_are_those_of_school() {
        let all = || (-7..=7).flat_map(|numerator| (1..=6_i32).map(move |denominator| (numerator, denominator)));
        let rational = |numerator: i32, denominator: i32| {
            Rational::new(numerator * denominator.signum(), denominator.unsigned_abs())
        };
        for ((a, b), (c, d)) in all().flat_map(|one| all().map(move |other| (one, other))) {
            let (left, right) = (rational(a, b), rational(c, d));
            assert_eq!(&left + &right, rational(a * d + c * b, b * d));
            assert_eq!(&left - &right, rational(a * d - c * b, b * d));
            assert_eq!(&left * &right, rational(a * c, b * d));
            if c != 0 {
                assert_eq!(&left / &right, rational(a * d, b * c));
            }
            assert_eq!(left.cmp(&right), (a * d).cmp(&(c * b)));
            assert_eq!((left.floor(), left.is_zero()), (a.div_euclid(b).into(), a == 0));
        }
    }
}
