//! Permute-and-flip: the first head in a uniformly random order of the candidates.
//!
//! Candidate i has a coin with heads probability p_i = exp(-x_i), where its score lies x_i scales below the best one. The first head in a
//! random order is a uniform one of all heads. Some best candidate always shows heads. A single draw from few candidates is made as this
//! says, in `few.rs`; any other has two steps:
//!
//! * **Visits**: up to 16 candidates in a random order, or one where the line below is at hand. Where many scores are near the top, one
//!   of them most likely shows heads.
//! * **Stages**: every head among the others has an *arrival time*, uniform in [0, 1), and the first to arrive is a uniform head.
//!   The time is divided into stages. Stage after stage lists by thinning which candidates arrive in it, until one does: it throws a
//!   Poisson number of points onto a line on which every item has a piece of whole length, at least 2^bits p_i, and proposes the items
//!   that are hit. In the last stage, which begins at 1/2 exactly, as lengths are powers of two, a best candidate arrives with certainty.
//!
//! Visited tails stay tails, so the law does not depend on how many visits there are, nor on the stages.
//!
//! How long a draw takes depends on the scores: on average a number of proposals that does not grow with the number of items, in
//! stages of which there are about as many as the logarithm of the line's length. `docs/sharp-edges.md` says what that tells, and
//! what is measured.
//!
//! Read `draw_once` first: it calls `visit`, and then `uniform_head` and `list`. What is kept of a stage's arrivals is a
//! uniform one of them ([`UniformArrival`]), or all where their times matter (`once.rs`).
//! Proofs: `proofs/permute_and_flip.md` (the law), `proofs/exact_sampling.md` (Propositions 2 to 6); models:
//! `tests/reference/thinning.py`, `tests/reference/stages.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{Proposal, RATE_BITS, Stage, accept, flip};
use crate::exact::poisson::poisson;
use crate::interrupt;
use crate::select::weight_line::{BlockLine, Round, WeightLine};

/// Visits before the stages: they cost less than a line of bounds.
const VISITS: usize = 16;
/// Visits where a line is at hand already.
const VISITS_BESIDE_A_LINE: usize = 1;
/// A stage is twice as long as those before when this many of its length are over; a power of two.
const STAGES_BEFORE_LONGER: u64 = 4;
/// Items between two checks for Ctrl-C.
const CHECK_EVERY: usize = 4096;

/// One draw from a fresh index.
pub fn draw_once(round: &Round<'_, '_>, entropy: &mut Entropy) -> Result<usize, SelectError> {
    let mut tails = Tails::default();
    if let Some(index) = visit(VISITS, round, &mut tails, entropy) {
        return Ok(index);
    }
    uniform_head(round, &mut BlockLine::new(round).of(round), &tails, entropy)
}

/// Draw a candidate with a line of bounds at hand, which was made for this round: one of many draws, or of a row of rounds.
pub fn draw_from(
    round: &Round<'_, '_>,
    line: &mut impl WeightLine,
    entropy: &mut Entropy,
) -> Result<usize, SelectError> {
    let mut tails = Tails::default();
    if let Some(index) = visit(VISITS_BESIDE_A_LINE, round, &mut tails, entropy) {
        return Ok(index);
    }
    uniform_head(round, line, &tails, entropy)
}

/// Candidates that showed tails.
#[derive(Default)]
struct Tails {
    indices: [usize; VISITS],
    count: usize,
}

impl Tails {
    #[inline]
    fn contains(&self, index: usize) -> bool {
        self.indices[..self.count].contains(&index)
    }
}

/// Flip the coins of a few candidates in random order; the first that shows heads.
#[inline]
fn visit(visits: usize, round: &Round<'_, '_>, tails: &mut Tails, entropy: &mut Entropy) -> Option<usize> {
    for _ in 0..visits {
        let index = entropy.below(round.blocks.len() as u64) as usize;
        // One that was seen before uses up a visit and is not looked at again: the order of those that are new is uniform.
        if round.removed.contains(index) || tails.contains(index) {
            continue;
        }
        if flip(&round.exponential(index), entropy) {
            return Some(index);
        }
        tails.indices[tails.count] = index;
        tails.count += 1;
    }
    None
}

