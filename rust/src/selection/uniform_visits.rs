//! Visits to items drawn uniformly and independently, each with a coin that shows heads with probability exp(-x).
//!
//! The visits are a line of items like any other, so the coins of a whole batch may be thinned at a glance. Proofs:
//! `proofs/exact_sampling.md`, "Rejection and thinning"; models: `tests/reference/thinning.py`, `block_rejection.py`.

use crate::entropy::Entropy;
use crate::numbers::coin::{Proposal, Stage, accept, flip};
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::Blocks;
use crate::scan::weight_bounds::WeightBounds;
use crate::selection::thinning::{Skipper, rate_for};

/// Visits at a time: their cache misses overlap, and one comparison says that all of them show tails.
pub const BATCH: usize = 64;
/// About what a visit takes, in nanoseconds. It only steers.
pub const COST_OF_VISIT: f64 = 6.0;

/// A walk along uniform visits.
pub struct UniformVisits<'v, 'a, T> {
    blocks: &'v Blocks<'a, T>,
    scale: &'v Scale,
    weights: WeightBounds,
    skipper: Skipper,
    /// Who was visited in the last batch.
    batch: [usize; BATCH],
}

impl<'v, 'a, T: Score> UniformVisits<'v, 'a, T> {
    pub fn new<E: Entropy>(blocks: &'v Blocks<'a, T>, scale: &'v Scale, entropy: &mut E) -> Self {
        let weights = WeightBounds::for_count(blocks.len());
        Self { blocks, scale, weights, skipper: Skipper::new(entropy), batch: [0; BATCH] }
    }

    /// The first heads of `count` more visits, but for those that do not count: `counts` is told who came before in
    /// this batch, and who shows heads. The walk must not go on after an answer.
    #[inline]
    pub fn first_heads<E: Entropy>(
        &mut self,
        count: usize,
        entropy: &mut E,
        counts: impl Fn(&[usize], usize) -> bool,
    ) -> Option<usize> {
        let (blocks, scale, weights) = (self.blocks, self.scale, self.weights);
        let (mut scores, mut bounds) = ([blocks.top(); BATCH], [0; BATCH]);
        let (scores, bounds) = (&mut scores[..count], &mut bounds[..count]);
        for (index, score) in self.batch.iter_mut().zip(&mut *scores) {
            *index = entropy.below(blocks.len() as u64) as usize;
            *score = blocks.get(*index);
        }
        let filled = blocks.score_bounds(scale, weights, scores, bounds);
        if filled.largest <= weights.half() && self.skipper.passes(filled.sum, weights.bits) {
            return None;
        }
        for (place, (&score, &weight)) in scores.iter().zip(&*bounds).enumerate() {
            let x = blocks.exponential_of(scale, score);
            let shows_heads = if weight > weights.half() {
                flip(&x, entropy)
            } else {
                let rate = rate_for(weight, weights.bits);
                self.skipper.next(1, rate, entropy).is_some()
                    && accept(&x, Proposal::Thinned { rate }, Stage::WHOLE, entropy)
            };
            if shows_heads && counts(&self.batch[..place], self.batch[place]) {
                return Some(self.batch[place]);
            }
        }
        None
    }

    /// Who was visited in the last batch, which had `count` visits.
    pub fn last(&self, count: usize) -> &[usize] {
        &self.batch[..count]
    }
}
