//! Pieces as a caller gives them: intervals between breakpoints or cells of so many places, each with a score.

use crate::error::SelectError;
use crate::exact::extended_float::Extended;
use crate::exact::pieces::WeightedPieces;
use crate::exact::rational::Rational;
use crate::numbers::stretch::Stretch;
use crate::scores::scale::Scale;

/// Pieces next to each other.
pub enum Cells<'a> {
    /// Piece i lies between numbers i and i + 1, finite ones that do not decrease.
    Between(&'a [f64]),
    /// Piece i has so many places.
    Places(&'a [u64]),
}

impl<'a> Cells<'a> {
    /// # Errors
    /// `NotFinite` if the breakpoints are not finite numbers in increasing order (equal neighbours are allowed).
    pub fn between(breakpoints: &'a [f64]) -> Result<Self, SelectError> {
        let is_increasing = breakpoints.windows(2).all(|pair| pair[0] <= pair[1]);
        if is_increasing && breakpoints.iter().all(|point| point.is_finite()) {
            Ok(Self::Between(breakpoints))
        } else {
            Err(SelectError::NotFinite)
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Between(points) => points.len().saturating_sub(1),
            Self::Places(counts) => counts.len(),
        }
    }

    fn piece(&self, index: usize) -> Stretch {
        match self {
            Self::Between(points) => Stretch::Reals { low: points[index], high: points[index + 1] },
            Self::Places(counts) => Stretch::Places { first: 0, count: counts[index] },
        }
    }
}

/// Pieces with a score each; exponents are measured from the best score that has a length.
pub struct Scored<'a> {
    row: Cells<'a>,
    scores: Vec<f64>,
    top: f64,
    scale: &'a Scale,
}

impl<'a> Scored<'a> {
    /// # Errors
    /// `NotFinite` if a score is not, `InvalidCount` if there is not one score a piece, `NoCandidates` if no piece has a
    /// length.
    pub fn new(row: Cells<'a>, scores: Vec<f64>, scale: &'a Scale) -> Result<Self, SelectError> {
        if scores.len() != row.count() {
            return Err(SelectError::InvalidCount);
        }
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(SelectError::NotFinite);
        }
        let with_length = (0..scores.len()).filter(|&index| !row.piece(index).is_empty());
        let top = with_length.map(|index| scores[index]).reduce(f64::max).ok_or(SelectError::NoCandidates)?;
        Ok(Self { row, scores, top, scale })
    }
}

impl WeightedPieces for Scored<'_> {
    fn count(&self) -> usize {
        self.scores.len()
    }

    fn length(&self, index: usize) -> Extended {
        self.row.piece(index).length()
    }

    fn exact_length(&self, index: usize) -> Rational {
        self.row.piece(index).exact_length()
    }

    fn exponent(&self, index: usize) -> f64 {
        self.scale.exponent(self.top, self.scores[index])
    }

    fn exact_exponent(&self, index: usize) -> Rational {
        self.scale.exact_exponent(self.top, self.scores[index])
    }
}
