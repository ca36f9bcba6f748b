//! Positive numbers beyond the range of doubles: a double's fraction with an exponent of its own.
//!
//! Lengths from 1e-324 to 1e308 are multiplied with exponentials as small as they like; what comes out has a known
//! relative error and never overflows or vanishes. Account of the errors: `proofs/exact_sampling.md`, "Pieces".

use dashu_int::ops::BitTest;

use crate::exact::coin::{exp_negative_f64, power_of_two};
use crate::exact::rational::{Rational, scaled};
use crate::exact::rounding::nearest_quotient;

/// `fraction * 2^exponent` with `fraction` in [1/2, 1), or zero; ordered as the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Extended {
    pub exponent: i64,
    pub fraction: f64,
}

/// Beyond it an exponent only makes an upper bound, 2^(-2^30), of exp(-x).
pub const LARGEST_EXPONENT: f64 = 1_073_741_824.0;

impl Extended {
    /// So far below all others that a sum with it is the other number.
    pub const ZERO: Self = Self { exponent: i64::MIN / 4, fraction: 0.0 };

    /// Exactly a finite, non-negative double.
    #[inline]
    pub fn from_f64(value: f64) -> Self {
        if value.is_normal() && value > 0.0 {
            let bits = value.to_bits();
            let fraction = f64::from_bits(bits & ((1 << 52) - 1) | 1022 << 52);
            return Self { fraction, exponent: (bits >> 52) as i64 - 1022 };
        }
        let (fraction, exponent) = libm::frexp(value);
        if fraction == 0.0 { Self::ZERO } else { Self { fraction, exponent: i64::from(exponent) } }
    }

    /// `value` with relative error at most 2^-53.
    pub fn from_count(value: u64) -> Self {
        Self::from_f64(value as f64)
    }

    /// `high - low >= 0` of finite doubles, with relative error at most 2^-53 and zero only if they are equal.
    pub fn from_gap(low: f64, high: f64) -> Self {
        let gap = high - low;
        if gap < f64::INFINITY {
            return Self::from_f64(gap);
        }
        // The difference is beyond 2^1023 here, so what halving rounds off is far below its last place.
        let half = Self::from_f64(high / 2.0 - low / 2.0);
        Self { exponent: half.exponent + 1, ..half }
    }

    /// The nearest such number to one that is not negative: relative error at most 2^-53.
    pub fn from_rational(number: &Rational) -> Self {
        let Rational { numerator, denominator } = number;
        let shift = numerator.bit_len() as i64 - denominator.bit_len() as i64;
        let (above, below) = ((-shift).max(0) as usize, shift.max(0) as usize);
        let fraction = Self::from_f64(nearest_quotient(&(numerator << above), &(denominator << below)));
        if fraction.is_zero() { fraction } else { Self { exponent: fraction.exponent + shift, ..fraction } }
    }

    pub fn is_zero(self) -> bool {
        self.fraction == 0.0
    }

