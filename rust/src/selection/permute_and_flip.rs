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
use crate::numbers::score::Score;
use crate::scan::kernels::MOST_LANES;
use crate::scan::weight_bounds::WeightBounds;
use crate::selection::arrival_stages::{AnyOfThem, Comers, Earliest, by_stages, list};
use crate::selection::near_items::NearItems;
use crate::selection::thinning::{Skipper, rate_for};
use crate::selection::uniform_visits::{Opening, Tails, open, visit_few, visits_worth};
use crate::selection::weight_line::{BlockLine, ItemTable, Round, WeightLine};

/// About what a step costs, in nanoseconds. They only steer the choice of the route.
const COST_OF_STRIPE: f64 = 100.0;
const COST_OF_HOT_BLOCK: f64 = 400.0;
const COST_OF_ITEM: f64 = 0.1;
const COST_OF_NEAR_ITEMS: f64 = 100.0;
/// Where blocks of which that may be are this large a share, nearly all items are looked at one by one.
const MANY_HOT: f64 = 0.25;
const COST_OF_CLOSE_LOOK: f64 = 6.0;
/// Stripes passed over at once where nobody rings.
const STRIPES_AT_ONCE: usize = 32;
/// Items passed over at once where nobody rings, among those that are looked at in a row.
const ITEMS_AT_ONCE: usize = 8;
/// Items are flipped rather than thinned from half a head in this many on: a flip takes less than a ring.
const FLIPPED: u64 = 8;
/// If more than one block in this many is hot, the items of a stripe are looked at in a row.
const HOT_BLOCKS: usize = 32;
/// How many times the expected number of dense visits may be exceeded before the sparse route takes over.
const PATIENCE: f64 = 50.0;

/// One draw from a fresh index.
pub fn draw_once<T: Score, E: Entropy>(round: &Round<'_, '_, T>, entropy: &mut E) -> Result<usize, SelectError> {
    let blocks = round.blocks;
    let cost_of_list = |near: f64| match blocks.stripes() {
        1 => blocks.len() as f64 * COST_OF_ITEM + near * COST_OF_NEAR_ITEMS,
        _ if blocks.about_share_of_hot(round.scale) > MANY_HOT => blocks.len() as f64 * COST_OF_CLOSE_LOOK,
        stripes => (stripes as f64).min(1.0 + near * blocks.lanes() as f64) * COST_OF_STRIPE + near * COST_OF_HOT_BLOCK,
    };
    let (first, mut others) = match open(round, true, || visits_worth(round, PATIENCE, cost_of_list), entropy)? {
        Opening::Heads(index) => return Ok(index),
        Opening::Tails { first, others } => (first, others),
    };
    others.sort_unstable();
    let is_out = |index: usize| index == first || others.binary_search(&index).is_ok();
    let heads = sparse(round, is_out, entropy)?;
    if heads.is_empty() { Err(SelectError::Changed) } else { Ok(heads.kept) }
}

/// Draw a candidate with a line of bounds at hand: one of many draws, or one of a row of rounds.
pub fn draw_from<T: Score, E: Entropy, L: WeightLine>(
    round: &Round<'_, '_, T>,
    line: impl FnOnce() -> L,
    begins_with_visits: bool,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    let mut tails = Tails::default();
    if begins_with_visits && let Some(index) = visit_few(round, true, &mut tails, entropy) {
        return Ok(index);
    }
    let is_out = |index| round.removed.contains(index) || tails.contains(index);
    by_stages::<AnyOfThem, _, _, _>(round, &mut line(), is_out, entropy).map(|(them, _)| them.kept)
}

/// Draw a candidate where few are near the top: those who are `likely` are flipped, all others thinned by a table of them.
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
pub fn draw_with_time<T: Score, E: Entropy>(
    round: &Round<'_, '_, T>,
    entropy: &mut E,
) -> Result<(usize, Clock), SelectError> {
    let line = BlockLine::new(round);
    let is_out = |index| round.removed.contains(index);
    let (first, stage) = by_stages::<Earliest, _, _, _>(round, &mut line.of(round), is_out, entropy)?;
    first.within(stage).ok_or(SelectError::Changed)
}

