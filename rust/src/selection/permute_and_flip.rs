//! Permute-and-flip: the first head in a uniformly random order, which is a uniform choice among all heads.
//!
//! Two exact routes, and a rule that picks one; the law does not depend on the rule.
//! *Dense*: visit items in random order without repetition until a head comes.
//! *Sparse*: list the heads by thinning block by block, keep one uniformly. Items already seen to be tails stay tails,
//! so a draw may start dense and finish sparse. Where a line of bounds is at hand, or a time is asked for, `arrival_stages.rs`
//! takes the place of the sparse route. Proofs: `proofs/permute_and_flip.md` (the law) and
//! `proofs/exact_sampling.md` (these routes); model: `tests/reference/thinning.py`.

use std::ops::Range;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::numbers::coin::{Proposal, Stage, accept, flip};
use crate::numbers::lazy_time::Clock;
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::{Block, Blocks};
use crate::scan::kernels::MOST_LANES;
use crate::scan::weight_bounds::WeightBounds;
use crate::selection::arrival_stages::{AnyOfThem, Comers, Earliest, by_stages, list};
use crate::selection::index_set::{IndexSet, NOBODY, Removed};
use crate::selection::thinning::{Skipper, rate_for};
use crate::selection::uniform_visits::{BATCH, COST_OF_VISIT, UniformVisits};
use crate::selection::weight_line::{BlockLine, ItemTable, Round, WeightLine};

/// About what a step costs, in nanoseconds. They only steer the choice of the route.
const COST_OF_STRIPE: f64 = 100.0;
const COST_OF_HOT_BLOCK: f64 = 400.0;
const COST_OF_ITEM: f64 = 0.6;
const COST_OF_FLIP: f64 = 30.0;
const COST_OF_FIRST_VISIT: f64 = 150.0;
/// Stripes passed over at once where nobody rings.
const STRIPES_AT_ONCE: usize = 32;
/// Items passed over at once where nobody rings, among those that are looked at in a row.
const ITEMS_AT_ONCE: usize = 8;
/// If more than one block in this many is hot, the items of a stripe are looked at in a row.
const HOT_BLOCKS: usize = 16;
/// How many times the expected number of dense visits may be exceeded before the sparse route takes over.
const PATIENCE: f64 = 50.0;
/// Visits of the first batch, which ends most draws if many items are near the top.
const FIRST_BATCH: usize = 16;
/// Visits made first where many items are near the top: they end most draws.
const FIRST_VISITS: usize = 32;
/// Mean weights from which on they do.
pub const LIKELY: f64 = 2.0 / FIRST_VISITS as f64;

/// Draw a candidate from scores of which nothing but the index is known.
///
/// # Errors
/// `Interrupted`.
pub fn draw<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    let first = entropy.below(blocks.len() as u64) as usize;
    if flip(&blocks.exponential(scale, first), entropy) {
        return Ok(first); // among equals that is all
    }
    let mut seen = Seen { removed: &NOBODY, tails: IndexSet::new() };
    seen.tails.insert(first);
    let worth = dense_visits_worth(blocks, scale);
    if worth > 0 {
        let visits = UniformVisits::new(blocks, scale, entropy);
        let mut dense = Dense { visits, visited: vec![first] };
        for count in std::iter::once(FIRST_BATCH).chain(std::iter::repeat_n(BATCH, worth.div_ceil(BATCH))) {
            interrupt::check()?;
            if let Some(head) = dense.first_head(count, entropy) {
                return Ok(head);
            }
        }
        seen.tails.reserve(dense.visited.len());
        for index in dense.visited {
            seen.tails.insert(index);
        }
    }
    sparse(blocks, scale, &seen, entropy).map(|heads| heads.kept)
}

/// Draw a candidate with a line of bounds at hand: one of many draws, or one of a row of rounds.
///
/// # Errors
/// `Interrupted`, or `Changed` if somebody overwrote the scores.
pub fn draw_from<T: Score, E: Entropy, L: WeightLine>(
    round: &Round<'_, '_, T>,
    line: impl FnOnce() -> L,
    begins_with_visits: bool,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    let (mut tails, mut count) = ([0; FIRST_VISITS], 0);
    if begins_with_visits {
        for _ in 0..FIRST_VISITS {
            let index = entropy.below(round.blocks.len() as u64) as usize;
            // An item seen before is no visit: the order goes on to the next new item.
            if round.removed.contains(index) || tails[..count].contains(&index) {
                continue;
            }
            if flip(&round.exponential(index), entropy) {
                return Ok(index);
            }
            tails[count] = index;
            count += 1;
        }
    }
    let tails = &tails[..count];
    let is_out = |index| round.removed.contains(index) || tails.contains(&index);
    by_stages::<AnyOfThem, _, _, _>(round, &mut line(), is_out, entropy).map(|(them, _)| them.kept)
}

