//! The exponential mechanism by block rejection.
//!
//! Propose a block with probability proportional to (items) * (weight bound), an item of it uniformly, and accept with
//! exp(-x) / bound; otherwise propose again. Proofs: `proofs/exponential_mechanism.md`
//! (the law) and `proofs/exact_sampling.md` (this way of drawing); model: `tests/reference/block_rejection.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::numbers::coin::{Proposal, Stage, accept, flip};
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::Blocks;
use crate::scan::kernels::MOST_LANES;
use crate::scan::weight_bounds::WeightBounds;
use crate::selection::index_set::Visited;
use crate::selection::tries::Tries;
use crate::selection::uniform_visits::{BATCH, COST_OF_VISIT, UniformVisits};

/// About what a step takes, in nanoseconds: weighing a block, and a proposal. They only steer.
const COST_OF_BLOCK: f64 = 0.4;
const COST_OF_PROPOSAL: f64 = 40.0;
/// How many times the expected number of uniform tries may be exceeded before the blocks are weighed.
const PATIENCE: f64 = 8.0;

/// Cumulative integer weights of the stripes: what block rejection proposes from.
pub struct Proposals {
    weights: WeightBounds,
    /// `ends[s]` = sum over the stripes up to and including `s`.
    ends: Vec<u64>,
}

/// An item, the bound it was proposed with, where in its piece of the line the proposal lies, and where that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proposed {
    pub index: usize,
    pub weight: u64,
    /// Below `weight`.
    pub place: u64,
    pub end: u64,
}

impl Proposals {
    #[must_use]
    pub fn new<T: Score>(blocks: &Blocks<'_, T>, scale: &Scale) -> Self {
        let weights = WeightBounds::for_count(blocks.len());
        let mut proposals = Self { weights, ends: Vec::with_capacity(blocks.stripes()) };
        proposals.rebuild(blocks, scale);
        proposals
    }

    /// Recompute after the blocks changed.
    pub fn rebuild<T: Score>(&mut self, blocks: &Blocks<'_, T>, scale: &Scale) {
        blocks.cumulative_stripe_weights(scale, self.weights, &mut self.ends);
    }

    /// Change one stripe's weight after its blocks changed.
    pub fn refresh<T: Score>(&mut self, blocks: &Blocks<'_, T>, scale: &Scale, stripe: usize) {
        let before = self.ends[stripe] - if stripe == 0 { 0 } else { self.ends[stripe - 1] };
        let change = blocks.stripe_weight(scale, self.weights, stripe).wrapping_sub(before);
        for end in &mut self.ends[stripe..] {
            *end = end.wrapping_add(change);
        }
    }

    /// The length of the line that proposals come from: every item lies on it with its weight.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.ends[self.ends.len() - 1]
    }

    #[must_use]
    pub fn weights(&self) -> WeightBounds {
        self.weights
    }

    /// Propose an item.
    #[inline]
    pub fn propose<T: Score, E: Entropy>(
        &self,
        blocks: &Blocks<'_, T>,
        scale: &Scale,
        stripe: &mut WeighedStripe,
        entropy: &mut E,
    ) -> Proposed {
        self.at(blocks, scale, entropy.below(self.total()), stripe)
    }

    /// The item that lies at `target`, which must be below the total.
    #[inline]
    pub fn at<T: Score>(
        &self,
        blocks: &Blocks<'_, T>,
        scale: &Scale,
        target: u64,
        stripe: &mut WeighedStripe,
    ) -> Proposed {
        let number = self.ends.partition_point(|&end| end <= target);
        if stripe.number != number {
            stripe.weigh(blocks, scale, self.weights, number);
        }
        let rest = target - if number == 0 { 0 } else { self.ends[number - 1] };
        let lanes = blocks.lanes();
        let lane = stripe.ends[..lanes].partition_point(|&end| end <= rest);
        let weight = stripe.bounds[lane];
        let offset = rest - if lane == 0 { 0 } else { stripe.ends[lane - 1] };
        let (row, place) = (offset / weight, offset % weight);
        let index = blocks.stripe_range(number).start + row as usize * lanes + lane;
        Proposed { index, weight, place, end: target + (weight - place) }
    }
}

/// The blocks of the stripe that was looked at last: among few candidates the next proposal lies in it again.
pub struct WeighedStripe {
    number: usize,
    bounds: [u64; MOST_LANES],
    /// `ends[l]` = sum over the items of the blocks up to and including lane `l`.
    ends: [u64; MOST_LANES],
}

