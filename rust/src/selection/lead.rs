//! By how much a winner is ahead: the gap between its noisy score and the next one, rounded down to a public step.
//!
//! A gap is a real number of which only the bits asked for exist. Whether it reaches a multiple of the step is decided as the real
//! numbers would decide it: in doubles where their margins allow, else in integers.
//! Proof: `proofs/free_gap.md`; model: `tests/reference/exponential_once.py`.

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::error::{SelectError, reserved};
use crate::numbers::decision::{decide, is_less};
use crate::numbers::exp_enclosure::{Ratio, exp_negative};
use crate::numbers::lazy_time::Clock;
use crate::numbers::rational::Rational;
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::{Blocks, Indexable};
use crate::scan::score_view::View;
use crate::selection::many_draws::Law;
use crate::selection::once::{self, Comer};
use crate::selection::removed::Removed;
use crate::selection::top_k::remove;
use crate::selection::weight_line::{FlatLine, Round};
use crate::selection::{exponential_mechanism, noisy_max};

/// Wider than all rounding errors in an enclosure of a gap, relative to the numbers it is made of.
const MARGIN: f64 = 1e-12;
/// Larger exponents are known as doubles only from below.
const LARGEST_EXPONENT: f64 = 5e17;
/// Whole numbers up to this are doubles.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;
/// No gap has as many steps as 2 to this: scores, scales and steps are doubles.
const MOST_BITS: usize = 4096;

/// A public distance in the unit of the scores; gaps are released as multiples of it.
pub struct Step {
    height: f64,
    /// The step in units of the scale, as a double with the contract of `Scale::exponent`, and exactly.
    exponent: f64,
    exact: Ratio,
}

impl Step {
    /// # Errors
    /// `InvalidScale` unless it is finite and positive.
    pub fn new(height: f64, scale: &Scale) -> Result<Self, SelectError> {
        if !(height.is_finite() && height > 0.0) {
            return Err(SelectError::InvalidScale);
        }
        let exact = scale.exact_exponent_of_gap(&Ratio::from_f64(height));
        Ok(Self { height, exponent: scale.exponent_of_gap(height), exact })
    }