/// Draw a candidate where few are near the top: those who are `likely` are flipped, all others thinned by a table of them.
///
/// # Errors
/// As [`draw_from`].
pub fn draw_from_few<T: Score, E: Entropy>(
    round: &Round<'_, '_, T>,
    likely: &[usize],
    mut others: &ItemTable,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    let mut heads = AnyOfThem::default();
    for &index in likely {
        if flip(&round.exponential(index), entropy) {
            heads.add(index, entropy);
        }
    }
    list(Stage::WHOLE, round, &mut others, |_| false, &mut heads, entropy)?;
    if heads.is_empty() { Err(SelectError::Changed) } else { Ok(heads.kept) }
}

/// Draw a candidate and the time at which it comes.
///
/// # Errors
/// As [`draw_from`].
pub fn draw_with_time<T: Score, E: Entropy>(
    round: &Round<'_, '_, T>,
    entropy: &mut E,
) -> Result<(usize, Clock), SelectError> {
    let line = BlockLine::new(round);
    let is_out = |index| round.removed.contains(index);
    let (first, stage) = by_stages::<Earliest, _, _, _>(round, &mut line.of(round), is_out, entropy)?;
    first.within(stage).ok_or(SelectError::Changed)
}

/// The dense route: steps of a uniformly random order without repetition.
struct Dense<'v, 'a, T> {
    visits: UniformVisits<'v, 'a, T>,
    /// All of them showed tails, or were seen before: then their coins did not count.
    visited: Vec<usize>,
}

impl<T: Score> Dense<'_, '_, T> {
    fn first_head<E: Entropy>(&mut self, count: usize, entropy: &mut E) -> Option<usize> {
        // Looked up only for heads, of which there are few before the first that counts.
        let is_new = |earlier: &[usize], index: usize| !earlier.contains(&index) && !self.visited.contains(&index);
        let head = self.visits.first_heads(count, entropy, is_new);
        self.visited.extend_from_slice(self.visits.last(count));
        head
    }
}

/// Items that are out of the draw: removed before it, or seen to be tails in it.
struct Seen<'r> {
    removed: &'r Removed,
    tails: IndexSet,
}

impl Seen<'_> {
    #[inline]
    fn contains(&self, index: usize) -> bool {
        self.removed.contains(index) || self.tails.contains(index)
    }
}

/// How many more dense visits to try: none if listing the heads is expected to be cheaper.
fn dense_visits_worth<T: Score>(blocks: &Blocks<'_, T>, scale: &Scale) -> usize {
    let near = blocks.about_how_many_near(scale);
    let expected_visits = blocks.len() as f64 / (1.0 + near);
    let sparse_cost = if blocks.stripes() == 1 {
        blocks.len() as f64 * COST_OF_ITEM + near * COST_OF_FLIP
    } else {
        let stripes = (blocks.stripes() as f64).min(1.0 + near * blocks.lanes() as f64);
        stripes * COST_OF_STRIPE + near * COST_OF_HOT_BLOCK
    };
    let dense_cost = COST_OF_FIRST_VISIT + expected_visits * COST_OF_VISIT;
    if dense_cost < sparse_cost { (expected_visits * PATIENCE) as usize } else { 0 }
}

/// List all heads among the items that were not seen.
fn sparse<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    seen: &Seen<'_>,
    entropy: &mut E,
) -> Result<AnyOfThem, SelectError> {
    let weights = WeightBounds::for_count(blocks.len());
    let heads = AnyOfThem::default();
    let mut walk = Walk { blocks, scale, seen, weights, heads, skipper: Skipper::new(entropy) };
    let mut bounds = [0; MOST_LANES];
    let mut of_stripes = [0; STRIPES_AT_ONCE];
    let mut first = 0;
    while first < blocks.stripes() {
        interrupt::check()?;
        let group = first..(first + STRIPES_AT_ONCE).min(blocks.stripes());
        first = group.end;
        let of_stripes = &mut of_stripes[..group.len()];
        blocks.stripe_bounds(blocks.top(), scale, weights, group.start, of_stripes);
        let totals =
            group.clone().zip(&*of_stripes).map(|(stripe, &weight)| blocks.stripe_range(stripe).len() as u64 * weight);
        let (total, largest) = totals.fold((0, 0), |(sum, largest), total| (sum + total, total.max(largest)));
        if largest <= weights.half() && walk.skipper.passes(total, weights.bits) {
            continue;
        }
        for (stripe, &weight) in group.zip(&*of_stripes) {
            walk.through_stripe(stripe, weight, &mut bounds, entropy);
        }
    }
    Ok(walk.heads)
}

