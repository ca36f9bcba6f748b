//! Pieces as a caller gives them: intervals between breakpoints or cells of so many places, each with a score.

use crate::error::SelectError;
use crate::interrupt::check_deep;
use crate::intervals::pieces::Segments;
use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::extended_float::Wide;
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;

/// Pieces between two questions whether the call is to end.
const PIECES_BETWEEN_QUESTIONS: usize = 1 << 12;

/// Lengths of pieces.
pub trait Lengths {
    fn count(&self) -> usize;
    fn length(&self, index: usize) -> Wide;
    fn exact_length(&self, index: usize) -> Ratio;
}

/// Piece i lies between breakpoints i and i + 1.
pub struct Breakpoints(Vec<f64>);

impl Breakpoints {
    /// # Errors
    /// `NotFinite` if they are not finite numbers in increasing order (equal neighbours are allowed).
    pub fn new(breakpoints: Vec<f64>) -> Result<Self, SelectError> {
        let is_increasing = breakpoints.windows(2).all(|pair| pair[0] <= pair[1]);
        if is_increasing && breakpoints.iter().all(|point| point.is_finite()) {
            Ok(Self(breakpoints))
        } else {
            Err(SelectError::NotFinite)
        }
    }

    #[must_use]
    pub fn ends(&self, index: usize) -> (f64, f64) {
        (self.0[index], self.0[index + 1])
    }
}

impl Lengths for Breakpoints {
    fn count(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    fn length(&self, index: usize) -> Wide {
        let (low, high) = self.ends(index);
        Wide::from_gap(low, high)
    }

    fn exact_length(&self, index: usize) -> Ratio {
        let (low, high) = self.ends(index);
        low.exact_gap_below(high)
    }
}

/// Cell i has so many places.
pub struct Cells(pub Vec<u64>);

impl Lengths for Cells {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn length(&self, index: usize) -> Wide {
        Wide::from_count(self.0[index])
    }

    fn exact_length(&self, index: usize) -> Ratio {
        Ratio::scaled(self.0[index].into(), 0)
    }
}

/// Pieces with a score each; exponents are measured from the best score that has a length.
pub struct Scored<'a, L> {
    pub lengths: L,
    scores: Vec<f64>,
    top: f64,
    scale: &'a Scale,
}

impl<'a, L: Lengths> Scored<'a, L> {
    /// # Errors
    /// `NotFinite` if a score is not, `InvalidCount` if there is not one score a piece, `NoCandidates` if no piece has a
    /// length.
    pub fn new(lengths: L, scores: Vec<f64>, scale: &'a Scale) -> Result<Self, SelectError> {
        if scores.len() != lengths.count() {
            return Err(SelectError::InvalidCount);
        }
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(SelectError::NotFinite);
        }
        let with_length = (0..scores.len()).filter(|&index| {
            if index.is_multiple_of(PIECES_BETWEEN_QUESTIONS) {
                check_deep();
            }
            !lengths.length(index).is_zero()
        });
        let top = with_length.map(|index| scores[index]).reduce(f64::max).ok_or(SelectError::NoCandidates)?;
        Ok(Self { lengths, scores, top, scale })
    }
}

impl<L: Lengths> Segments for Scored<'_, L> {
    fn count(&self) -> usize {
        self.scores.len()
    }

    fn length(&self, index: usize) -> Wide {
        self.lengths.length(index)
    }

    fn exact_length(&self, index: usize) -> Ratio {
        self.lengths.exact_length(index)
    }

    fn exponent(&self, index: usize) -> f64 {
        self.scale.exponent(self.top, self.scores[index])
    }

    fn exact_exponent(&self, index: usize) -> Ratio {
        self.scale.exact_exponent(self.top, self.scores[index])
    }
}
