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
    /// 2^32 modulo the number of items, where that fits 32 bits.
    uneven: u32,
}

impl<'v, 'a, T: Score> UniformVisits<'v, 'a, T> {
    pub fn new<E: Entropy>(blocks: &'v Blocks<'a, T>, scale: &'v Scale, entropy: &mut E) -> Self {
        let weights = WeightBounds::for_count(blocks.len());
        let uneven = u32::try_from(blocks.len()).map_or(0, |count| count.wrapping_neg() % count);
        Self { blocks, scale, weights, skipper: Skipper::new(entropy), batch: [0; BATCH], uneven }
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
        for (two, scores) in self.batch.chunks_mut(2).zip(scores.chunks_mut(2)) {
            two.copy_from_slice(&two_below(blocks.len(), self.uneven, entropy)[..two.len()]);
            for (score, &index) in scores.iter_mut().zip(&*two) {
                *score = blocks.get(index);
            }
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
    #[must_use]
    pub fn last(&self, count: usize) -> &[usize] {
        &self.batch[..count]
    }
}

/// Two independent uniform integers below `count`: where it fits 32 bits from the halves of one word, each as
/// [`Entropy::below`] makes them (a product with the half, again if that falls into the `uneven` rest).
#[inline(always)]
fn two_below<E: Entropy>(count: usize, uneven: u32, entropy: &mut E) -> [usize; 2] {
    if u32::try_from(count).is_err() {
        return [entropy.below(count as u64) as usize, entropy.below(count as u64) as usize];
    }
    let word = entropy.next_u64();
    [word >> 32, word & u64::from(u32::MAX)].map(|half| {
        let product = half * count as u64;
        if (product as u32) < uneven { entropy.below(count as u64) as usize } else { (product >> 32) as usize }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::{Scripted, seeded};

    #[test]
    fn both_halves_of_a_word_are_used_and_the_uneven_rest_is_refused() {
        // 2^32 modulo 3 is 1: only the half 0 is refused, for the half of a word of its own.
        assert_eq!(two_below(3, 1, &mut Scripted::new(&[(1 << 63) | 0xffff_ffff])), [1, 2]);
        assert_eq!(two_below(3, 1, &mut Scripted::new(&[0xffff_ffff, u64::MAX])), [2, 2]);
        assert_eq!(two_below(1 << 33, 0, &mut Scripted::new(&[u64::MAX, 1 << 63])), [(1 << 33) - 1, 1 << 32]);
        let mut counts = [0_u32; 5];
        let mut entropy = seeded(3);
        (0..25_000).for_each(|_| two_below(5, 1, &mut entropy).into_iter().for_each(|index| counts[index] += 1));
        assert!(counts.iter().all(|&count| (9_400..10_600).contains(&count)), "{counts:?}");
    }
}
