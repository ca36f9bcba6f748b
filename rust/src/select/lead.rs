//! By how much a winner is ahead: the gap between its noisy score and the next one, rounded down to a public step.
//!
//! A gap is a real number of which only the bits asked for exist. Whether it reaches a multiple of the step is decided as the real
//! numbers would decide it: in doubles where their margins allow, else in integers.
//! Proof: `proofs/free_gap.md`; model: `tests/reference/exponential_once.py`.

use std::cell::LazyCell;

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::exp_enclosure::{Enclosure, exp_negative};
use crate::exact::lazy_time::Clock;
use crate::exact::rational::{Rational, exactly};
use crate::scores::block_index::Blocks;
use crate::scores::scale::Scale;
use crate::scores::score::Score;
use crate::scores::score_view::View;
use crate::select::many_draws::Law;
use crate::select::once::{self, NoisyCandidate, exact_lead};
use crate::select::removed::Removed;
use crate::select::top_k::remove;
use crate::select::weight_line::{BlockLine, Round};
use crate::select::{exponential_mechanism, noisy_max};

/// Wider than all rounding errors in an enclosure of a gap, relative to the numbers it is made of.
const MARGIN: f64 = 1e-12;
/// Larger exponents are known as doubles only from below.
const LARGEST_EXPONENT: f64 = 5e17;
/// Whole numbers up to this are doubles.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;
/// No gap has as many steps as 2 to this: scores, scales and steps are doubles.
const MOST_BITS: usize = 4096;
/// A public distance in the unit of the scores; gaps are released as multiples of it.
pub struct Step<'s> {
    height: f64,
    scale: &'s Scale,
    /// The step in units of the scale, as a double with the contract of `Scale::exponent`.
    exponent: f64,
}

impl<'s> Step<'s> {
    /// # Errors
    /// `InvalidScale` unless it is finite and positive.
    pub fn new(height: f64, scale: &'s Scale) -> Result<Self, SelectError> {
        if !(height.is_finite() && height > 0.0) {
            return Err(SelectError::InvalidScale);
        }
        Ok(Self { height, scale, exponent: scale.exponent_of_gap(height) })
    }

    /// The step in units of the scale.
    fn exact(&self) -> Rational {
        self.scale.exact_exponent_of_gap(&exactly(self.height))
    }

    /// The largest multiple of the step that a gap reaches, rounded down to 53 bits. The gap lies within `bounds`, in units of
    /// the scale; `reaches` decides whether it is at least some number of them, which is positive.
    fn floor(&self, bounds: (f64, f64), mut reaches: impl FnMut(&Rational) -> bool) -> f64 {
        // Nearly always doubles leave one answer, and nothing exact is computed.
        let exact = LazyCell::new(|| self.exact());
        let mut reaches = |count: &UBig| *count == UBig::ZERO || reaches(&(&*exact * Rational::from(count.clone())));
        let is_plain = self.exponent > 1.0 / LARGEST_EXPONENT && self.exponent < LARGEST_EXPONENT;
        let least = (bounds.0 / self.exponent * (1.0 - MARGIN)).max(0.0);
        let most = bounds.1 / self.exponent * (1.0 + MARGIN);
        if is_plain && most < MOST_WHOLE {
            // `as` rounds down.
            let count = bisect((least as u64).into(), UBig::from(most as u64 + 1), &UBig::ONE, reaches);
            return self.times(&count, 0);
        }
        // The number of its bits first, then as many of them as a double has.
        let bits = bisect(UBig::ZERO, UBig::from(MOST_BITS), &UBig::ONE, |bits| {
            let bits = usize::try_from(bits).unwrap_or(MOST_BITS);
            bits == 0 || reaches(&(UBig::ONE << (bits - 1)))
        });
        let bits = usize::try_from(&bits).unwrap_or(MOST_BITS);
        if bits == 0 {
            return 0.0;
        }
        let shift = bits.saturating_sub(53);
        let count = bisect(UBig::ONE << (bits - 1), UBig::ONE << bits, &(UBig::ONE << shift), reaches);
        self.times(&(count >> shift), shift)
    }

    /// `count * 2^shift` steps, rounded down to a double.
    fn times(&self, count: &UBig, shift: usize) -> f64 {
        let count = u64::try_from(count).unwrap_or(u64::MAX) as f64;
        let product = count * self.height;
        let product = if libm::fma(count, self.height, -product) < 0.0 { product.next_down() } else { product };
        libm::scalbn(product, shift as i32).min(f64::MAX)
    }
}

