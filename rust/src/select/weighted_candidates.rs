//! The exponential mechanism with a public weight for each candidate: candidate i with probability proportional to
//! weight_i * exp(s_i / b).
//!
//! A candidate is a piece of the length of its weight, so the choice is that among pieces. Scores are copied: bounds hold for
//! them as they were read. Proofs: `proofs/weighted_candidates.md` (the law), `proofs/exact_sampling.md`, "Pieces" (the draw).

use crate::entropy::with_entropy;
use crate::error::{SelectError, reserved};
use crate::exact::exp_enclosure::Ratio;
use crate::exact::extended_float::Extended;
use crate::interrupt;
use crate::numbers::pieces::{Chooser, WeightedPieces};
use crate::scores::scale::Scale;
use crate::scores::score::Score;
use crate::scores::score_view::View;
use crate::select::many_draws::{share_out, threads_for};

/// Draws that are worth one more thread.
const DRAWS_PER_THREAD: usize = 2048;
/// Scores between two questions whether the call is to end.
const SCORES_BETWEEN_QUESTIONS: usize = 1 << 14;

/// Between the exponents of the largest weight and of the smallest one above zero: each may lie in a whole octave.
const MOST_OCTAVES_APART: i64 = 8193;

/// A public weight of each candidate; one of weight zero is never drawn.
pub enum Weights {
    /// As the doubles they are: finite and not negative.
    Doubles(Vec<f64>),
    /// As any fractions, and the nearest doubles with exponents of their own.
    Ratios(Vec<Ratio>, Vec<Extended>),
}

impl Weights {
    /// `None` if the largest is more than about 2^8192 times the smallest one above zero: doubles are never that far apart, and
    /// the choice among pieces counts on it.
    pub fn of_ratios(ratios: Vec<Ratio>) -> Option<Self> {
        let nearest: Vec<_> = ratios.iter().map(Extended::from_ratio).collect();
        let exponents = || nearest.iter().filter(|weight| !weight.is_zero()).map(|weight| weight.exponent);
        let apart = exponents().max().unwrap_or(0) - exponents().min().unwrap_or(0);
        (apart <= MOST_OCTAVES_APART).then_some(Self::Ratios(ratios, nearest))
    }

    fn count(&self) -> usize {
        match self {
            Self::Doubles(weights) => weights.len(),
            Self::Ratios(weights, _) => weights.len(),
        }
    }

    #[inline]
    fn nearest(&self, index: usize) -> Extended {
        match self {
            Self::Doubles(weights) => Extended::from_f64(weights[index]),
            Self::Ratios(_, nearest) => nearest[index],
        }
    }

    fn exact(&self, index: usize) -> Ratio {
        match self {
            Self::Doubles(weights) => Ratio::from_f64(weights[index]),
            Self::Ratios(weights, _) => weights[index].clone(),
        }
    }
}

/// Weights with a score each; exponents are measured from the best score that has a weight.
struct Weighted<'a> {
    weights: &'a Weights,
    scale: &'a Scale,
    scores: Vec<Score>,
    is_out: Vec<bool>,
    top: Score,
}

impl<'a> Weighted<'a> {
    fn new(weights: &'a Weights, scores: View<'_>, scale: &'a Scale) -> Result<Self, SelectError> {
        if scores.is_empty() {
            return Err(SelectError::NoCandidates);
        }
        if scores.len() != weights.count() {
            return Err(SelectError::InvalidCount);
        }
        let mut copy = reserved(scores.len())?;
        copy.resize(scores.len(), scores.get(0));
        for (turn, part) in copy.chunks_mut(SCORES_BETWEEN_QUESTIONS).enumerate() {
            interrupt::check()?;
            scores.copy_scores_to(turn * SCORES_BETWEEN_QUESTIONS, part);
            if !part.iter().all(|score| score.is_finite()) {
                return Err(SelectError::NotFinite);
            }
        }
        let mut weighted = Self { weights, scale, top: copy[0], scores: copy, is_out: Vec::new() };
        weighted.find_top();
        Ok(weighted)
    }

    fn find_top(&mut self) {
        let with_weight = (0..self.scores.len()).filter(|&index| !self.length(index).is_zero());
        // Where nobody has a weight, nobody is drawn.
        self.top = with_weight.map(|index| self.scores[index]).reduce(Score::or_larger).unwrap_or(self.top);
    }

    /// Never draw this one again.
    fn take_out(&mut self, index: usize) {
        self.is_out.resize(self.scores.len(), false);
        self.is_out[index] = true;
        self.find_top();
    }
}

impl WeightedPieces for Weighted<'_> {
    fn count(&self) -> usize {
        self.scores.len()
    }

    #[inline]
    fn length(&self, index: usize) -> Extended {
        if self.is_out.get(index) == Some(&true) { Extended::ZERO } else { self.weights.nearest(index) }
    }

    fn exact_length(&self, index: usize) -> Ratio {
        self.weights.exact(index)
    }

    #[inline]
    fn exponent(&self, index: usize) -> f64 {
        self.scale.exponent(self.top, self.scores[index])
    }

    fn exact_exponent(&self, index: usize) -> Ratio {
        self.scale.exact_exponent(self.top, self.scores[index])
    }
}

/// `size` independent draws.
///
/// # Errors
/// `NoCandidates` if there is no score, or none with a weight, `InvalidCount` if there is not one weight a score,
/// `NotFinite`, `Entropy`, `Memory`, `Interrupted`.
pub fn select_many(weights: &Weights, scores: View<'_>, scale: &Scale, size: usize) -> Result<Vec<usize>, SelectError> {
    let weighted = Weighted::new(weights, scores, scale)?;
    let chooser = Chooser::new(&weighted)?;
    let threads = threads_for(size / DRAWS_PER_THREAD);
    share_out(size, (size / (8 * threads)).clamp(1, 4096), threads, &|_, draws, entropy| {
        for slot in draws {
            *slot = chooser.draw(&weighted, entropy);
        }
        Ok(())
    })
}

/// `k` draws, each without the ones before it.
///
/// # Errors
/// As [`select_many`]; `InvalidCount` also if fewer than `k` have a weight.
pub fn peel(weights: &Weights, scores: View<'_>, scale: &Scale, k: usize) -> Result<Vec<usize>, SelectError> {
    let mut weighted = Weighted::new(weights, scores, scale)?;
    let with_weight = (0..weights.count()).filter(|&index| !weights.nearest(index).is_zero()).count();
    if k == 0 || k > with_weight {
        return Err(SelectError::InvalidCount);
    }
    let mut picks = reserved(k)?;
    with_entropy(|entropy| {
        for _ in 0..k {
            let pick = Chooser::new(&weighted)?.draw(&weighted, entropy);
            weighted.take_out(pick);
            picks.push(pick);
        }
        Ok(())
    })?;
    Ok(picks)
}

#[cfg(test)]
#[path = "weighted_candidates_tests.rs"]
mod tests;
