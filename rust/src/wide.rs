//! Positive numbers beyond the range of doubles: a double's fraction with an exponent of its own.
//!
//! Lengths from 1e-324 to 1e308 are multiplied with exponentials as small as they like; what comes out has a known
//! relative error and never overflows or vanishes. Account of the errors: `proofs/exact_sampling.md`, "Pieces".

use dashu_int::UBig;

use crate::coin::{exp_negative_f64, power_of_two};
use crate::interval::Ratio;

/// `fraction * 2^exponent` with `fraction` in [1/2, 1), or zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wide {
    pub fraction: f64,
    pub exponent: i64,
}

/// Beyond it an exponent only makes an upper bound, 2^(-2^30), of exp(-x).
pub const LARGEST_EXPONENT: f64 = 1_073_741_824.0;

impl Wide {
    pub const ZERO: Self = Self { fraction: 0.0, exponent: 0 };

    /// Exactly a finite, non-negative double.
    #[must_use]
    pub fn from_f64(value: f64) -> Self {
        let (fraction, exponent) = libm::frexp(value);
        Self { fraction, exponent: i64::from(exponent) }
    }

    /// `value` with relative error at most 2^-53.
    #[must_use]
    pub fn from_count(value: u64) -> Self {
        Self::from_f64(value as f64)
    }

    /// `high - low >= 0` of finite doubles, with relative error at most 2^-53 and zero only if they are equal.
    #[must_use]
    pub fn from_gap(low: f64, high: f64) -> Self {
        let gap = high - low;
        if gap < f64::INFINITY {
            return Self::from_f64(gap);
        }
        // The difference is beyond 2^1023 here, so what halving rounds off is far below its last place.
        let half = Self::from_f64(high / 2.0 - low / 2.0);
        Self { exponent: half.exponent + 1, ..half }
    }

    #[must_use]
    pub fn is_zero(self) -> bool {
        self.fraction == 0.0
    }

    /// `self * exp(-x)` for x >= 0: within a relative (1 + x) 2^-49 of it for an x that is exact, up to
    /// [`LARGEST_EXPONENT`]; an upper bound beyond.
    #[must_use]
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

    fn normalised(fraction: f64, exponent: i64) -> Self {
        let (fraction, shift) = libm::frexp(fraction);
        Self { fraction, exponent: exponent + i64::from(shift) }
    }

    /// With relative error at most 2^-53.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self::normalised(self.fraction * other.fraction, self.exponent + other.exponent)
    }

    /// `self / other` as a double, infinite or zero where it cannot hold it; `other` must not be zero.
    #[must_use]
    pub fn over(self, other: Self) -> f64 {
        libm::scalbn(self.fraction / other.fraction, (self.exponent - other.exponent).clamp(-5000, 5000) as i32)
    }

    /// With relative error at most 2^-52.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return if self.is_zero() { other } else { self };
        }
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = (small.exponent - large.exponent).max(-1000);
        Self::normalised(large.fraction + small.fraction * power_of_two(shift as i32), large.exponent)
    }

    /// The natural logarithm, roughly.
    #[must_use]
    pub fn ln(self) -> f64 {
        libm::log(self.fraction) + self.exponent as f64 * std::f64::consts::LN_2
    }

    /// Exactly.
    #[must_use]
    pub fn exact(self) -> Ratio {
        let fraction = Ratio::from_f64(self.fraction);
        fraction.times(&Ratio::scaled(UBig::ONE, self.exponent))
    }

    /// `self * 2^exponent` as a double: infinite if too large, rounded towards zero if too small.
    #[must_use]
    pub fn times_power_of_two(self, exponent: i64) -> f64 {
        libm::scalbn(self.fraction, (self.exponent + exponent).clamp(-5000, 5000) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::exp_negative;
    use dashu_int::ops::BitTest;

    #[test]
    fn lengths_keep_their_size_at_both_ends_of_the_doubles() {
        let widest = Wide::from_gap(-f64::MAX, f64::MAX);
        assert_eq!((widest.fraction, widest.exponent), (1.0 - 2_f64.powi(-53), 1025));
        let narrowest = Wide::from_gap(0.0, 5e-324);
        assert_eq!((narrowest.fraction, narrowest.exponent), (0.5, -1073));
        assert!(Wide::from_gap(1e300, 1e300).is_zero());
        assert_eq!(Wide::from_gap(1.0, 4.0).times_power_of_two(0), 3.0);
    }

    #[test]
    fn sums_and_products_keep_what_doubles_would_lose() {
        let (tiny, huge) = (Wide::from_f64(1e-300), Wide::from_f64(1e300));
        let product = tiny.times(tiny).times(huge).times(huge).times_power_of_two(0);
        assert!((product - 1.0).abs() < 1e-15);
        let square = tiny.times(tiny);
        assert!((square.plus(square).ln() - (2.0 * 1e-300_f64.ln() + 2_f64.ln())).abs() < 1e-9);
        assert_eq!(huge.plus(tiny), huge);
        assert_eq!((Wide::ZERO.plus(tiny), tiny.plus(Wide::ZERO)), (tiny, tiny));
        assert_eq!(Wide::from_f64(3.0).plus(Wide::from_f64(0.125)).times_power_of_two(0), 3.125);
        let exact = tiny.exact();
        assert_eq!(
            exact.numerator * Ratio::from_f64(1e-300).denominator,
            exact.denominator * Ratio::from_f64(1e-300).numerator
        );
    }

    #[test]
    fn exponentials_are_as_good_as_claimed_and_never_vanish() {
        let mut worst: f64 = 0.0;
        for step in 0..120_u32 {
            let x = f64::from(step) * f64::from(step) * 0.13;
            let precision = 4000;
            let truth = exp_negative(&Ratio::from_f64(x), precision).low;
            let shift = truth.bit_len() - 64;
            let head: u64 = (truth >> shift).try_into().unwrap();
            let computed = Wide::from_f64(1.0).times_exp_negative(x);
            let ratio = computed.times_power_of_two(precision as i64 - shift as i64) / head as f64;
            worst = worst.max((ratio - 1.0).abs() / (1.0 + x));
        }
        assert!(worst < 2_f64.powi(-49), "{worst:e}");
        let far = Wide::from_f64(1.0).times_exp_negative(1e18);
        assert!(!far.is_zero() && far.exponent == 1 - (1 << 30));
    }
}