/// The last of `low`, `low + unit`, ... below `high` of which the question is true; it is true of `low`.
fn bisect(mut low: UBig, mut high: UBig, unit: &UBig, mut is_true: impl FnMut(&UBig) -> bool) -> UBig {
    while &high - &low > *unit {
        let middle = &low + (((&high - &low) / unit) >> 1) * unit;
        if is_true(&middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// One draw by any of the laws, and by how much the winner is ahead of all others.
///
/// # Errors
/// As [`Blocks::new`], `InvalidCount` for a single candidate, `InvalidScale` for the step, `Interrupted`, or `Changed`.
pub fn select(
    law: Law,
    scores: View<'_>,
    scale: &Scale,
    step: f64,
    entropy: &mut Entropy,
) -> Result<(usize, f64), SelectError> {
    let step = Step::new(step, scale)?;
    if scores.len() == 1 {
        return Err(SelectError::InvalidCount);
    }
    match law {
        Law::PermuteAndFlip => {
            let mut candidates = once::largest(scores, scale, 2, entropy)?;
            let [winner, next] = &mut candidates[..] else { return Err(SelectError::InvalidCount) };
            Ok((winner.index, gap_of(winner, next, scale, &step, entropy)))
        }
        Law::Exponential => exponential(scores, scale, &step, entropy),
        Law::LaplaceNoisyMax => laplace(Blocks::new(scores)?, scale, &step, entropy),
    }
}

/// By how much the first of two is ahead of the second, with exponential noise.
fn gap_of(
    one: &mut NoisyCandidate,
    other: &mut NoisyCandidate,
    scale: &Scale,
    step: &Step,
    entropy: &mut Entropy,
) -> f64 {
    let (base, base_of_other) = (one.base, other.base);
    let x = LazyCell::new(|| exact_lead(scale, base, base_of_other));
    let bounds = (one.low - other.high, one.high - other.low);
    // Whether -ln(own) + x is larger than -ln(other) by at least `lead`.
    step.floor(bounds, |lead| one.clock.is_before(&(&*x - lead), &mut other.clock, entropy))
}

/// The exponential mechanism: candidate i arrives at an exponential time of rate p_i, so -ln of its time is its score plus Gumbel
/// noise. The time from the first to the second is independent of the first one's: the first time among those that are left.
fn exponential(
    scores: View<'_>,
    scale: &Scale,
    step: &Step,
    entropy: &mut Entropy,
) -> Result<(usize, f64), SelectError> {
    let mut blocks = Blocks::new(scores)?;
    let round = Round::new(&blocks, scale);
    let mut line = BlockLine::new(&round);
    let (winner, mut first) = exponential_mechanism::draw_with_time(&round, &line, entropy)?;
    let (top, mut removed) = (blocks.top(), Removed::default());
    let best_left = remove(&mut blocks, &mut removed, winner);
    let left = Round { blocks: &blocks, scale, top: best_left, removed: &removed };
    if best_left == top {
        line.refresh(&left, blocks.block_of(winner).stripe);
    } else {
        line.rebuild(&left);
    }
    let (_, mut rest) = exponential_mechanism::draw_with_time(&left, &line, entropy)?;
    // The time left, measured from the best score, is exp(x) times the first time among the others.
    let bounds = bounds_of_lead(&first, &rest, scale.exponent(top, best_left));
    let x = LazyCell::new(|| scale.exact_exponent(top, best_left));
    let gap = step.floor(bounds, |lead| has_lead(&mut first, &mut rest, &x, lead, entropy));
    Ok((winner, gap))
}

/// Bounds of ln(1 + e^x rest / first).
fn bounds_of_lead(first: &Clock, rest: &Clock, x: f64) -> (f64, f64) {
    if x > LARGEST_EXPONENT {
        return (0.0, f64::INFINITY);
    }
    let ((first_least, first_most), (rest_least, rest_most)) = (first.ends(), rest.ends());
    // ln(1 + e^x r) = x + ln(r + e^-x)
    let gap = |ratio: f64| x + libm::log(ratio + libm::exp(-x));
    let slack = |gap: f64| MARGIN * (1.0 + x + (gap - x).abs());
    let (low, high) = (gap(rest_least / first_most), gap(rest_most / first_least));
    let bounds = (low - slack(low), high + slack(high));
    if bounds.0.is_finite() && !bounds.1.is_nan() { bounds } else { (0.0, f64::INFINITY) }
}

/// Whether ln(1 + e^x rest / first) is at least `lead`: first (1 - e^-lead) <= rest e^(x - lead).
fn has_lead(first: &mut Clock, rest: &mut Clock, x: &Rational, lead: &Rational, entropy: &mut Entropy) -> bool {
    let [before, behind] = [x - lead, lead - x].map(|distance| distance.max(Rational::ZERO));
    let factors = |precision| {
        let (missed, far) = (exp_negative(lead, precision), exp_negative(&before, precision));
        let product = |missed: UBig, far: UBig| (((UBig::ONE << precision) - missed) * far) >> precision;
        let (low, high) = (product(missed.high, far.low), product(missed.low, far.high) + UBig::ONE);
        [Enclosure { low, high }, exp_negative(&behind, precision)]
    };
    first.is_before_by(rest, factors, entropy)
}

fn laplace(
    mut blocks: Blocks<'_>,
    scale: &Scale,
    step: &Step,
    entropy: &mut Entropy,
) -> Result<(usize, f64), SelectError> {
    let (second, best) = once::split(&blocks, 2)?;
    let removed = once::take_out(&mut blocks, &best);
    let round = Round { blocks: &blocks, scale, top: blocks.top(), removed: &removed };
    let [mut winner, mut next] = noisy_max::two_largest(&round, best.first().copied(), second, entropy)?;
    let is_far = |base: Score| round.scale.exponent(round.top, base) > LARGEST_EXPONENT;
    let bounds = if is_far(winner.base) || is_far(next.base) {
        (0.0, f64::INFINITY)
    } else {
        (winner.low - next.high, winner.high - next.low)
    };
    let gap = step.floor(bounds, |lead| noisy_max::is_farther_above(&round, &mut winner, &mut next, lead, entropy));
    Ok((winner.index, gap))
}

#[cfg(test)]
#[path = "lead_tests.rs"]
mod tests;