/// List all heads among the items that are not out.
fn sparse<T: Score, E: Entropy>(
    round: &Round<'_, '_, T>,
    is_out: impl Fn(usize) -> bool,
    entropy: &mut E,
) -> Result<AnyOfThem, SelectError> {
    let Round { blocks, scale, top, .. } = *round;
    let weights = WeightBounds::for_count(blocks.len());
    let mut walk = Walk { round: *round, is_out, weights, heads: AnyOfThem::default(), skipper: Skipper::new(entropy) };
    let mut of_stripes = [0; STRIPES_AT_ONCE];
    let mut first = 0;
    while first < blocks.stripes() {
        interrupt::check()?;
        let group = first..(first + STRIPES_AT_ONCE).min(blocks.stripes());
        first = group.end;
        let of_stripes = &mut of_stripes[..group.len()];
        blocks.stripe_bounds(top, scale, weights, group.start, of_stripes);
        let totals =
            group.clone().zip(&*of_stripes).map(|(stripe, &weight)| blocks.stripe_range(stripe).len() as u64 * weight);
        let (total, largest) = totals.fold((0, 0), |(sum, largest), total| (sum + total, total.max(largest)));
        if largest <= weights.half() && walk.skipper.passes(total, weights.bits) {
            continue;
        }
        for (stripe, &weight) in group.zip(&*of_stripes) {
            walk.through_stripe(stripe, weight, entropy);
        }
    }
    Ok(walk.heads)
}

/// A walk past all items, listing heads.
struct Walk<'w, 'a, T, F> {
    round: Round<'w, 'a, T>,
    is_out: F,
    weights: WeightBounds,
    heads: AnyOfThem,
    skipper: Skipper,
}

impl<T: Score, F: Fn(usize) -> bool> Walk<'_, '_, T, F> {
    /// A stripe whose maximum has this weight.
    fn through_stripe<E: Entropy>(&mut self, stripe: usize, weight: u64, entropy: &mut E) {
        let (Round { blocks, scale, top, .. }, weights) = (self.round, self.weights);
        let range = blocks.stripe_range(stripe);
        if weight * range.len() as u64 <= weights.half() {
            // Less than one proposal to be expected in all of it: no need to look at the blocks.
            return self.thin(range.len(), weight, |offset| Some(range.start + offset), entropy);
        }
        if range.len() <= MOST_LANES {
            return self.through_items(range.start, 1, range.len(), entropy); // about as many blocks as items
        }
        let mut bounds = [0; MOST_LANES];
        let of_blocks = blocks.block_weights(top, scale, weights, stripe, &mut bounds);
        // More than about one proposal is expected, or it is too likely to be thinned: look at the items.
        let rows = blocks.block(stripe, 0).len as u64;
        let is_hot = |weight: u64| weight * rows > 1 << weights.bits || weight > weights.half();
        let (lanes, hot) = (blocks.lanes(), of_blocks.iter().filter(|&&weight| is_hot(weight)).count());
        if hot * HOT_BLOCKS > lanes {
            return self.through_row(range, entropy);
        }
        // Those that are not hot first, all at once where nobody rings.
        let cold = || of_blocks.iter().enumerate().filter(|&(_, &weight)| !is_hot(weight));
        let sum: u64 = cold().map(|(lane, weight)| weight * blocks.block(stripe, lane).len as u64).sum();
        if !self.skipper.passes(sum, weights.bits) {
            for (lane, &weight) in cold() {
                let block = blocks.block(stripe, lane);
                self.thin(block.len, weight, |row| Some(block.first + row * lanes), entropy);
            }
        }
        for (lane, _) in of_blocks.iter().enumerate().filter(|&(_, &weight)| is_hot(weight)) {
            let block = blocks.block(stripe, lane);
            self.through_items(block.first, lanes, block.len, entropy);
        }
    }

    /// The items of a row of which several are near the top.
    fn through_row<E: Entropy>(&mut self, row: Range<usize>, entropy: &mut E) {
        let round = self.round;
        let items = NearItems::new(&round, row.clone());
        let (near, bounds) = items.near();
        self.take(near.len(), |place| (near[place], bounds[place]), entropy);
        let far = |offset| Some(row.start + offset).filter(|&index| !items.is_near(index));
        self.thin(row.len(), items.far(), far, entropy);
    }

    /// `count` items, `apart` from each other, one of which is near the top.
    fn through_items<E: Entropy>(&mut self, first: usize, apart: usize, count: usize, entropy: &mut E) {
        let (Round { blocks, scale, top, .. }, weights) = (self.round, self.weights);
        let mut bounds = [0; MOST_LANES];
        for start in (0..count).step_by(MOST_LANES) {
            let bounds = &mut bounds[..MOST_LANES.min(count - start)];
            let first = first + start * apart;
            let filled = blocks.item_bounds(top, scale, weights, (first, apart), bounds);
            if filled.largest <= self.most_thinned() && self.skipper.passes(filled.sum, weights.bits) {
                continue;
            }
            self.take(bounds.len(), |place| (first + place * apart, bounds[place]), entropy);
        }
    }