/// A uniform one of the heads among the candidates that were not visited: of the arrivals of the first stage that has any, at the
/// latest of the last one, in which a best candidate arrives.
fn uniform_head(
    round: &Round<'_, '_>,
    line: &mut impl WeightLine,
    tails: &Tails,
    entropy: &mut Entropy,
) -> Result<usize, SelectError> {
    let is_out = |index| round.removed.contains(index) || tails.contains(index);
    if let Some(head) = before_one_half(round, line, is_out, entropy)? {
        return Ok(head);
    }
    let mut arrivals = UniformArrival::default();
    list_last(round, line, is_out, &mut arrivals, entropy)?;
    if arrivals.is_empty() { Err(SelectError::Changed) } else { Ok(arrivals.chosen) }
}

/// What is kept of the candidates that arrive in a stage, as they are found.
pub trait Arrivals {
    fn add(&mut self, index: usize, entropy: &mut Entropy);
}

/// A uniform one of them: a reservoir of one.
#[derive(Default)]
pub struct UniformArrival {
    count: u64,
    pub chosen: usize,
}

impl UniformArrival {
    fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Arrivals for UniformArrival {
    #[inline]
    fn add(&mut self, index: usize, entropy: &mut Entropy) {
        self.count += 1;
        if entropy.below(self.count) == 0 {
            self.chosen = index;
        }
    }
}

/// All of them.
impl Arrivals for Vec<usize> {
    fn add(&mut self, index: usize, _: &mut Entropy) {
        self.push(index);
    }
}

/// List the arrivals of the last stage: a best candidate arrives with certainty, and likely ones have coins of their own.
pub fn list_last<A: Arrivals, L: WeightLine>(
    round: &Round<'_, '_>,
    line: &mut L,
    is_out: impl Fn(usize) -> bool + Copy,
    arrivals: &mut A,
    entropy: &mut Entropy,
) -> Result<(), SelectError> {
    list(LAST, round, line, is_out, arrivals, entropy)?;
    let mut looked_at = 0_usize;
    line.visit_likely(|index| {
        looked_at += 1;
        if looked_at.is_multiple_of(CHECK_EVERY) {
            interrupt::check_deep();
        }
        if !is_out(index) && accept(&round.exponential(index), Proposal::Certain, LAST, entropy) {
            arrivals.add(index, entropy);
        }
    });
    Ok(())
}

/// A uniform one of the arrivals of the first of ever longer stages of [0, 1/2) that has any; `None` if none has.
pub fn before_one_half<L: WeightLine>(
    round: &Round<'_, '_>,
    line: &mut L,
    is_out: impl Fn(usize) -> bool + Copy,
    entropy: &mut Entropy,
) -> Result<Option<usize>, SelectError> {
    let mut stage = first_stage(line, L::FIRST);
    while 2 * stage.end <= 1 << stage.bits {
        let mut arrivals = UniformArrival::default();
        list(stage, round, line, is_out, &mut arrivals, entropy)?;
        if !arrivals.is_empty() {
            return Ok(Some(arrivals.chosen));
        }
        stage = stage_after(stage);
    }
    Ok(None)
}

/// About as many proposals as are wanted fall in the first stage, unless rates, which are multiples of 2^-`RATE_BITS`, leave no
/// room for one so short: three bits are for the quotient in `unit_rate`, and a line has at most 40 (`WeightBounds`).
pub fn first_stage(line: &impl WeightLine, wanted: u64) -> Stage {
    let units = (line.total() / wanted) >> line.bits();
    Stage { start: 0, end: 1, bits: units.max(2).ilog2().min(RATE_BITS - 3 - line.bits()) }
}

/// The stage that follows one that ends at 1/2 or before. Longer stages later, but short beside the time that is over, so that the
/// stage with the first arrival has few others.
pub fn stage_after(stage: Stage) -> Stage {
    let length = 1 << (stage.end / STAGES_BEFORE_LONGER).max(1).ilog2();
    Stage { start: stage.end, end: stage.end + length, bits: stage.bits }
}

/// The second half of the time.
pub const LAST: Stage = Stage { start: 1, end: 2, bits: 1 };

/// List the candidates that arrive in `stage`, given that they did not before; in the last stage without those whose piece of the
/// line is longer than one half.
pub fn list<A: Arrivals, L: WeightLine>(
    stage: Stage,
    round: &Round<'_, '_>,
    line: &mut L,
    is_out: impl Fn(usize) -> bool,
    arrivals: &mut A,
    entropy: &mut Entropy,
) -> Result<(), SelectError> {
    let unit = unit_rate(stage, line.bits());
    let most_thinned = if stage == LAST { 1 << (line.bits() - 1) } else { u64::MAX };
    let count = poisson(u128::from(line.total()) * u128::from(unit), entropy);
    let mut hit = Vec::new();
    for number in 0..count {
        if number % CHECK_EVERY == CHECK_EVERY - 1 {
            interrupt::check()?;
        }
        let place = line.propose(entropy);
        if place.weight > most_thinned {
            continue;
        }
        // Only the first part of the item's piece, as long as the item's own bound, is the item's.
        let own = line.own_weight(&place);
        if place.into < own {
            hit.push((place.index, own));
        }
    }
    hit.sort_unstable();
    hit.dedup_by_key(|(index, _)| *index);
    for (number, (index, own)) in hit.into_iter().enumerate() {
        if number % CHECK_EVERY == CHECK_EVERY - 1 {
            interrupt::check()?;
        }
        let proposal = Proposal::Thinned { rate: own * unit };
        if !is_out(index) && accept(&round.exponential(index), proposal, stage, entropy) {
            arrivals.add(index, entropy);
        }
    }
    Ok(())
}

/// The rate of weight 1, such that an item of weight w is proposed with at least the probability with which it arrives in `stage`.
///
/// In [s, t) that takes a rate of ln((1 - s w) / (1 - t w)), which is convex in w and 0 at 0. So what is enough for w = 1
/// is enough for all: (t - s) / (1 - t), as ln(1 + y) <= y. In the last stage w is at most 1/2, where ln(3/2) < 1/2.
fn unit_rate(stage: Stage, bits: u32) -> u64 {
    if stage == LAST {
        return 1 << (RATE_BITS - bits);
    }
    let length = u128::from(stage.end - stage.start) << (RATE_BITS - bits);
    length.div_ceil((1 << stage.bits) - u128::from(stage.end)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::scores::block_index::Blocks;
    use crate::scores::scale::Scale;
    use crate::scores::score_view::View;
    use crate::testing::assert_law;

    #[test]
    fn heads_far_from_the_top_arrive_as_often_as_they_should() {
        // One best among many stripes that are far off one by one, but not all together; the last stripe is short.
        for (len, gap) in [(140 * 1024 + 300, 26.0), (80 * 1024, 25.0), (3000, 16.0)] {
            let mut scores = vec![0.0; len];
            scores[len / 2] = gap;
            let (scale, wrong) = (Scale::new(1.0, 1.0, 2).unwrap(), Scale::new(1.0, 1.1, 2).unwrap());
            let blocks = Blocks::new(View::of(&scores)).unwrap();
            // Of n others with heads of probability p the best is the one returned with E[1 / (1 + heads)].
            let best = |scale: &Scale| {
                let (n, p) = (len as f64 - 1.0, (-scale.exponent(gap, 0.0)).exp());
                let best = (1.0 - (1.0 - p).powf(n + 1.0)) / ((n + 1.0) * p);
                [best, 1.0 - best]
            };
            let mut entropy = seeded(6);
            assert_law(&format!("{len} items"), 20_000, &best(&scale), &best(&wrong), || {
                usize::from(draw_once(&Round::new(&blocks, &scale), &mut entropy).unwrap() != len / 2)
            });
        }
    }
}
