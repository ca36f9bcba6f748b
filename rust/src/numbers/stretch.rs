//! A stretch of possible answers and its length, in doubles and exactly.

use crate::exact::extended_float::Extended;
use crate::exact::rational::Rational;
use crate::scores::score::Score;

/// Answers next to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stretch {
    /// The real numbers between two finite doubles.
    Reals { low: f64, high: f64 },
    /// So many places that are alike, from this one on.
    Places { first: u64, count: u64 },
}

impl Stretch {
    /// With relative error at most 2^-53, zero if and only if there is nothing in it.
    #[inline]
    pub fn length(self) -> Extended {
        match self {
            Self::Reals { low, high } => Extended::from_gap(low, high),
            Self::Places { count, .. } => Extended::from_count(count),
        }
    }

    pub fn exact_length(self) -> Rational {
        match self {
            Self::Reals { low, high } => Score::from(low).exact_gap_below(high.into()),
            Self::Places { count, .. } => count.into(),
        }
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        match self {
            Self::Reals { low, high } => low == high,
            Self::Places { count, .. } => count == 0,
        }
    }
}