impl WeighedStripe {
    #[must_use]
    pub fn none() -> Self {
        Self { number: usize::MAX, bounds: [0; MOST_LANES], ends: [0; MOST_LANES] }
    }

    fn weigh<T: Score>(&mut self, blocks: &Blocks<'_, T>, scale: &Scale, weights: WeightBounds, number: usize) {
        self.number = number;
        blocks.block_weights(scale, weights, number, &mut self.bounds);
        let (count, lanes) = (blocks.stripe_range(number).len(), blocks.lanes());
        let (rows, incomplete) = ((count / lanes) as u64, count % lanes);
        let mut total = 0;
        for (lane, (end, weight)) in self.ends.iter_mut().zip(&self.bounds[..lanes]).enumerate() {
            total += weight * (rows + u64::from(lane < incomplete));
            *end = total;
        }
    }
}

/// One draw from a fresh index: uniform proposals for as long as these are likely to be accepted sooner than the blocks
/// are weighed, then block rejection. When to change over depends on the scores alone.
///
/// # Errors
/// `Changed`, `Interrupted`.
pub fn draw_once<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    let first = entropy.below(blocks.len() as u64) as usize;
    if flip(&blocks.exponential(scale, first), entropy) {
        return Ok(first); // among equals that is all
    }
    // A single stripe is weighed sooner than a few items are tried.
    if blocks.stripes() > 1 {
        let mut tries = UniformVisits::new(blocks, scale, entropy);
        for _ in 0..uniform_tries_worth(blocks, scale).div_ceil(BATCH) {
            interrupt::check()?;
            if let Some(index) = tries.first_heads(BATCH, entropy, |_, _| true) {
                return Ok(index);
            }
        }
    }
    draw(blocks, scale, &Proposals::new(blocks, scale), &Visited::new(), entropy)
}

/// How many more uniform tries to make: none if weighing the blocks is expected to be cheaper.
fn uniform_tries_worth<T: Score>(blocks: &Blocks<'_, T>, scale: &Scale) -> usize {
    let expected = blocks.len() as f64 / (1.0 + blocks.about_how_many_near(scale));
    let weighing = (blocks.stripes() * blocks.lanes()) as f64 * COST_OF_BLOCK;
    let proposals = blocks.block(0, 0).len as f64 * COST_OF_PROPOSAL;
    if expected * COST_OF_VISIT < weighing + proposals { (expected * PATIENCE) as usize } else { 0 }
}

/// Draw a candidate by the exponential mechanism, never one of `removed`.
///
/// # Errors
/// `Changed`, `Interrupted`.
pub fn draw<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    proposals: &Proposals,
    removed: &Visited,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    let weights = proposals.weights;
    let mut stripe = WeighedStripe::none();
    let mut tries = Tries::default();
    loop {
        let Proposed { index, weight, place, .. } = proposals.propose(blocks, scale, &mut stripe, entropy);
        let score = blocks.get(index);
        // The item keeps as many places of its piece of the line as its own bound says: most proposals end here.
        let own = weights.of(scale, blocks.top(), score).min(weight);
        if place < own {
            let x = blocks.exponential_of(scale, score);
            let proposal = Proposal::Weight { weight: own, bits: weights.bits };
            if accept(&x, proposal, Stage::WHOLE, entropy) && !removed.contains(index) {
                return Ok(index);
            }
        }
        tries.failed(|| blocks.still_hold(|index| !removed.contains(index)))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::scan::score_view::View;

    #[test]
    fn draws_from_scores_that_were_lowered_after_the_index_end_with_an_error() {
        let mut scores: Vec<f64> = (0..500).map(f64::from).collect();
        let memory = scores.as_mut_ptr();
        // SAFETY: as many doubles, alive and not moved to the end of the test.
        let view = unsafe { View::new(memory.cast_const(), 500, 8) };
        let (blocks, scale) = (Blocks::new(view).unwrap(), Scale::new(1.0, 1.0, 1).unwrap());
        let proposals = Proposals::new(&blocks, &scale);
        let draw = || draw(&blocks, &scale, &proposals, &Visited::new(), &mut seeded(44));
        assert!(draw().is_ok());
        // SAFETY: as above; nobody refers to them.
        (0..500).for_each(|index| unsafe { memory.add(index).write(-1e6) });
        assert_eq!(draw(), Err(SelectError::Changed));
    }
}
