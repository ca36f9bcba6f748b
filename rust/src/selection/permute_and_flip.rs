//! Permute-and-flip: the first head in a uniformly random order, which is a uniform choice among all heads.
//!
//! Two exact routes, and a rule that picks one; the law does not depend on the rule.
//! *Dense*: visit items in random order without repetition until a head comes.
//! *Sparse*: list the heads by thinning block by block, keep one uniformly. Items already seen to be tails stay tails,
//! so a draw may start dense and finish sparse. Proofs: `proofs/permute_and_flip.md` (the law) and
//! `proofs/exact_sampling.md` (these routes); model: `tests/reference/thinning.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::numbers::coin::{Proposal, Stage, accept, flip, power_of_two};
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::{Block, Blocks, MOST_LANES, Weights};
use crate::selection::index_set::Visited;
use crate::selection::thinning::{Skipper, rate_for};

/// Dense visits are made in batches; 1, 2, 4, 8 before the choice of the route, which ends most draws among many good
/// candidates.
const LARGEST_FIRST_BATCH: usize = 8;
const BATCH: usize = 64;
/// Places reserved for visited items at most, at once.
const MOST_RESERVED: usize = 1024;
/// About what a step costs, in nanoseconds. They only steer the choice of the route.
const COST_OF_VISIT: f64 = 12.0;
const COST_OF_STRIPE: f64 = 100.0;
const COST_OF_HOT_BLOCK: f64 = 400.0;
/// Stripes looked at to choose the route.
const SAMPLED_STRIPES: usize = 16;
/// Stripes between two questions whether the call is to end.
const STRIPES_BETWEEN_QUESTIONS: usize = 64;
/// How many times the expected number of dense visits may be exceeded before the sparse route takes over.
const PATIENCE: f64 = 50.0;

/// Draw a candidate by permute-and-flip, never one of `removed`.
///
/// # Errors
/// `Interrupted`.
pub fn draw<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    removed: &Visited,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    let mut seen = Seen { removed, tails: Visited::new() };
    let mut first_visits = [(0, blocks.top()); LARGEST_FIRST_BATCH];
    let mut batch = 1;
    while batch <= LARGEST_FIRST_BATCH {
        if let Some(head) = dense(blocks, scale, &mut first_visits[..batch], &mut seen, entropy) {
            return Ok(head);
        }
        batch *= 2;
    }
    let visits = dense_visits_worth(blocks, scale);
    if visits > 0 {
        seen.tails.reserve(visits.min(MOST_RESERVED));
        let mut batch = [(0, blocks.top()); BATCH];
        for _ in 0..visits.div_ceil(BATCH) {
            interrupt::check()?;
            if let Some(head) = dense(blocks, scale, &mut batch, &mut seen, entropy) {
                return Ok(head);
            }
        }
    }
    Ok(sparse(blocks, scale, &seen, Heads::default(), entropy)?.kept())
}

/// List all heads.
pub(crate) fn list<T: Score, E: Entropy, L: Listing>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    heads: L,
    entropy: &mut E,
) -> Result<L, SelectError> {
    sparse(blocks, scale, &Seen { removed: &Visited::new(), tails: Visited::new() }, heads, entropy)
}

/// Items that are out of the draw: removed before it, or seen to be tails in it.
struct Seen<'r> {
    removed: &'r Visited,
    tails: Visited,
}

impl Seen<'_> {
    #[inline]
    fn contains(&self, index: usize) -> bool {
        self.removed.contains(index) || self.tails.contains(index)
    }

    /// Whether `index` is still in; from now on it is not.
    #[inline]
    fn is_new(&mut self, index: usize) -> bool {
        !self.removed.contains(index) && self.tails.insert(index)
    }
}

/// How many more dense visits to try: none if listing the heads is expected to be cheaper.
fn dense_visits_worth<T: Score>(blocks: &Blocks<'_, T>, scale: &Scale) -> usize {
    let tops = tops(blocks, scale);
    let expected_visits = blocks.len() as f64 / (1.0 + tops);
    let stripes = (blocks.stripes() as f64).min(1.0 + tops * blocks.lanes() as f64);
    let sparse_cost = stripes * COST_OF_STRIPE + tops * COST_OF_HOT_BLOCK;
    if expected_visits * COST_OF_VISIT < sparse_cost { (expected_visits * PATIENCE) as usize } else { 0 }
}

/// About how many blocks, and so at least how many items, are near the top. It only steers, so most of it is a guess:
/// how many stripes are, times how many blocks there are to such a stripe in a sample.
fn tops<T: Score>(blocks: &Blocks<'_, T>, scale: &Scale) -> f64 {
    let weights = Weights::for_count(blocks.len());
    let (mut sampled_stripes, mut sampled_blocks) = (0.0, 0.0);
    let step = blocks.stripes().div_ceil(SAMPLED_STRIPES);
    for stripe in (0..blocks.stripes()).step_by(step) {
        sampled_stripes += weights.at(scale.octaves(blocks.top(), blocks.stripe_maximum(stripe))) as f64;
        let block_len = blocks.block(stripe, 0).len as f64;
        sampled_blocks += blocks.stripe_weight(scale, weights, stripe) as f64 / block_len;
    }
    let stripes = blocks.sum_of_stripe_weights(scale, weights) as f64 / power_of_two(weights.bits as i32);
    stripes * sampled_blocks / sampled_stripes
}

