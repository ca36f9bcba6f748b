//! Weights of paths: positive numbers of any size, as doubles with a power of 2^256 of their own. Two of about the same
//! size are added and multiplied as doubles are.

use crate::exact::coin::power_of_two;
use crate::exact::extended_float::Extended;

/// `value * 2^(256 * scale)` with `value` in [2^-128, 2^128), or zero; ordered as the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Weight {
    scale: i64,
    value: f64,
}

const STEP: i64 = 256;
const LEAST: f64 = constant(-STEP / 2);
const BEYOND: f64 = constant(STEP / 2);
const UP: f64 = constant(STEP);
const DOWN: f64 = constant(-STEP);

const fn constant(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

impl Weight {
    /// So far below all others that a sum with it is the other number.
    pub const ZERO: Self = Self { scale: i64::MIN / 4, value: 0.0 };

    #[inline(always)]
    fn new(value: f64, scale: i64) -> Self {
        if (LEAST..BEYOND).contains(&value) {
            Self { scale, value }
        } else if value >= BEYOND {
            Self { scale: scale + 1, value: value * DOWN }
        } else if value == 0.0 {
            Self::ZERO
        } else {
            Self { scale: scale - 1, value: value * UP }
        }
    }

    /// A finite, non-negative double.
    pub fn of(value: f64) -> Self {
        Self::from(Extended::from_f64(value))
    }

    pub fn is_zero(self) -> bool {
        self.value == 0.0
    }

    /// The sum, with relative error at most 2^-53 (the smaller one is left out if it is below 2^-256 of the larger).
    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        if self.scale == other.scale {
            return Self::new(self.value + other.value, self.scale);
        }
        let (large, small) = if self.scale > other.scale { (self, other) } else { (other, self) };
        let part = if large.scale - small.scale == 1 { small.value * DOWN } else { 0.0 };
        Self::new(large.value + part, large.scale)
    }

    /// The product, with relative error at most 2^-53.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        Self::new(self.value * other.value, self.scale + other.scale)
    }

    /// `self / top`, where that is not above 1; with relative error at most 2^-52, or 0 if it is below 2^-512.
    #[inline(always)]
    pub fn relative_to(self, top: Self) -> f64 {
        match top.scale - self.scale {
            0 => self.value / top.value,
            1 => self.value / top.value * DOWN,
            2 => self.value / top.value * DOWN * DOWN,
            _ => 0.0,
        }
    }

    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    /// `self * 2^exponent`, for exponents from -256 to 256.
    #[inline(always)]
    pub fn times_power(self, exponent: i32) -> Self {
        Self::new(self.value * power_of_two(exponent), self.scale)
    }

    /// `self * 2^exponent` as a double, infinite or 0 where it cannot hold it.
    pub fn times_power_of_two(self, exponent: i64) -> f64 {
        Extended::from(self).times_power_of_two(exponent)
    }
}

impl From<Extended> for Weight {
    fn from(wide: Extended) -> Self {
        if wide.is_zero() {
            return Self::ZERO;
        }
        let scale = (wide.exponent + STEP / 2 - 1).div_euclid(STEP);
        Self { scale, value: wide.fraction * power_of_two((wide.exponent - scale * STEP) as i32) }
    }
}

impl From<Weight> for Extended {
    fn from(weight: Weight) -> Self {
        if weight.is_zero() { Self::ZERO } else { Self::from_f64(weight.value).scaled(weight.scale * STEP) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_are_those_of_extended_floats() {
        let exponents =
            [-3000, -513, -512, -300, -257, -256, -129, -128, -127, -1, 0, 1, 127, 128, 129, 256, 400, 3000];
        let number = |exponent: i64, fraction: f64| Extended { fraction, exponent };
        let numbers: Vec<Extended> =
            exponents.iter().flat_map(|&e| [0.5, 0.7, 1.0 - f64::EPSILON].map(|f| number(e, f))).collect();
        for &left in numbers.iter().chain(&[Extended::ZERO]) {
            assert_eq!(Extended::from(Weight::from(left)), left);
            for &right in numbers.iter().chain(&[Extended::ZERO]) {
                let (a, b) = (Weight::from(left), Weight::from(right));
                assert_eq!(Extended::from(a.times(b)), left.times(right));
                let (sum, expected) = (Extended::from(a.plus(b)), left.plus(right));
                assert!(sum == expected || (sum.quotient(expected) - 1.0).abs() < 1e-15, "{left:?} {right:?}");
                assert_eq!(a < b, left.is_below(right));
                if a <= b && !b.is_zero() {
                    let (ratio, expected) = (a.relative_to(b), left.quotient(right));
                    assert!((ratio - expected).abs() <= expected * 1e-15 + 1e-154, "{left:?} {right:?}");
                }
            }
        }
        assert_eq!(Weight::ZERO.times(Weight::ZERO), Weight::ZERO);
    }
}