    /// The largest bound of an item that is thinned; those above it are flipped. Nobody may be both: whoever was to be
    /// passed over and was not has most likely rung, and a coin of its own afterwards would show heads too seldom.
    fn most_thinned(&self) -> u64 {
        self.weights.half() / FLIPPED
    }

    /// So many items, each with its own bound.
    #[inline(always)]
    fn take<E: Entropy>(&mut self, count: usize, item: impl Fn(usize) -> (usize, u64), entropy: &mut E) {
        let (mut sum, bits, most_thinned) = (0, self.weights.bits, self.most_thinned());
        for (index, weight) in (0..count).map(&item) {
            if weight <= most_thinned {
                sum += weight;
            } else if !(self.is_out)(index) && flip(&self.round.exponential(index), entropy) {
                self.heads.add(index, entropy);
            }
        }
        // The others: all at once where nobody rings, or a few.
        if self.skipper.passes(sum, bits) {
            return;
        }
        for first in (0..count).step_by(ITEMS_AT_ONCE) {
            let others =
                || (first..count.min(first + ITEMS_AT_ONCE)).map(&item).filter(|&(_, weight)| weight <= most_thinned);
            if !self.skipper.passes(others().map(|(_, weight)| weight).sum(), bits) {
                others().for_each(|(index, weight)| self.thin(1, weight, |_| Some(index), entropy));
            }
        }
    }

    /// Thin `count` items whose weights are at most `weight`; `item` maps a position to an index, if that of an item.
    #[inline]
    fn thin<E: Entropy>(&mut self, count: usize, weight: u64, item: impl Fn(usize) -> Option<usize>, entropy: &mut E) {
        let rate = rate_for(weight, self.weights.bits);
        let mut from = 0;
        while from < count
            && let Some(offset) = self.skipper.next(count - from, rate, entropy)
        {
            let index = item(from + offset);
            from += offset + 1;
            // The item rang with probability 1 - exp(-rate): accept it so that it is a head with probability exp(-x).
            if let Some(index) = index
                && !(self.is_out)(index)
                && accept(&self.round.exponential(index), Proposal::Thinned { rate }, Stage::WHOLE, entropy)
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
    use crate::numbers::scale::Scale;
    use crate::scan::block_index::Blocks;
    use crate::scan::score_view::View;
    use crate::testing::assert_law;

    #[test]
    fn heads_far_from_the_top_come_as_often_as_they_should() {
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

    #[test]
    fn whoever_is_flipped_is_not_passed_over_before() {
        // One in each stripe, the best and others that are neither surely flipped nor seldom heads.
        let (scale, wrong) = (Scale::new(1.0, 1.0, 2).unwrap(), Scale::new(1.0, 2.0, 2).unwrap());
        for gap in [1.0, 2.0, 3.0, 4.0, 5.0, 7.0] {
            let mut scores = vec![-100.0; 9 * 1024];
            (0..9).for_each(|stripe| scores[stripe * 1024 + 500 + stripe] = if stripe == 4 { 0.0 } else { -gap });
            let blocks = Blocks::new(View::of(&scores)).unwrap();
            let best = |scale: &Scale| {
                let p = (-scale.exponent(gap, 0.0)).exp();
                let best = (1.0 - (1.0 - p).powi(9)) / (9.0 * p);
                [best, 1.0 - best]
            };
            let mut entropy = seeded(8);
            assert_law(&format!("a gap of {gap}"), 20_000, &best(&scale), &best(&wrong), || {
                let drawn = draw_once(&Round::new(&blocks, &scale), &mut entropy).unwrap();
                usize::from(drawn != 4 * 1024 + 504)
            });
        }
    }

    #[test]
    fn draws_from_scores_that_were_lowered_after_the_index_end_with_an_error() {
        let mut scores: Vec<f64> = (0..5000).map(|index| f64::from(index % 90)).collect();
        let memory = scores.as_mut_ptr();
        // SAFETY: as many doubles, alive and not moved to the end of the test.
        let view = unsafe { View::new(memory.cast_const(), 5000, 8) };
        let (blocks, scale) = (Blocks::new(view).unwrap(), Scale::new(1.0, 1.0, 1).unwrap());
        let draw = || draw_once(&Round::new(&blocks, &scale), &mut seeded(44));
        assert!(draw().is_ok());
        // SAFETY: as above; nobody refers to them.
        (0..5000).for_each(|index| unsafe { memory.add(index).write(-1e6) });
        assert_eq!(draw(), Err(SelectError::Changed));
    }
}
