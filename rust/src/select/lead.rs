//! By how much a winner is ahead: the gap between its noisy score and the next one, rounded down to a public step.
//!
//! A gap is a real number of which only the bits asked for exist. Whether it reaches a multiple of the step is decided as the real
//! numbers would decide it: in doubles where their margins allow, else in integers.
//! Proof: `proofs/free_gap.md`; model: `tests/reference/exponential_once.py`.

use std::cell::LazyCell;

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::error::{SelectError, reserved};
use crate::exact::decision::{decide, is_less};
use crate::exact::exp_enclosure::exp_negative;
use crate::exact::lazy_time::Clock;
use crate::exact::ranked_uniform::RankedUniform;
use crate::exact::rational::{Rational, exactly};
use crate::scores::block_index::Blocks;
use crate::scores::scale::Scale;
use crate::scores::score::Score;
use crate::scores::score_view::View;
use crate::select::many_draws::Law;
use crate::select::once::{self, NoisyCandidate};
use crate::select::removed::Removed;
use crate::select::top_k::remove;
use crate::select::weight_line::{BlockLine, Proposals, Round};
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
            let gaps = gaps_of(&mut candidates, scale, &step, entropy)?;
            Ok((candidates[0].index, gaps[0]))
        }
        Law::Exponential => exponential(scores, scale, &step, entropy),
        Law::LaplaceNoisyMax => laplace(Blocks::new(scores)?, scale, &step, entropy),
    }
}

/// The candidates with the `count` largest noisy scores, with exponential noise, and by how much each is ahead of the next; that
/// of the last one is missing if there is no next.
///
/// # Errors
/// As [`once::largest`], `InvalidScale` for the step.
pub fn largest(
    scores: View<'_>,
    scale: &Scale,
    count: usize,
    step: f64,
    entropy: &mut Entropy,
) -> Result<(Vec<usize>, Vec<f64>), SelectError> {
    let step = Step::new(step, scale)?;
    if count == 0 || count > scores.len() {
        return if scores.is_empty() { Err(SelectError::NoCandidates) } else { Err(SelectError::InvalidCount) };
    }
    let mut candidates = once::largest(scores, scale, (count + 1).min(scores.len()), entropy)?;
    let gaps = gaps_of(&mut candidates, scale, &step, entropy)?;
    Ok((candidates[..count].iter().map(|candidate| candidate.index).collect(), gaps))
}

/// The gap between each and the next.
pub fn gaps_of(
    candidates: &mut [NoisyCandidate],
    scale: &Scale,
    step: &Step,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    let mut gaps = reserved(candidates.len())?;
    for place in 1..candidates.len() {
        if let [one, other, ..] = &mut candidates[place - 1..] {
            let (base, base_of_other) = (one.base, other.base);
            let x =
                LazyCell::new(|| scale.exact_exponent(base, base_of_other) - scale.exact_exponent(base_of_other, base));
            let bounds = (one.low - other.high, one.high - other.low);
            gaps.push(step.floor(bounds, |lead| clock_leads(&mut one.clock, &mut other.clock, &x, lead, entropy)));
        }
    }
    Ok(gaps)
}

/// Whether -ln(own) + x is larger than -ln(other) by at least `lead`.
fn clock_leads(own: &mut Clock, other: &mut Clock, x: &Rational, lead: &Rational, entropy: &mut Entropy) -> bool {
    if lead <= x { own.is_before(&(x - lead), other, entropy) } else { !other.is_before(&(lead - x), own, entropy) }
}

/// The exponential mechanism: candidate i arrives at an exponential time of rate p_i, so -ln of its time is its score plus Gumbel
/// noise. The time from the first to the second is independent of the first one's: that of a process of those that are left.
fn exponential(
    scores: View<'_>,
    scale: &Scale,
    step: &Step,
    entropy: &mut Entropy,
) -> Result<(usize, f64), SelectError> {
    let mut blocks = Blocks::new(scores)?;
    let first = Process::run(&Round::new(&blocks, scale), entropy)?;
    let (top, mut removed) = (blocks.top(), Removed::default());
    let best_left = remove(&mut blocks, &mut removed, first.winner);
    blocks.lower_top(best_left);
    let rest = Process::run(&Round { blocks: &blocks, scale, top: best_left, removed: &removed }, entropy)?;
    // The time left, measured from the best score, is exp(x) times the one of the second process.
    let mut times = Times::draw(&first, &rest, entropy);
    let bounds = times.bounds(scale.exponent(top, best_left));
    let x = LazyCell::new(|| scale.exact_exponent(top, best_left));
    let gap = step.floor(bounds, |lead| times.lead_by(&x, lead, entropy));
    Ok((first.winner, gap))
}

