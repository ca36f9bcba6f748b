//! Exponential noise once on all scores: the candidates with the `count` largest noisy scores, in order.
//!
//! In units of the scale candidate i stands at y = -x + E, and e^-y is its time: uniform on [0, 1/p), p = e^-x. So the largest
//! noisy scores are the first to arrive, by the clock of `permute_and_flip.rs`. Times are measured from the `count`-th largest score,
//! so by time 1 enough have arrived. Candidates with larger scores are fewer than `count`, and get a time each. All others are listed
//! stage after stage, until enough have certainly arrived. Their order is decided by bits drawn as needed.
//! Proof: `proofs/exponential_once.md`; model: `tests/reference/exponential_once.py`.

use std::cmp::Ordering;

use crate::entropy::Entropy;
use crate::error::{SelectError, reserved};
use crate::exact::coin::{LazyUniform, Stage, TWO_TO_64, power_of_two};
use crate::exact::lazy_time::Clock;
use crate::exact::rational::Rational;
use crate::interrupt;
use crate::scores::block_index::{Block, Blocks};
use crate::scores::scale::Scale;
use crate::scores::score::Score;
use crate::scores::score_view::View;
use crate::select::permute_and_flip::{LAST, first_stage, list, list_last, stage_after};
use crate::select::removed::Removed;
use crate::select::weight_line::{BlockLine, Round, visit_blocks};

/// Wider than all rounding errors in the enclosures below, relative to exponent and noise.
const MARGIN: f64 = 1e-12;
/// Larger exponents are known as doubles only from below.
const LARGEST_EXPONENT: f64 = 5e17;

/// A candidate with its noise: its noisy score is `base / b` - ln(time), in units of the scale.
pub struct NoisyCandidate {
    pub index: usize,
    /// The larger of its score and the score that times are measured from.
    pub base: Score,
    pub clock: Clock,
    /// The noisy score above that one lies between these.
    pub low: f64,
    pub high: f64,
}

impl NoisyCandidate {
    /// One whose time lies in `stage`, at the place `uniform` of it; `excess` is the exponent of its base.
    fn new(index: usize, base: Score, excess: f64, stage: Stage, uniform: &LazyUniform) -> Self {
        let clock = Clock::within(stage.start, stage.end - stage.start, stage.bits, uniform);
        let (start, length) = (stage.start as f64, (stage.end - stage.start) as f64);
        let place = |head: f64| (start + length * (head / TWO_TO_64)) * power_of_two(-(stage.bits as i32));
        // The time lies between these; each carries a relative error of a few 2^-53.
        let (earliest, latest) = (place(uniform.head() as f64), place(uniform.head() as f64 + 1.0));
        let (nearest, farthest) = (-libm::log(latest), -libm::log(earliest)); // minus the logarithm of 0 is infinite
        if excess > LARGEST_EXPONENT {
            return Self { index, base, clock, low: LARGEST_EXPONENT, high: f64::INFINITY };
        }
        let slack = MARGIN * (1.0 + excess + nearest.abs());
        let high = farthest + excess + MARGIN * (1.0 + excess + farthest.abs());
        Self { index, base, clock, low: nearest + excess - slack, high }
    }

    /// Whether its noisy score is the larger one, as real numbers (they are equal with probability zero).
    pub fn is_above(&mut self, other: &mut Self, scale: &Scale, entropy: &mut Entropy) -> bool {
        if self.low > other.high || other.low > self.high {
            return self.low > other.high;
        }
        let x = exact_lead(scale, self.base, other.base);
        self.clock.is_before(&x, &mut other.clock, entropy)
    }
}

/// By how many scales one score lies above another; negative if it lies below.
pub(super) fn exact_lead(scale: &Scale, one: Score, other: Score) -> Rational {
    scale.exact_exponent(one, other) - scale.exact_exponent(other, one)
}

/// The candidates with the `count` largest noisy scores, the largest first.
///
/// # Errors
/// As [`Blocks::new`], `InvalidCount` unless `1 <= count <= scores.len()`, `Interrupted`, or `Changed` if the scores were
/// overwritten meanwhile.
pub fn largest(
    scores: View<'_>,
    scale: &Scale,
    count: usize,
    entropy: &mut Entropy,
) -> Result<Vec<NoisyCandidate>, SelectError> {
    let mut blocks = Blocks::new(scores)?;
    if count == 0 || count > blocks.len() {
        return Err(SelectError::InvalidCount);
    }
    let (least, above) = split(&blocks, count)?;
    let removed = take_out(&mut blocks, &above);
    blocks.lower_top(least);
    let round = Round { blocks: &blocks, scale, top: least, removed: &removed };
    let mut candidates = reserved(2 * count)?;
    for &(index, score) in &above {
        let uniform = LazyUniform::draw(entropy);
        candidates.push(NoisyCandidate::new(index, score, scale.exponent(score, least), Stage::WHOLE, &uniform));
    }
    add_others(&round, count, &mut candidates, entropy)?;
    if candidates.len() < count {
        return Err(SelectError::Changed);
    }
    sort(&mut candidates, scale, entropy)?;
    candidates.truncate(count);
    Ok(candidates)
}

