//! Intervals between breakpoints, each with a score, as a caller gives them.

use crate::error::SelectError;
use crate::exact::extended_float::Extended;
use crate::exact::pieces::WeightedPieces;
use crate::exact::rational::Rational;
use crate::numbers::stretch::Stretch;
use crate::scores::scale::Scale;

/// Piece i lies between breakpoints i and i + 1; exponents are measured from the best score that has a length.
pub struct Scored<'a> {
    breakpoints: &'a [f64],
    scores: Vec<f64>,
    top: f64,
    scale: &'a Scale,
}

impl<'a> Scored<'a> {
    /// # Errors
    /// `NotFinite` if a score is not, or if the breakpoints are not finite numbers in increasing order (equal neighbours
    /// are allowed); `InvalidCount` if there is not one score a piece, `NoCandidates` if no piece has a length.
    pub fn new(breakpoints: &'a [f64], scores: Vec<f64>, scale: &'a Scale) -> Result<Self, SelectError> {
        let is_increasing = breakpoints.windows(2).all(|pair| pair[0] <= pair[1]);
        if !is_increasing || !breakpoints.iter().chain(&scores).all(|number| number.is_finite()) {
            return Err(SelectError::NotFinite);
        }
        if scores.len() != breakpoints.len().saturating_sub(1) {
            return Err(SelectError::InvalidCount);
        }
        let with_length = (0..scores.len()).filter(|&index| breakpoints[index] < breakpoints[index + 1]);
        let top = with_length.map(|index| scores[index]).reduce(f64::max).ok_or(SelectError::NoCandidates)?;
        Ok(Self { breakpoints, scores, top, scale })
    }

    fn piece(&self, index: usize) -> Stretch {
        Stretch::Reals { low: self.breakpoints[index], high: self.breakpoints[index + 1] }
    }
}

impl WeightedPieces for Scored<'_> {
    fn count(&self) -> usize {
        self.scores.len()
    }

    fn length(&self, index: usize) -> Extended {
        self.piece(index).length()
    }

    fn exact_length(&self, index: usize) -> Rational {
        self.piece(index).exact_length()
    }

    fn exponent(&self, index: usize) -> f64 {
        self.scale.exponent(self.top, self.scores[index])
    }

    fn exact_exponent(&self, index: usize) -> Rational {
        self.scale.exact_exponent(self.top, self.scores[index])
    }
}