    /// `self * exp(-x)` for x >= 0: within a relative (1 + x) 2^-49 of it for an x that is exact, up to
    /// [`LARGEST_EXPONENT`]; an upper bound beyond.
    pub fn times_exp_negative(self, x: f64) -> Self {
        // ln 2 in two parts, the first with 32 zeros at its end: k times it is exact for k < 2^31.
        const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_0000_0000);
        const LN_2_LOW: f64 = std::f64::consts::LN_2 - LN_2_HIGH;
        if x > LARGEST_EXPONENT {
            return Self { fraction: 0.5, exponent: self.exponent - (1 << 30) };
        }
        let octaves = (x * std::f64::consts::LOG2_E).floor();
        let rest = ((x - octaves * LN_2_HIGH) - octaves * LN_2_LOW).max(0.0);
        let (fraction, exponent) = libm::frexp(self.fraction * exp_negative_f64(rest));
        Self { fraction, exponent: self.exponent + i64::from(exponent) - octaves as i64 }
    }

    /// The sum, with relative error at most 2^-53 (the smaller one is left out if it is below 2^-63 of the larger).
    #[inline]
    pub fn plus(self, other: Self) -> Self {
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let apart = large.exponent - small.exponent;
        if apart > 64 {
            return large;
        }
        let sum = large.fraction + small.fraction * power_of_two(-(apart as i32));
        let (less, more) = if sum >= 1.0 { (0.5, 1) } else { (1.0, 0) };
        Self { exponent: large.exponent + more, fraction: sum * less }
    }

    /// The product, with relative error at most 2^-53.
    #[inline]
    pub fn times(self, other: Self) -> Self {
        let fraction = self.fraction * other.fraction;
        if fraction == 0.0 {
            return Self::ZERO;
        }
        // Without a branch, which no processor could predict.
        let (more, less) = if fraction < 0.5 { (2.0, 1) } else { (1.0, 0) };
        Self { exponent: self.exponent + other.exponent - less, fraction: fraction * more }
    }

    /// The quotient by what is not zero, with relative error at most 2^-53.
    #[inline]
    pub fn over(self, other: Self) -> Self {
        let fraction = self.fraction / other.fraction;
        let exponent = self.exponent - other.exponent;
        if fraction >= 1.0 {
            Self { fraction: fraction / 2.0, exponent: exponent + 1 }
        } else if fraction == 0.0 {
            Self::ZERO
        } else {
            Self { exponent, fraction }
        }
    }

    #[inline]
    pub fn max(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    /// `self / other` as a double, infinite or zero where it cannot hold it; `other` must not be zero.
    #[inline]
    pub fn quotient(self, other: Self) -> f64 {
        self.over(other).times_power_of_two(0)
    }

    /// `self * 2^exponent`.
    #[inline]
    pub fn scaled(self, exponent: i64) -> Self {
        if self.is_zero() { self } else { Self { exponent: self.exponent + exponent, ..self } }
    }

    /// The natural logarithm, roughly.
    pub fn ln(self) -> f64 {
        libm::log(self.fraction) + self.exponent as f64 * std::f64::consts::LN_2
    }

    /// The number itself.
    pub fn exactly(self) -> Rational {
        if self.is_zero() {
            return Rational::ZERO;
        }
        scaled((self.fraction * power_of_two(53)) as u64, self.exponent - 53)
    }

    /// `self * 2^exponent` as a double: infinite if too large, rounded towards zero if too small.
    #[inline]
    pub fn times_power_of_two(self, exponent: i64) -> f64 {
        let exponent = self.exponent + exponent;
        if (-1000..1000).contains(&exponent) {
            return self.fraction * power_of_two(exponent as i32);
        }
        libm::scalbn(self.fraction, exponent.clamp(-5000, 5000) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::exp_enclosure::exp_negative;
    use crate::exact::rational::exactly;

    #[test]
    fn lengths_keep_their_size_at_both_ends_of_the_doubles() {
        let widest = Extended::from_gap(-f64::MAX, f64::MAX);
        assert_eq!((widest.fraction, widest.exponent), (1.0 - 2_f64.powi(-53), 1025));
        let narrowest = Extended::from_gap(0.0, 5e-324);
        assert_eq!((narrowest.fraction, narrowest.exponent), (0.5, -1073));
        assert!(Extended::from_gap(1e300, 1e300).is_zero());
        assert_eq!(Extended::from_gap(1.0, 4.0).times_power_of_two(0), 3.0);
    }

    #[test]
    fn sums_products_and_quotients_are_those_of_doubles() {
        let numbers = [0.0, 1.0, 3.0, 0.1, 1e-300, 1e300, 2.0 / 3.0, 5e-324];
        for (&a, &b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (a, b))) {
            let (left, right) = (Extended::from_f64(a), Extended::from_f64(b));
            assert!((left.plus(right).times_power_of_two(0) - (a + b)).abs() <= (a + b) * f64::EPSILON);
            assert_eq!(left < right, a < b);
            let product = left.times(right);
            if (a * b).is_normal() || a == 0.0 || b == 0.0 {
                assert_eq!(product.times_power_of_two(0), a * b);
            }
            if b > 0.0 && (a / b).is_normal() {
                assert_eq!(left.over(right).times_power_of_two(0), a / b);
            }
            for result in [left.plus(right), product] {
                assert!(result.is_zero() || (0.5..1.0).contains(&result.fraction));
            }
        }
        // Beyond the doubles in both directions.
        let huge = Extended::from_f64(1e300).times(Extended::from_f64(1e300));
        assert_eq!(huge.over(Extended::from_f64(1e300)).times_power_of_two(0), 1e300);
        assert_eq!(Extended::from_f64(0.75).exactly(), Rational::new(3, 4_u8));
        assert_eq!(Extended::ZERO.exactly(), Rational::ZERO);
    }

    #[test]
    fn sums_and_products_keep_what_doubles_would_lose() {
        let (tiny, huge) = (Extended::from_f64(1e-300), Extended::from_f64(1e300));
        let product = tiny.times(tiny).times(huge).times(huge).times_power_of_two(0);
        assert!((product - 1.0).abs() < 1e-15);
        let square = tiny.times(tiny);
        assert!((square.plus(square).ln() - (2.0 * 1e-300_f64.ln() + 2_f64.ln())).abs() < 1e-9);
        assert_eq!(huge.plus(tiny), huge);
        assert_eq!((Extended::ZERO.plus(tiny), tiny.plus(Extended::ZERO)), (tiny, tiny));
        assert!(Extended::ZERO < square && square < tiny && tiny.max(square) == tiny);
        let far = [(square, tiny), (tiny, square)].map(|(above, below)| above.times(square).quotient(below));
        assert_eq!((far[0], Extended::ZERO.times(Extended::ZERO)), (0.0, Extended::ZERO));
        assert!((far[1] - 1e-300).abs() < 1e-314 && huge.quotient(tiny).is_infinite());
        assert_eq!(Extended::from_f64(3.0).plus(Extended::from_f64(0.125)).times_power_of_two(0), 3.125);
        assert_eq!(tiny.exactly(), exactly(1e-300));
    }

    #[test]
    fn exponentials_are_as_good_as_claimed_and_never_vanish() {
        let mut worst: f64 = 0.0;
        for step in 0..120_u32 {
            let x = f64::from(step) * f64::from(step) * 0.13;
            let precision = 4000;
            let truth = exp_negative(&exactly(x), precision).low;
            let shift = truth.bit_len() - 64;
            let head: u64 = (truth >> shift).try_into().unwrap();
            let computed = Extended::from_f64(1.0).times_exp_negative(x);
            let ratio = computed.times_power_of_two(precision as i64 - shift as i64) / head as f64;
            worst = worst.max((ratio - 1.0).abs() / (1.0 + x));
        }
        assert!(worst < 2_f64.powi(-49), "{worst:e}");
        let far = Extended::from_f64(1.0).times_exp_negative(1e18);
        assert!(!far.is_zero() && far.exponent == 1 - (1 << 30));
    }
}