/// As many steps of a random order as `batch` has places. Tails are remembered in `seen`.
#[inline]
fn dense<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    batch: &mut [(usize, T)],
    seen: &mut Seen<'_>,
    entropy: &mut E,
) -> Option<usize> {
    // All scores of the batch first: their cache misses overlap.
    for visit in batch.iter_mut() {
        let index = entropy.below(blocks.len() as u64) as usize;
        *visit = (index, blocks.get(index));
    }
    for &mut (index, score) in batch {
        // An item seen before is no visit: the order goes on to the next new item.
        if seen.is_new(index) && flip(&blocks.exponential_of(scale, score), entropy) {
            return Some(index);
        }
    }
    None
}

/// What becomes of the heads as they are found.
pub(crate) trait Listing {
    fn add<E: Entropy>(&mut self, index: usize, entropy: &mut E);
}

/// One of the heads, uniformly: a reservoir of one.
#[derive(Default)]
pub(crate) struct Heads {
    count: u64,
    kept: usize,
}

impl Listing for Heads {
    #[inline]
    fn add<E: Entropy>(&mut self, index: usize, entropy: &mut E) {
        self.count += 1;
        if entropy.below(self.count) == 0 {
            self.kept = index;
        }
    }
}

impl Heads {
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The head that was kept. The best item is always a head, so there is one (unless somebody overwrote the scores
    /// meanwhile: then any candidate will do, as long as it is one).
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }
}

/// List all heads among the items that were not seen.
fn sparse<T: Score, E: Entropy, L: Listing>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    seen: &Seen<'_>,
    heads: L,
    entropy: &mut E,
) -> Result<L, SelectError> {
    let weights = Weights::for_count(blocks.len());
    let mut walk = Walk { blocks, scale, seen, weights, heads, skipper: Skipper::new(entropy) };
    let mut bounds = [0; MOST_LANES];
    for stripe in 0..blocks.stripes() {
        if stripe.is_multiple_of(STRIPES_BETWEEN_QUESTIONS) {
            interrupt::check()?;
        }
        let range = blocks.stripe_range(stripe);
        let weight = weights.at(scale.octaves(blocks.top(), blocks.stripe_maximum(stripe)));
        if weight.saturating_mul(range.len() as u64) <= weights.half() {
            // Less than one proposal to be expected in all of it: no need to look at the blocks.
            walk.thin(range.len(), weight, |offset| range.start + offset, entropy);
            continue;
        }
        for (lane, &weight) in blocks.block_weights(scale, weights, stripe, &mut bounds).iter().enumerate() {
            let block = blocks.block(stripe, lane);
            // More than about one proposal is expected, or it is too likely to be thinned: look at the items.
            if weight.saturating_mul(block.len as u64) > 1 << weights.bits || weight > weights.half() {
                walk.through_hot(block, entropy);
            } else {
                walk.thin(block.len, weight, |row| block.first + row * blocks.lanes(), entropy);
            }
        }
    }
    Ok(walk.heads)
}

/// A walk past all items, listing heads.
struct Walk<'w, 'a, T, L> {
    blocks: &'w Blocks<'a, T>,
    scale: &'w Scale,
    seen: &'w Seen<'w>,
    weights: Weights,
    heads: L,
    skipper: Skipper,
}

impl<T: Score, L: Listing> Walk<'_, '_, T, L> {
    /// A block with something near the top: its near items are flipped one by one, the rest is thinned.
    fn through_hot<E: Entropy>(&mut self, block: Block, entropy: &mut E) {
        // Far: at least this many halvings below the top, so that the rest of the block rarely makes a proposal.
        let far = f64::from(block.len.max(1).ilog2() + 4);
        let (blocks, scale) = (self.blocks, self.scale);
        let is_far = |index: usize| scale.octaves(blocks.top(), blocks.get(index)) >= far;
        for index in blocks.items(block) {
            if !is_far(index) && !self.seen.contains(index) && flip(&blocks.exponential(scale, index), entropy) {
                self.heads.add(index, entropy);
            }
        }
        let item = |row| block.first + row * blocks.lanes();
        self.thin_some(block.len, self.weights.at(far), item, is_far, entropy);
    }

    /// Thin `count` items whose weights are at most `weight`; `item` maps a position to an index.
    #[inline]
    fn thin<E: Entropy>(&mut self, count: usize, weight: u64, item: impl Fn(usize) -> usize, entropy: &mut E) {
        self.thin_some(count, weight, item, |_| true, entropy);
    }

    /// The same for those of the items that are `wanted`; the others were dealt with already.
    #[inline]
    fn thin_some<E: Entropy>(
        &mut self,
        count: usize,
        weight: u64,
        item: impl Fn(usize) -> usize,
        wanted: impl Fn(usize) -> bool,
        entropy: &mut E,
    ) {
        let rate = rate_for(weight, self.weights.bits);
        let mut from = 0;
        while from < count
            && let Some(offset) = self.skipper.next(count - from, rate, entropy)
        {
            let index = item(from + offset);
            from += offset + 1;
            // The item rang with probability 1 - exp(-rate): accept it so that it is a head with probability exp(-x).
            if wanted(index)
                && !self.seen.contains(index)
                && accept(
                    &self.blocks.exponential(self.scale, index),
                    Proposal::Thinned { rate },
                    Stage::WHOLE,
                    entropy,
                )
            {
                self.heads.add(index, entropy);
            }
        }
    }
}