/// The Poisson process of the exponential mechanism's proposals, until one is accepted.
struct Process {
    winner: usize,
    /// How many proposals there were, the accepted one among them.
    proposals: u64,
    /// At which rate, times a power of two that is the same for all processes among so many candidates.
    rate: u64,
}

impl Process {
    fn run(round: &Round<'_, '_>, entropy: &mut Entropy) -> Result<Self, SelectError> {
        let line = BlockLine::new(round);
        let (mut line, mut proposals) = (line.of(round), 0);
        let winner = exponential_mechanism::draw_from(round, &mut line, |_| proposals += 1, entropy)?;
        Ok(Self { winner, proposals, rate: line.total() })
    }
}

/// The times of two processes, one after the other: Gamma variates of their proposals over their rates. How the sum of both variates
/// is divided is all that a gap asks for, and as one uniform in the order of several.
struct Times {
    /// The first one's share.
    share: RankedUniform,
    rates: [u64; 2],
}

impl Times {
    fn draw(first: &Process, rest: &Process, entropy: &mut Entropy) -> Self {
        let count = first.proposals + rest.proposals - 1;
        Self { share: RankedUniform::draw(first.proposals - 1, count, entropy), rates: [first.rate, rest.rate] }
    }

    /// Bounds of ln(1 + e^x rest / first).
    fn bounds(&self, x: f64) -> (f64, f64) {
        if x > LARGEST_EXPONENT {
            return (0.0, f64::INFINITY);
        }
        let head = self.share.head();
        let ratio = |rest: f64, first: f64| rest / first * (self.rates[0] as f64 / self.rates[1] as f64);
        // What is left of the whole is subtracted in integers: of a share near 1 a double would leave nothing.
        let left = ((1_u128 << 64) - u128::from(head)) as f64;
        let least_left = (u64::MAX - head) as f64;
        let (least, most) = (ratio(least_left, head as f64 + 1.0), ratio(left, head as f64));
        // ln(1 + e^x r) = x + ln(r + e^-x)
        let gap = |ratio: f64| x + libm::log(ratio + libm::exp(-x));
        let slack = |gap: f64| MARGIN * (1.0 + x + (gap - x).abs());
        let (low, high) = (gap(least), gap(most));
        let bounds = (low - slack(low), high + slack(high));
        if bounds.0.is_finite() && !bounds.1.is_nan() { bounds } else { (0.0, f64::INFINITY) }
    }

    /// Whether ln(1 + e^x rest / first) is at least `lead`: first (1 - e^-lead) <= rest e^(x - lead).
    fn lead_by(&mut self, x: &Rational, lead: &Rational, entropy: &mut Entropy) -> bool {
        let is_first_nearer = lead <= x;
        let distance = (x - lead).abs();
        let [first_rate, rest_rate] = self.rates.map(UBig::from);
        decide(&mut self.share, entropy, |share| {
            let (cell, bits) = share.cell();
            let precision = 64 + bits;
            let one = UBig::ONE << precision;
            let (missed, far) = (exp_negative(lead, precision), exp_negative(&distance, precision));
            // Both sides over the same denominator: both rates and 2^(bits + 2 precision).
            let left = |share: &UBig, missed: &UBig, far: &UBig| {
                let far = if is_first_nearer { far } else { &one };
                share * &rest_rate * (&one - missed) * far
            };
            let right = |share: &UBig, far: &UBig| {
                let far = if is_first_nearer { &one } else { far };
                ((share * &first_rate) << precision) * far
            };
            let (end, whole) = (&cell + UBig::ONE, UBig::ONE << bits);
            is_less(
                &(left(&cell, &missed.high, &far.low), left(&end, &missed.low, &far.high)),
                &(right(&(&whole - &end), &far.low), right(&(&whole - &cell), &far.high)),
            )
        })
    }
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
