//! Scores: as memory has them, of ten types, and as they are compared, of two. And how far one lies below another: in doubles
//! with a known error, and exactly.

use crate::exact::rational::{Rational, exactly};

/// What candidates are compared by; higher is better. Of one vector all are real, or all whole.
///
/// Whole numbers of 64 bits without a sign are held less 2^63: all that a draw looks at is which score is larger, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Score {
    Real(f64),
    Whole(i64),
}

impl Score {
    /// The larger one; never NaN if `self` is not.
    #[inline(always)]
    pub fn or_larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    #[inline(always)]
    pub fn is_finite(self) -> bool {
        match self {
            Self::Real(value) => value.is_finite(),
            Self::Whole(_) => true,
        }
    }

    /// `top - self` with relative error at most 2^-53; infinite if a double cannot hold it; zero if negative.
    #[inline(always)]
    pub fn gap_below(self, top: Self) -> f64 {
        match (self, top) {
            (Self::Real(value), Self::Real(top)) => value.gap_below(top),
            (Self::Whole(value), Self::Whole(top)) => value.gap_below(top),
            _ => 0.0,
        }
    }

    /// `max(top - self, 0)`.
    pub fn exact_gap_below(self, top: Self) -> Rational {
        match (self, top) {
            (Self::Real(value), Self::Real(top)) if top > value => exactly(top) - exactly(value),
            (Self::Whole(value), Self::Whole(top)) if top > value => (top.wrapping_sub(value) as u64).into(),
            _ => Rational::ZERO,
        }
    }

    /// A score below this one, by about `distance` where there is one; `None` if there is none below.
    pub fn lowered(self, distance: f64) -> Option<Self> {
        match self {
            Self::Real(value) => {
                let target = value - distance;
                let lower = if target < value { target } else { value.next_down() };
                lower.is_finite().then_some(Self::Real(lower))
            }
            Self::Whole(value) => {
                // `as` saturates, and makes 0 of NaN.
                let distance = (distance as u64).max(1);
                let room = value.wrapping_sub(i64::MIN) as u64;
                (distance <= room).then(|| Self::Whole(value.wrapping_sub(distance as i64)))
            }
        }
    }
}

/// The type of the numbers in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    F64,
    F32,
    I64,
    U64,
    I32,
    U32,
    I16,
    U16,
    I8,
    U8,
}

impl Kind {
    /// Bytes of one number.
    #[inline]
    pub fn size(self) -> usize {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::I16 | Self::U16 => 2,
            Self::I8 | Self::U8 => 1,
        }
    }
}

/// Run `$body` with `$type` the type that memory of `$kind` holds.
macro_rules! with_stored {
    ($kind:expr, $type:ident => $body:expr) => {{
        macro_rules! run {
            ($each:ty) => {{
                type $type = $each;
                $body
            }};
        }
        match $kind {
            $crate::scores::score::Kind::F64 => run!(f64),
            $crate::scores::score::Kind::F32 => run!(f32),
            $crate::scores::score::Kind::I64 => run!(i64),
            $crate::scores::score::Kind::U64 => run!(u64),
            $crate::scores::score::Kind::I32 => run!(i32),
            $crate::scores::score::Kind::U32 => run!(u32),
            $crate::scores::score::Kind::I16 => run!(i16),
            $crate::scores::score::Kind::U16 => run!(u16),
            $crate::scores::score::Kind::I8 => run!(i8),
            $crate::scores::score::Kind::U8 => run!(u8),
        }
    }};
}
pub(crate) use with_stored;

/// A number as memory has it.
pub trait Stored: Copy + PartialOrd + Send + Sync + 'static {
    const KIND: Kind;
    /// What it is widened to, without a loss.
    type Lane: Lane;
    /// Smaller than or equal to every other finite value.
    const LOWEST: Self;
    /// Whether the type has values that are not finite.
    const MAY_BE_POISON: bool;
    /// Neutral element of the running check for NaN and infinities.
    const CLEAN: Self;

    fn widened(self) -> Self::Lane;

    fn score(self) -> Score;

    /// The nearest double: the value itself, but for integers beyond 2^53.
    fn nearest_f64(self) -> f64;

    /// The larger one, without a branch; never NaN if `self` is not.
    #[inline(always)]
    fn or_larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    /// The check, continued by `self`: stays at [`Stored::CLEAN`] (either sign) if and only if every value was finite.
    fn check(self, so_far: Self) -> Self;

    /// The same in one operation, for code that is compiled for processors with fused ones: elsewhere it is a call.
    fn check_fused(self, so_far: Self) -> Self;

    /// Whether [`Stored::check`] met a value that is not finite.
    fn is_poison(self) -> bool;
}

/// The number inside a [`Score`], for loops over many of one kind.
pub trait Lane: Stored {
    /// The number in a score of this kind.
    fn of(score: Score) -> Self;

    /// [`Score::gap_below`].
    fn gap_below(self, top: Self) -> f64;

    /// `other - self` with relative error at most 2^-53; infinite if a double cannot hold it.
    fn distance_to(self, other: Self) -> f64;

    /// Half of that, which a double holds, where [`Lane::distance_to`] is infinite.
    fn half_distance_to(self, other: Self) -> f64;
}

impl Lane for f64 {
    #[inline(always)]
    fn of(score: Score) -> Self {
        if let Score::Real(value) = score { value } else { Self::LOWEST }
    }

    #[inline(always)]
    fn gap_below(self, top: Self) -> f64 {
        let gap = top - self;
        if gap > 0.0 { gap } else { 0.0 }
    }

    #[inline(always)]
    fn distance_to(self, other: Self) -> f64 {
        other - self
    }