    /// The largest multiple of the step that a gap reaches, rounded down to 53 bits. The gap lies within `bounds`, in units of
    /// the scale; `reaches` decides whether it is at least some number of them, which is positive.
    fn floor(&self, bounds: (f64, f64), mut reaches: impl FnMut(&Rational) -> bool) -> f64 {
        let exact = Rational::from(self.exact.clone());
        let mut reaches = |count: &UBig| *count == UBig::ZERO || reaches(&(&exact * Rational::from(count.clone())));
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
pub fn select<T: Indexable, E: Entropy>(
    law: Law,
    scores: View<'_, T>,
    scale: &Scale,
    step: f64,
    entropy: &mut E,
) -> Result<(usize, f64), SelectError> {
    let step = Step::new(step, scale)?;
    if scores.len() == 1 {
        return Err(SelectError::InvalidCount);
    }
    match law {
        Law::PermuteAndFlip => {
            let mut comers = once::largest(scores, scale, 2, entropy)?;
            let gaps = gaps_of(&mut comers, scale, &step, entropy)?;
            Ok((comers[0].index, gaps[0]))
        }
        Law::Exponential => exponential(scores, scale, &step, entropy),
        Law::LaplaceNoisyMax => {
            let blocks = Blocks::for_one_draw(scores)?;
            laplace(&Round::new(&blocks, scale), &step, entropy)
        }
    }
}

/// The candidates with the `count` largest noisy scores, with exponential noise, and by how much each is ahead of the next; that
/// of the last one is missing if there is no next.
///
/// # Errors
/// As [`once::largest`], `InvalidScale` for the step.
pub fn largest<T: Indexable, E: Entropy>(
    scores: View<'_, T>,
    scale: &Scale,
    count: usize,
    step: f64,
    entropy: &mut E,
) -> Result<(Vec<usize>, Vec<f64>), SelectError> {
    let step = Step::new(step, scale)?;
    if count == 0 || count > scores.len() {
        return if scores.is_empty() { Err(SelectError::NoCandidates) } else { Err(SelectError::InvalidCount) };
    }
    let mut comers = once::largest(scores, scale, (count + 1).min(scores.len()), entropy)?;
    let gaps = gaps_of(&mut comers, scale, &step, entropy)?;
    Ok((comers[..count].iter().map(|comer| comer.index).collect(), gaps))
}

/// The gap between each and the next.
pub fn gaps_of<T: Score, E: Entropy>(
    comers: &mut [Comer<T>],
    scale: &Scale,
    step: &Step,
    entropy: &mut E,
) -> Result<Vec<f64>, SelectError> {
    let mut gaps = reserved(comers.len())?;
    for place in 1..comers.len() {
        if let [one, other, ..] = &mut comers[place - 1..] {
            let x = Rational::from(scale.exact_exponent(one.base, other.base))
                - Rational::from(scale.exact_exponent(other.base, one.base));
            let bounds = (one.low - other.high, one.high - other.low);
            gaps.push(step.floor(bounds, |lead| clock_leads(&mut one.clock, &mut other.clock, &x, lead, entropy)));
        }
    }
    Ok(gaps)
}

/// Whether -ln(own) + x is larger than -ln(other) by at least `lead`.
fn clock_leads<E: Entropy>(own: &mut Clock, other: &mut Clock, x: &Rational, lead: &Rational, entropy: &mut E) -> bool {
    if lead <= x {
        own.is_before(&(x - lead).into(), other, entropy)
    } else {
        !other.is_before(&(lead - x).into(), own, entropy)
    }
}

/// The exponential mechanism: candidate i comes at an exponential time of rate p_i, so -ln of its time is its score plus Gumbel
/// noise. The time from the first to the second is independent of the first one's: that of a race of those who are left.
fn exponential<T: Indexable, E: Entropy>(
    scores: View<'_, T>,
    scale: &Scale,
    step: &Step,
    entropy: &mut E,
) -> Result<(usize, f64), SelectError> {
    let mut blocks = Blocks::for_one_draw(scores)?;
    let (winner, mut first) = first_by(&Round::new(&blocks, scale), entropy)?;
    let (top, mut removed) = (blocks.top(), Removed::default());
    let best_left = remove(&mut blocks, &mut removed, winner);
    blocks.lower_top(best_left);
    let round = Round { blocks: &blocks, scale, top: best_left, removed: &removed };
    let (_, mut rest) = first_by(&round, entropy)?;
    // The time left, measured from the best score, is exp(x) times the one of the second race.
    let x = Rational::from(scale.exact_exponent(top, best_left));
    let bounds = bounds_of_race(&first, &rest, scale.exponent(top, best_left));
    let gap = step.floor(bounds, |lead| race_leads(&mut first, &mut rest, &x, lead, entropy));
    Ok((winner, gap))
}

/// Who comes first, and when.
fn first_by<T: Score, E: Entropy>(round: &Round<'_, '_, T>, entropy: &mut E) -> Result<(usize, Clock), SelectError> {
    if round.about_mean_weight() > once::LIKELY {
        return exponential_mechanism::draw_with_time_from(round, &mut FlatLine::new(round), entropy);
    }
    exponential_mechanism::draw_with_time(round, entropy)
}

/// Bounds of ln(1 + e^x rest / first).
fn bounds_of_race(first: &Clock, rest: &Clock, x: f64) -> (f64, f64) {
    if x > LARGEST_EXPONENT {
        return (0.0, f64::INFINITY);
    }
    let time =
        |known: UBig, clock: &Clock| libm::scalbn(known.to_f64().value() / clock.rate as f64, -(clock.bits as i32));
    let ends = |clock: &Clock| (time(clock.known.clone(), clock), time(&clock.known + UBig::from(clock.parts), clock));
    let (first, rest) = (ends(first), ends(rest));
    // ln(1 + e^x r) = x + ln(r + e^-x); of a quotient of zeros nothing is known.
    let gap = |ratio: f64| x + libm::log(ratio + libm::exp(-x));
    let (low, high) = (gap(rest.0 / first.1), gap(rest.1 / first.0));
    let slack = |gap: f64| MARGIN * (1.0 + x + (gap - x).abs());
    let bounds = (low - slack(low), high + slack(high));
    if bounds.0.is_finite() && !bounds.1.is_nan() { bounds } else { (0.0, f64::INFINITY) }
}

/// Whether ln(1 + e^x rest / first) is at least `lead`: first (1 - e^-lead) <= rest e^(x - lead).
fn race_leads<E: Entropy>(first: &mut Clock, rest: &mut Clock, x: &Rational, lead: &Rational, entropy: &mut E) -> bool {
    let is_first_nearer = lead <= x;
    let distance: Ratio = (x - lead).into();
    let lead: Ratio = lead.clone().into();
    decide(&mut (first, rest), entropy, |(first, rest)| {
        let shared = first.bits.max(rest.bits);
        let precision = 64 + shared;
        let one = UBig::ONE << precision;
        let (missed, far) = (exp_negative(&lead, precision), exp_negative(&distance, precision));
        // Both sides over the same denominator: both rates and 2^(shared + 2 precision).
        let left = |known: &UBig, missed: &UBig, far: &UBig| {
            let far = if is_first_nearer { far } else { &one };
            ((known * UBig::from(rest.rate)) << (shared - first.bits)) * (&one - missed) * far
        };
        let right = |known: &UBig, far: &UBig| {
            let far = if is_first_nearer { &one } else { far };
            ((known * UBig::from(first.rate)) << (shared - rest.bits + precision)) * far
        };
        let end = |clock: &Clock| &clock.known + UBig::from(clock.parts);
        is_less(
            &(left(&first.known, &missed.high, &far.low), left(&end(first), &missed.low, &far.high)),
            &(right(&rest.known, &far.low), right(&end(rest), &far.high)),
        )
    })
}

fn laplace<T: Score, E: Entropy>(
    round: &Round<'_, '_, T>,
    step: &Step,
    entropy: &mut E,
) -> Result<(usize, f64), SelectError> {
    let [mut winner, mut next] = noisy_max::two_largest(round, once::split(round.blocks, 2)?.0, entropy)?;
    let is_far = |base: T| round.scale.exponent(round.top, base) > LARGEST_EXPONENT;
    let bounds = if is_far(winner.base) || is_far(next.base) {
        (0.0, f64::INFINITY)
    } else {
        (winner.low - next.high, winner.high - next.low)
    };
    let gap = step.floor(bounds, |lead| noisy_max::is_farther_above(round, &mut winner, &mut next, lead, entropy));
    Ok((winner.index, gap))
}

#[cfg(test)]
#[path = "lead_tests.rs"]
mod tests;
