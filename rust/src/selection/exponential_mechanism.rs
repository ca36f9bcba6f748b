//! The exponential mechanism by block rejection.
//!
//! Propose a block with probability proportional to (items) * (weight bound), an item of it uniformly, and accept with
//! exp(-x) / bound; otherwise propose again. Proofs: `proofs/exponential_mechanism.md`
//! (the law) and `proofs/exact_sampling.md` (this way of drawing); model: `tests/reference/block_rejection.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::numbers::coin::{Proposal, Stage, accept};
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::{Blocks, MOST_LANES, Weights};
use crate::selection::index_set::Visited;
use crate::selection::tries::Tries;

/// Cumulative integer weights of the stripes: what block rejection proposes from.
pub struct Proposals {
    weights: Weights,
    /// `ends[s]` = sum over the stripes up to and including `s`.
    ends: Vec<u64>,
}

/// An item, the bound it was proposed with, and where on the line it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proposed {
    pub index: usize,
    pub weight: u64,
    pub end: u64,
}

impl Proposals {
    #[must_use]
    pub fn new<T: Score>(blocks: &Blocks<'_, T>, scale: &Scale) -> Self {
        let weights = Weights::for_count(blocks.len());
        let mut proposals = Self { weights, ends: Vec::with_capacity(blocks.stripes()) };
        proposals.rebuild(blocks, scale);
        proposals
    }

    /// Recompute after the blocks changed.
    pub fn rebuild<T: Score>(&mut self, blocks: &Blocks<'_, T>, scale: &Scale) {
        self.ends.clear();
        let mut total = 0;
        for stripe in 0..blocks.stripes() {
            total += blocks.stripe_weight(scale, self.weights, stripe);
            self.ends.push(total);
        }
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
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// Propose an item.
    #[inline]
    pub fn propose<T: Score, E: Entropy>(
        &self,
        blocks: &Blocks<'_, T>,
        scale: &Scale,
        bounds: &mut [u64; MOST_LANES],
        entropy: &mut E,
    ) -> Proposed {
        self.at(blocks, scale, entropy.below(self.total()), bounds)
    }

    /// The item that lies at `target`, which must be below the total.
    #[inline]
    pub fn at<T: Score>(
        &self,
        blocks: &Blocks<'_, T>,
        scale: &Scale,
        target: u64,
        bounds: &mut [u64; MOST_LANES],
    ) -> Proposed {
        let stripe = self.ends.partition_point(|&end| end <= target);
        let mut rest = target - if stripe == 0 { 0 } else { self.ends[stripe - 1] };
        let range = blocks.stripe_range(stripe);
        let lanes = blocks.lanes();
        let (rows, incomplete) = ((range.len() / lanes) as u64, range.len() % lanes);
        let bounds = blocks.block_weights(scale, self.weights, stripe, bounds);
        // Eight lanes at a glance, as long as their blocks are equally long.
        let mut first = 0;
        if incomplete == 0 {
            for eight in bounds.chunks_exact(8) {
                let weight = eight.iter().sum::<u64>() * rows;
                if rest < weight {
                    break;
                }
                rest -= weight;
                first += 8;
            }
        }
        for (lane, &weight) in bounds.iter().enumerate().skip(first) {
            let len = rows + u64::from(lane < incomplete);
            if rest < weight * len {
                let row = (rest / weight) as usize;
                let index = range.start + row * lanes + lane;
                return Proposed { index, weight, end: target + (weight - rest % weight) };
            }
            rest -= weight * len;
        }
        unreachable!("the stripe's weight is the sum of its blocks' weights")
    }
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
    let bits = proposals.weights.bits;
    let mut bounds = [0; MOST_LANES];
    let mut tries = Tries::default();
    loop {
        let Proposed { index, weight, .. } = proposals.propose(blocks, scale, &mut bounds, entropy);
        let x = blocks.exponential(scale, index);
        if accept(&x, Proposal::Weight { weight, bits }, Stage::WHOLE, entropy) && !removed.contains(index) {
            return Ok(index);
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