/// The `count`-th largest score, and all that are larger, with their indices: fewer than `count`.
pub(super) fn split(blocks: &Blocks<'_>, count: usize) -> Result<(Score, Vec<(usize, Score)>), SelectError> {
    let mut least = None;
    // A level that as many stripes reach, then one that as many blocks reach: at least as many scores do.
    if blocks.stripes() >= count {
        let mut maxima: Vec<Score> = (0..blocks.stripes()).map(|stripe| blocks.stripe_maximum(stripe)).collect();
        least = Some(*maxima.select_nth_unstable_by(count - 1, descending).1);
    }
    let is_above = |least: Option<Score>, score: Score| least.is_none_or(|least| score > least);
    let mut maxima = Vec::new();
    for stripe in (0..blocks.stripes()).filter(|&stripe| is_above(least, blocks.stripe_maximum(stripe))) {
        interrupt::check()?;
        // Of a short stripe the last blocks are empty.
        let filled = blocks.stripe_range(stripe).len().min(blocks.lanes());
        let of_blocks = (0..filled).map(|lane| blocks.block_maximum(stripe, lane));
        maxima.extend(of_blocks.filter(|&score| is_above(least, score)));
    }
    if maxima.len() >= count {
        least = Some(*maxima.select_nth_unstable_by(count - 1, descending).1);
    }
    let mut above = Vec::new();
    visit_blocks(
        blocks,
        |maximum| is_above(least, maximum),
        |index, score| {
            if is_above(least, score) {
                above.push((index, score));
            }
        },
    );
    // Else fewer than `count` scores lie above a level that at least so many reach.
    if above.len() >= count {
        let last = above.select_nth_unstable_by(count - 1, |one, other| descending(&one.1, &other.1)).1.1;
        above.truncate(count - 1);
        above.retain(|&(_, score)| score > last);
        return Ok((last, above));
    }
    least.map(|least| (least, above)).ok_or(SelectError::Changed)
}

/// The largest first; a total order, even of scores that are replaced by NaN meanwhile.
fn descending(one: &Score, other: &Score) -> Ordering {
    let is_number = |score: &Score| score.partial_cmp(score).is_some();
    other.partial_cmp(one).unwrap_or_else(|| is_number(other).cmp(&is_number(one)))
}

/// Take candidates out of the index: their blocks' maxima are those of what is left.
pub(super) fn take_out(blocks: &mut Blocks<'_>, out: &[(usize, Score)]) -> Removed {
    let mut removed = Removed::default();
    for &(index, _) in out {
        removed.insert(index, blocks.len());
    }
    let mut changed: Vec<Block> = out.iter().map(|&(index, _)| blocks.block_of(index)).collect();
    changed.sort_unstable_by_key(|block| block.first);
    changed.dedup();
    for block in changed {
        let left = blocks.items(block).filter(|&item| !removed.contains(item)).map(|item| blocks.get(item));
        let maximum = left.reduce(Score::or_larger);
        blocks.replace_maximum(block, maximum);
    }
    removed
}

/// Add those that are not among the `candidates` yet, in the order of ever later stages, until `count` have certainly arrived.
fn add_others(
    round: &Round<'_, '_>,
    count: usize,
    candidates: &mut Vec<NoisyCandidate>,
    entropy: &mut Entropy,
) -> Result<(), SelectError> {
    let line = BlockLine::new(round);
    let mut line = line.of(round);
    let leaders = candidates.len();
    let mut arrived = Removed::default();
    let mut stage = first_stage(&line, count as u64 + 1);
    loop {
        interrupt::check()?;
        let is_last = 2 * stage.end > 1 << stage.bits;
        let mut listed = Vec::new();
        let is_out = |index| round.removed.contains(index) || arrived.contains(index);
        if is_last {
            stage = LAST;
            list_last(round, &mut line, is_out, &mut listed, entropy)?;
        } else {
            list(stage, round, &mut line, is_out, &mut listed, entropy)?;
        }
        for index in listed {
            arrived.insert(index, round.blocks.len());
            candidates.push(NoisyCandidate::new(index, round.top, 0.0, stage, &LazyUniform::draw(entropy)));
        }
        // What arrives before the end of the stage stands above this.
        let level = stage.bits as f64 * std::f64::consts::LN_2 - libm::log(stage.end as f64) + MARGIN;
        let have_arrived = candidates[..leaders].iter().filter(|leader| leader.low > level).count();
        if is_last || have_arrived + candidates.len() - leaders >= count {
            return Ok(());
        }
        stage = stage_after(stage);
    }
}

/// The largest noisy score first. What doubles say of the order is right nearly everywhere: exact comparisons of neighbours
/// correct the rest.
fn sort(candidates: &mut [NoisyCandidate], scale: &Scale, entropy: &mut Entropy) -> Result<(), SelectError> {
    candidates.sort_unstable_by(|one, other| other.low.total_cmp(&one.low));
    for end in 1..candidates.len() {
        if end.is_multiple_of(4096) {
            interrupt::check()?;
        }
        let mut place = end;
        while let [.., above, below] = &mut candidates[..=place]
            && below.is_above(above, scale, entropy)
        {
            std::mem::swap(above, below);
            place -= 1;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "once_tests.rs"]
mod tests;
