//! The types a score may have, and how far one lies below another: in doubles with a known error, and exactly.

use dashu_int::{IBig, Sign, UBig};

use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::rational::{Rational, exactly, scaled};
use crate::numbers::rounding::parts;

/// A score of any type, exactly: `±magnitude * 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Height {
    pub is_negative: bool,
    pub magnitude: u64,
    pub exponent: i16,
}

impl Height {
    pub fn exactly(self) -> Rational {
        let magnitude = IBig::from(self.magnitude);
        scaled(if self.is_negative { -magnitude } else { magnitude }, i64::from(self.exponent))
    }
}

/// A number that candidates are compared by; higher is better.
pub trait Score: Copy + PartialOrd + Send + Sync + 'static {
    /// Smaller than or equal to every other finite value.
    const LOWEST: Self;
    /// Whether the type has values that are not finite.
    const MAY_BE_POISON: bool;

    /// Neutral element of the running check for NaN and infinities.
    const CLEAN: Self;

    /// The larger one, without a branch; never NaN if `self` is not.
    fn or_larger(self, other: Self) -> Self;

    /// The check, continued by `self`: stays at [`Score::CLEAN`] (either sign) if and only if every value was finite.
    fn check(self, so_far: Self) -> Self;

    /// The same in one operation, for code that is compiled for processors with fused ones: elsewhere it is a call.
    fn check_fused(self, so_far: Self) -> Self;

    /// Whether [`Score::check`] met a value that is not finite.
    fn is_poison(self) -> bool;

    /// `top - self` with relative error at most 2^-53; infinite if a double cannot hold it; zero if negative.
    fn gap_below(self, top: Self) -> f64;

    /// `max(top - self, 0)`.
    fn exact_gap_below(self, top: Self) -> Ratio;

    /// The finite value itself, whatever its type.
    fn height(self) -> Height;

    /// A value below `self`, by about `distance` where the type has one there; `None` if it has none below.
    fn lowered(self, distance: f64) -> Option<Self>;

    /// The nearest double: the value itself, but for integers beyond 2^53.
    fn nearest_f64(self) -> f64;
}

macro_rules! float_score {
    ($float:ty) => {
        impl Score for $float {
            const LOWEST: Self = <$float>::MIN;
            const MAY_BE_POISON: bool = true;
            const CLEAN: Self = 0.0;

            #[inline(always)]
            fn or_larger(self, other: Self) -> Self {
                if other > self { other } else { self }
            }

            #[inline(always)]
            fn check(self, so_far: Self) -> Self {
                // 0 * x is 0 for finite x and NaN otherwise, and NaN stays.
                so_far + self * 0.0
            }

            #[inline(always)]
            fn check_fused(self, so_far: Self) -> Self {
                self.mul_add(0.0, so_far)
            }

            #[inline(always)]
            fn is_poison(self) -> bool {
                self.is_nan()
            }

            #[inline(always)]
            fn gap_below(self, top: Self) -> f64 {
                let gap = f64::from(top) - f64::from(self);
                if gap > 0.0 { gap } else { 0.0 }
            }

            fn exact_gap_below(self, top: Self) -> Ratio {
                let gap = exactly(f64::from(top)) - exactly(f64::from(self));
                if gap > Rational::ZERO { gap.into() } else { Ratio::from_f64(0.0) }
            }

            fn height(self) -> Height {
                let (integer, exponent) = parts(f64::from(self));
                let (sign, magnitude) = integer.into_parts();
                // A double has 53 bits, times a power of two of at least 2^-1074.
                let magnitude = u64::try_from(magnitude).unwrap_or(u64::MAX);
                Height { is_negative: sign == Sign::Negative, magnitude, exponent: exponent as i16 }
            }

            fn lowered(self, distance: f64) -> Option<Self> {
                let target = (f64::from(self) - distance) as $float;
                let lower = if target < self { target } else { self.next_down() };
                lower.is_finite().then_some(lower)
            }

            #[inline(always)]
            fn nearest_f64(self) -> f64 {
                f64::from(self)
            }
        }
    };
}

