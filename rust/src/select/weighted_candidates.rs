//! The exponential mechanism with a public weight for each candidate: candidate i with probability proportional to
//! weight_i * exp(s_i / b).
//!
//! Block rejection as without weights, over the keys log2(weight_i) + s_i / (b ln 2) in place of scores, whose maxima bound the
//! products. A proposal is accepted with the product itself, exactly.
//! Proofs: `proofs/weighted_candidates.md` (the law, and the keys), `proofs/exact_sampling.md`, "Pieces" (the acceptance).

use std::borrow::Cow;

use crate::entropy::{Entropy, with_entropy};
use crate::error::{SelectError, reserved};
use crate::exact::extended_float::Extended;
use crate::exact::pieces::{WeightedPieces, accepts};
use crate::exact::rational::Rational;
use crate::interrupt;
use crate::scores::block_index::Blocks;
use crate::scores::keys::{Keys, LEFT_OUT};
use crate::scores::scale::Scale;
use crate::scores::score::Score;
use crate::scores::score_view::View;
use crate::select::exponential_mechanism::propose_until;
use crate::select::many_draws::{is_worth_a_table, repeat};
use crate::select::weight_line::{BlockLine, ItemTable, Round, WeightLine};

/// Between the exponents of the largest weight and of the smallest one above zero: each may lie in a whole octave.
const MOST_OCTAVES_APART: i64 = 8193;
/// If the largest score with a weight lies more octaves than this above the first one, keys are measured from it: their errors have
/// to be far below one octave.
const LARGEST_RISE: f64 = 1_073_741_824.0;
/// If those that are left lie more octaves than this below the largest score, all is measured anew.
const LARGEST_FALL: f64 = 65_536.0;
/// More than the error of a rise, relative to it and to one octave.
const MARGIN: f64 = 1.0 / (1_u64 << 40) as f64;
/// More than the error of a binary logarithm, before it is rounded up to 24 bits.
const LOG_MARGIN: f64 = 1e-9;

/// A public weight of each candidate; one of weight zero is never drawn.
pub struct Weights {
    nearest: Vec<Extended>,
    /// The weights themselves, where they are no doubles.
    ratios: Option<Vec<Rational>>,
    /// Binary logarithms less `exponent`, rounded up; [`LEFT_OUT`] for zero.
    logs: Vec<f32>,
    /// The largest weight lies in the octave below 2 to this.
    exponent: i64,
}

impl Weights {
    /// `None` unless all are finite and not negative.
    pub fn of_doubles(doubles: Vec<f64>) -> Option<Self> {
        let are_weights = doubles.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
        are_weights.then(|| Self::new(doubles.into_iter().map(Extended::from_f64).collect(), None))
    }

    /// `None` if the largest is more than about 2^8192 times the smallest one above zero: doubles are never that far apart, and
    /// the acceptance counts on it.
    pub fn of_ratios(ratios: Vec<Rational>) -> Option<Self> {
        let nearest: Vec<_> = ratios.iter().map(Extended::from_rational).collect();
        let exponents = || nearest.iter().filter(|weight| !weight.is_zero()).map(|weight| weight.exponent);
        let apart = exponents().max().unwrap_or(0) - exponents().min().unwrap_or(0);
        (apart <= MOST_OCTAVES_APART).then(|| Self::new(nearest, Some(ratios)))
    }

    fn new(nearest: Vec<Extended>, ratios: Option<Vec<Rational>>) -> Self {
        let above_zero = nearest.iter().filter(|weight| !weight.is_zero());
        let exponent = above_zero.map(|weight| weight.exponent).max().unwrap_or(0);
        let logs = nearest.iter().map(|&weight| log_over(weight, exponent)).collect();
        Self { nearest, ratios, logs, exponent }
    }
}

/// No less than the binary logarithm of `weight / 2^exponent`.
fn log_over(weight: Extended, exponent: i64) -> f32 {
    if weight.is_zero() {
        return LEFT_OUT;
    }
    let log = (weight.exponent - exponent) as f64 + libm::log2(weight.fraction) + LOG_MARGIN;
    let rounded = log as f32;
    if f64::from(rounded) < log { rounded.next_up() } else { rounded }
}

/// Candidates to draw from, with an index over their keys.
struct Candidates<'a> {
    weights: &'a Weights,
    scale: &'a Scale,
    scores: View<'a>,
    blocks: Blocks<'a>,
    /// Keys count octaves.
    octave: Scale,
    /// Exponents are measured from the largest score that has a weight, which lies `rise` octaves above the score that keys are
    /// measured from.
    largest: Score,
    rise: f64,
    /// A candidate's weight times exp(-x), in units of 2 to this, is at most 1, and more than 1/4 for one of them.
    unit: i64,
}

impl<'a> Candidates<'a> {
    fn new(weights: &'a Weights, scores: View<'a>, scale: &'a Scale) -> Result<Self, SelectError> {
        if scores.is_empty() {
            return Err(SelectError::NoCandidates);
        }
        if scores.len() != weights.logs.len() {
            return Err(SelectError::InvalidCount);
        }
        let first = weights.logs.iter().position(|&log| log > LEFT_OUT);
        let keys = Keys::new(Cow::Borrowed(&weights.logs), scale, scores.get(first.unwrap_or(0)));
        let candidates = Self::of_keys(weights, scores, scale, keys)?;
        if first.is_some() { Ok(candidates) } else { Err(SelectError::NoCandidates) }
    }