    #[inline(always)]
    fn half_distance_to(self, other: Self) -> f64 {
        other / 2.0 - self / 2.0
    }
}

impl Lane for i64 {
    #[inline(always)]
    fn of(score: Score) -> Self {
        if let Score::Whole(value) = score { value } else { Self::LOWEST }
    }

    #[inline(always)]
    fn gap_below(self, top: Self) -> f64 {
        // The difference of two integers of 64 bits fits those without a sign.
        if top > self { top.wrapping_sub(self) as u64 as f64 } else { 0.0 }
    }

    #[inline(always)]
    fn distance_to(self, other: Self) -> f64 {
        let (low, high) = if other > self { (self, other) } else { (other, self) };
        let distance = high.wrapping_sub(low) as u64 as f64;
        if other > self { distance } else { -distance }
    }

    #[inline(always)]
    fn half_distance_to(self, other: Self) -> f64 {
        self.distance_to(other) / 2.0
    }
}

macro_rules! stored_floats {
    ($($float:ty, $kind:ident;)*) => {$(
        impl Stored for $float {
            const KIND: Kind = Kind::$kind;
            type Lane = f64;
            const LOWEST: Self = <$float>::MIN;
            const MAY_BE_POISON: bool = true;
            const CLEAN: Self = 0.0;

            #[inline(always)]
            fn widened(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn score(self) -> Score {
                Score::Real(f64::from(self))
            }

            #[inline(always)]
            fn nearest_f64(self) -> f64 {
                f64::from(self)
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
        }
    )*};
}

macro_rules! stored_integers {
    ($($integer:ty, $kind:ident, $flip:literal;)*) => {$(
        impl Stored for $integer {
            const KIND: Kind = Kind::$kind;
            type Lane = i64;
            const LOWEST: Self = <$integer>::MIN;
            const MAY_BE_POISON: bool = false;
            const CLEAN: Self = 0;

            #[inline(always)]
            fn widened(self) -> i64 {
                (self as i64) ^ $flip
            }

            #[inline(always)]
            fn score(self) -> Score {
                Score::Whole(self.widened())
            }

            #[inline(always)]
            fn nearest_f64(self) -> f64 {
                self as f64
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
        }
    )*};
}

stored_floats! {
    f64, F64;
    f32, F32;
}
stored_integers! {
    i64, I64, 0;
    u64, U64, -0x8000_0000_0000_0000;
    i32, I32, 0;
    u32, U32, 0;
    i16, I16, 0;
    u16, U16, 0;
    i8, I8, 0;
    u8, U8, 0;
}

impl<T: Stored> From<T> for Score {
    #[inline(always)]
    fn from(value: T) -> Self {
        value.score()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact<T: Stored>(item: T, top: T) -> Rational {
        item.score().exact_gap_below(top.score())
    }

    fn gap<T: Stored>(item: T, top: T) -> f64 {
        item.score().gap_below(top.score())
    }

    #[test]
    fn integers_beyond_two_to_the_53_keep_their_difference() {
        assert_eq!(gap(1_i64 << 53, (1_i64 << 53) + 1), 1.0);
        assert_eq!(gap(1_u64 << 63, (1_u64 << 63) + 1), 1.0);
        assert_eq!(exact(i64::MIN, i64::MAX), u64::MAX.into());
        assert_eq!(exact(0, u64::MAX), u64::MAX.into());
        assert_eq!(gap(i64::MIN, i64::MAX), 18_446_744_073_709_551_615.0);
        assert_eq!(gap(-128_i8, 127), 255.0);
        assert_eq!((gap(3_u8, 2), gap(3_u64, 2), gap(u64::MAX, 0)), (0.0, 0.0, 0.0));
    }

    #[test]
    fn a_gap_that_overflows_has_an_exact_value() {
        let (low, high) = (-1.7e308_f64, 1.7e308_f64);
        assert_eq!(gap(low, high), f64::INFINITY);
        assert_eq!(exact(low, high), exactly(1.7e308) * Rational::from(2));
    }

    #[test]
    fn lowered_scores_are_lower_or_there_are_none() {
        let real = |value: f64, distance| Score::Real(value).lowered(distance);
        assert_eq!(real(5.0, 3.0), Some(Score::Real(2.0)));
        assert_eq!(real(1e300, 1.0), Some(Score::Real(1e300_f64.next_down())));
        assert_eq!((real(f64::MIN, 1.0), real(0.0, f64::INFINITY)), (None, None));
        let whole = |value: i64, distance| Score::Whole(value).lowered(distance);
        assert_eq!((whole(i64::MIN + 5, 5.0), whole(i64::MIN + 5, 6.0)), (Some(Score::Whole(i64::MIN)), None));
        assert_eq!(whole(5, 0.1), Some(Score::Whole(4)));
        assert_eq!(whole(7, f64::NAN), Some(Score::Whole(6)));
        let far = i64::MAX.wrapping_sub(10_000_000_000_000_000_000_u64 as i64);
        assert_eq!(whole(i64::MAX, 1e19), Some(Score::Whole(far)));
    }

    #[test]
    fn the_check_finds_every_value_that_is_not_finite() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(1.0.check(value.check(f64::CLEAN)).is_poison());
            assert!(1.0.check_fused(value.check_fused(f64::CLEAN)).is_poison());
            assert!((1.0_f32).check_fused((value as f32).check_fused(f32::CLEAN)).is_poison());
            assert!(!Score::Real(value).is_finite());
        }
        assert!(!f64::MAX.check((-f64::MAX).check(0.0)).is_poison());
        assert!(!f64::MAX.check_fused((-f64::MAX).check_fused(5e-324.check_fused(0.0))).is_poison());
        assert!(f32::NEG_INFINITY.check(0.0).is_poison());
    }
}