/// A walk past all items, listing heads.
struct Walk<'w, 'a, T> {
    blocks: &'w Blocks<'a, T>,
    scale: &'w Scale,
    seen: &'w Seen<'w>,
    weights: WeightBounds,
    heads: AnyOfThem,
    skipper: Skipper,
}

impl<T: Score> Walk<'_, '_, T> {
    /// A stripe whose maximum has this weight.
    fn through_stripe<E: Entropy>(
        &mut self,
        stripe: usize,
        weight: u64,
        bounds: &mut [u64; MOST_LANES],
        entropy: &mut E,
    ) {
        let (blocks, weights) = (self.blocks, self.weights);
        let range = blocks.stripe_range(stripe);
        if weight * range.len() as u64 <= weights.half() {
            // Less than one proposal to be expected in all of it: no need to look at the blocks.
            return self.thin(range.len(), weight, |offset| range.start + offset, entropy);
        }
        if range.len() <= MOST_LANES {
            return self.through_items(range, bounds, entropy); // about as many blocks as items
        }
        let of_blocks = blocks.block_weights(blocks.top(), self.scale, weights, stripe, bounds);
        // More than about one proposal is expected, or it is too likely to be thinned: look at the items.
        let rows = blocks.block(stripe, 0).len as u64;
        let is_hot = |weight: u64| weight * rows > 1 << weights.bits || weight > weights.half();
        if of_blocks.iter().filter(|&&weight| is_hot(weight)).count() * HOT_BLOCKS > of_blocks.len() {
            return self.through_items(range, bounds, entropy);
        }
        for (lane, &weight) in of_blocks.iter().enumerate() {
            let block = blocks.block(stripe, lane);
            if is_hot(weight) {
                self.through_hot(block, entropy);
            } else {
                self.thin(block.len, weight, |row| block.first + row * blocks.lanes(), entropy);
            }
        }
    }

    /// All items, each by its own bound: where many blocks have something near the top.
    fn through_items<E: Entropy>(&mut self, range: Range<usize>, bounds: &mut [u64; MOST_LANES], entropy: &mut E) {
        let (blocks, scale, weights) = (self.blocks, self.scale, self.weights);
        for first in range.clone().step_by(MOST_LANES) {
            let bounds = &mut bounds[..MOST_LANES.min(range.end - first)];
            let mut filled = blocks.item_bounds(scale, weights, first, bounds);
            if filled.largest > weights.half() {
                for (index, weight) in (first..).zip(&mut *bounds).filter(|(_, weight)| **weight > weights.half()) {
                    filled.sum -= std::mem::take(weight);
                    if !self.seen.contains(index) && flip(&blocks.exponential(scale, index), entropy) {
                        self.heads.add(index, entropy);
                    }
                }
            }
            if self.skipper.passes(filled.sum, weights.bits) {
                continue;
            }
            for (first, some) in (first..).step_by(ITEMS_AT_ONCE).zip(bounds.chunks(ITEMS_AT_ONCE)) {
                if !self.skipper.passes(some.iter().sum(), weights.bits) {
                    for (index, &weight) in (first..).zip(some).filter(|(_, weight)| **weight > 0) {
                        self.thin(1, weight, |_| index, entropy);
                    }
                }
            }
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::scan::score_view::View;
    use crate::testing::{assert_law, exponential_law, exponents, permute_and_flip_law};

    #[test]
    fn dense_visits_alone_have_the_law() {
        let scale = Scale::new(1.0, 1.0, 2).unwrap();
        let scores = [3.0, 1.0, 0.0, 3.0, -2.0, 2.5];
        let blocks = Blocks::new(View::of(&scores)).unwrap();
        let law = permute_and_flip_law(&exponents(&scores, &scale));
        // Visits with replacement would have the law of the exponential mechanism.
        let wrong = exponential_law(&exponents(&scores, &scale));
        for batch in [1, 3, BATCH] {
            let mut entropy = seeded(5);
            assert_law(&format!("batches of {batch}"), 300_000, &law, &wrong, || {
                let visits = UniformVisits::new(&blocks, &scale, &mut entropy);
                let mut dense = Dense { visits, visited: Vec::new() };
                loop {
                    if let Some(head) = dense.first_head(batch, &mut entropy) {
                        return head;
                    }
                }
            });
        }
    }

    #[test]
    fn heads_far_from_the_top_come_as_often_as_they_should() {
        // One best among many stripes that are far off one by one, but not all together; the last stripe is short.
        for (len, gap) in [(70 * 1024 + 300, 26.0), (40 * 1024, 25.0), (3000, 16.0)] {
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
                usize::from(draw(&blocks, &scale, &mut entropy).unwrap() != len / 2)
            });
        }
    }
}