    fn of_keys(
        weights: &'a Weights,
        scores: View<'a>,
        scale: &'a Scale,
        mut keys: Keys<'a>,
    ) -> Result<Self, SelectError> {
        let octave = Scale::new(std::f64::consts::LN_2, 1.0, 1)?;
        for _ in 0..2 {
            let (blocks, rise, largest) = Blocks::of_keys(scores, keys)?;
            if rise <= LARGEST_RISE {
                let best = blocks.top();
                let mut candidates = Self { weights, scale, scores, blocks, octave, largest, rise, unit: 0 };
                candidates.measure_from(best);
                return Ok(candidates);
            }
            keys = blocks.into_keys(largest)?;
        }
        Err(SelectError::Changed)
    }

    /// Choose the unit for this largest key.
    fn measure_from(&mut self, best: Score) {
        let slack = MARGIN * (1.0 + self.rise);
        let best = if let Score::Real(best) = best { best } else { 0.0 };
        let unit = (best - self.rise + 2.0 * slack).ceil();
        self.blocks.lower_top(Score::Real(unit + self.rise - slack));
        self.unit = unit as i64;
    }

    fn round(&self) -> Round<'_, 'a> {
        Round::new(&self.blocks, &self.octave)
    }

    fn draw(&self, line: &mut impl WeightLine, entropy: &mut Entropy) -> Result<usize, SelectError> {
        let unit = self.weights.exponent + self.unit;
        let accepts = |index, uniform: &mut _, entropy: &mut _| {
            self.blocks.has_weight(index) && accepts(self, index, (1, unit), uniform, entropy)
        };
        propose_until(&self.round(), line, |_| {}, accepts, entropy)
    }

    /// Never draw this one again.
    fn leave_out(self, index: usize) -> Result<Self, SelectError> {
        let mut left = self;
        let best = left.blocks.leave_out(index);
        left.measure_from(best);
        if left.unit as f64 >= -LARGEST_FALL {
            return Ok(left);
        }
        let next = (0..left.scores.len()).find(|&index| left.blocks.has_weight(index));
        let from = left.scores.get(next.ok_or(SelectError::InvalidCount)?);
        Self::of_keys(left.weights, left.scores, left.scale, left.blocks.into_keys(from)?)
    }
}

/// Candidates as pieces of the length of their weights.
impl WeightedPieces for Candidates<'_> {
    fn count(&self) -> usize {
        self.scores.len()
    }

    fn length(&self, index: usize) -> Extended {
        self.weights.nearest[index]
    }

    fn exact_length(&self, index: usize) -> Rational {
        match &self.weights.ratios {
            Some(ratios) => ratios[index].clone(),
            None => self.weights.nearest[index].exactly(),
        }
    }

    fn exponent(&self, index: usize) -> f64 {
        self.scale.exponent(self.largest, self.scores.get(index))
    }

    fn exact_exponent(&self, index: usize) -> Rational {
        self.scale.exact_exponent(self.largest, self.scores.get(index))
    }
}

/// `size` independent draws.
///
/// # Errors
/// `NoCandidates` if there is no score, or none with a weight, `InvalidCount` if there is not one weight a score,
/// `NotFinite`, `Entropy`, `Memory`, `Interrupted`, or `Changed` if the scores were overwritten meanwhile.
pub fn select_many(weights: &Weights, scores: View<'_>, scale: &Scale, size: usize) -> Result<Vec<usize>, SelectError> {
    let candidates = Candidates::new(weights, scores, scale)?;
    let round = candidates.round();
    if is_worth_a_table(size, scores.len()) {
        let table = ItemTable::new(&round)?;
        return repeat(size, 1, |entropy| candidates.draw(&mut &table, entropy));
    }
    let line = BlockLine::new(&round);
    repeat(size, 1, |entropy| candidates.draw(&mut line.of(&round), entropy))
}

/// `k` draws, each without the ones before it.
///
/// # Errors
/// As [`select_many`]; `InvalidCount` also if fewer than `k` have a weight.
pub fn peel(weights: &Weights, scores: View<'_>, scale: &Scale, k: usize) -> Result<Vec<usize>, SelectError> {
    let mut candidates = Candidates::new(weights, scores, scale)?;
    if k == 0 || k > weights.logs.iter().filter(|&&log| log > LEFT_OUT).count() {
        return Err(SelectError::InvalidCount);
    }
    let mut picks = reserved(k)?;
    with_entropy(|entropy| {
        loop {
            interrupt::check()?;
            let round = candidates.round();
            let pick = candidates.draw(&mut BlockLine::new(&round).of(&round), entropy)?;
            picks.push(pick);
            if picks.len() == k {
                return Ok(());
            }
            candidates = candidates.leave_out(pick)?;
        }
    })?;
    Ok(picks)
}

#[cfg(test)]
#[path = "weighted_candidates_tests.rs"]
mod tests;