macro_rules! integer_score {
    ($integer:ty, $unsigned:ty) => {
        impl Score for $integer {
            const LOWEST: Self = <$integer>::MIN;
            const MAY_BE_POISON: bool = false;
            const CLEAN: Self = 0;

            #[inline(always)]
            fn or_larger(self, other: Self) -> Self {
                if other > self { other } else { self }
            }

            #[inline(always)]
            fn check(self, so_far: Self) -> Self {
                so_far
            }

            #[inline(always)]
            fn check_fused(self, so_far: Self) -> Self {
                so_far
            }

            #[inline(always)]
            fn is_poison(self) -> bool {
                false
            }

            #[inline(always)]
            fn gap_below(self, top: Self) -> f64 {
                // Of two integers of one width the difference fits the unsigned type of that width.
                if top > self { top.wrapping_sub(self) as $unsigned as f64 } else { 0.0 }
            }

            fn exact_gap_below(self, top: Self) -> Ratio {
                let gap = if top > self { top.wrapping_sub(self) as $unsigned } else { 0 };
                Ratio { numerator: UBig::from(gap), denominator: UBig::ONE }
            }

            fn height(self) -> Height {
                let value = i128::from(self);
                Height { is_negative: value < 0, magnitude: value.unsigned_abs() as u64, exponent: 0 }
            }

            fn lowered(self, distance: f64) -> Option<Self> {
                // `as` saturates, and makes 0 of NaN.
                let distance = (distance as $unsigned).max(1);
                let room = self.wrapping_sub(Self::MIN) as $unsigned;
                (distance <= room).then(|| self.wrapping_sub(distance as $integer))
            }

            #[inline(always)]
            fn nearest_f64(self) -> f64 {
                self as f64
            }
        }
    };
}

float_score!(f64);
float_score!(f32);
integer_score!(i64, u64);
integer_score!(u64, u64);
integer_score!(i32, u32);
integer_score!(u32, u32);
integer_score!(i16, u16);
integer_score!(u16, u16);
integer_score!(i8, u8);
integer_score!(u8, u8);

#[cfg(test)]
mod tests {
    use super::*;

    fn exact<T: Score>(item: T, top: T) -> (UBig, UBig) {
        let gap = item.exact_gap_below(top);
        (gap.numerator, gap.denominator)
    }

    #[test]
    fn integers_beyond_two_to_the_53_keep_their_difference() {
        let top = (1_i64 << 53) + 1;
        assert_eq!((1_i64 << 53).gap_below(top), 1.0);
        assert_eq!(exact(i64::MIN, i64::MAX), (UBig::from(u64::MAX), UBig::ONE));
        assert_eq!(i64::MIN.gap_below(i64::MAX), 18_446_744_073_709_551_615.0);
        assert_eq!((-128_i8).gap_below(127), 255.0);
        assert_eq!(3_u8.gap_below(2), 0.0);
    }

    #[test]
    fn a_gap_that_overflows_has_an_exact_value() {
        let (low, high) = (-1.7e308_f64, 1.7e308_f64);
        assert_eq!(low.gap_below(high), f64::INFINITY);
        let gap = low.exact_gap_below(high);
        let once = Ratio::from_f64(1.7e308);
        assert_eq!(gap.numerator * once.denominator, once.numerator * gap.denominator * UBig::from(2_u8));
    }

    #[test]
    fn lowered_scores_are_lower_or_there_are_none() {
        assert_eq!(5.0_f64.lowered(3.0), Some(2.0));
        assert_eq!(1e300_f64.lowered(1.0), Some(1e300_f64.next_down()));
        assert_eq!(16_777_216.0_f32.lowered(0.3), Some(16_777_215.0));
        assert_eq!((f64::MIN.lowered(1.0), 0.0_f64.lowered(f64::INFINITY)), (None, None));
        assert_eq!((5_i8.lowered(133.0), 5_i8.lowered(134.0), 5_u8.lowered(0.1)), (Some(-128), None, Some(4)));
        assert_eq!(
            (i64::MAX.lowered(1e19), 7_i64.lowered(f64::NAN)),
            (Some(i64::MAX.wrapping_sub(10_000_000_000_000_000_000_u64 as i64)), Some(6))
        );
    }

    #[test]
    fn the_check_finds_every_value_that_is_not_finite() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(1.0.check(value.check(f64::CLEAN)).is_poison());
            assert!(1.0.check_fused(value.check_fused(f64::CLEAN)).is_poison());
            assert!((1.0_f32).check_fused((value as f32).check_fused(f32::CLEAN)).is_poison());
        }
        assert!(!f64::MAX.check((-f64::MAX).check(0.0)).is_poison());
        assert!(!f64::MAX.check_fused((-f64::MAX).check_fused(5e-324.check_fused(0.0))).is_poison());
        assert!(f32::NEG_INFINITY.check(0.0).is_poison());
    }
}
