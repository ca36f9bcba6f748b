//! All candidates side by side on a line, each as long as an integer bound of its weight exp(-x): what is proposed from.
//!
//! [`BlockLine`] has one bound a block, or a stripe where all of it is far below the top: made in a moment. [`ItemTable`]
//! has one an item, for draws by the thousand. Proof: `proofs/exact_sampling.md`, Propositions 1 and 4.

use std::ops::Range;

use crate::entropy::Entropy;
use crate::error::{SelectError, reserved};
use crate::exact::coin::Exponential;
use crate::exact::rational::Rational;
use crate::interrupt;
use crate::scores::block_index::Blocks;
use crate::scores::kernels::{GROUPS, MOST_LANES};
use crate::scores::scale::Scale;
use crate::scores::score::Score;
use crate::scores::weight_bounds::WeightBounds;
use crate::select::removed::{NONE_REMOVED, Removed};

/// What one selection is made from: scores, the score they are measured from, and which are removed.
#[derive(Clone, Copy)]
pub struct Round<'r, 'a> {
    pub blocks: &'r Blocks<'a>,
    pub scale: &'r Scale,
    pub top: Score,
    pub removed: &'r Removed,
}

impl<'r, 'a> Round<'r, 'a> {
    /// All candidates, measured from the best score.
    pub fn new(blocks: &'r Blocks<'a>, scale: &'r Scale) -> Self {
        Self { blocks, scale, top: blocks.top(), removed: &NONE_REMOVED }
    }

    /// The same measured from another score.
    pub fn from(&self, top: Score) -> Self {
        Self { top, ..*self }
    }

    /// exp(-x) of an item. Its score is read once, so that filter and fallback speak of the same number.
    #[inline(always)]
    pub fn exponential(&self, index: usize) -> Exponential<impl Fn() -> Rational + Copy + use<'r>> {
        self.exponential_of(self.blocks.get(index))
    }

    /// exp(-x) of a score.
    #[inline(always)]
    pub fn exponential_of(&self, score: Score) -> Exponential<impl Fn() -> Rational + Copy + use<'r>> {
        let (scale, top) = (self.scale, self.top);
        Exponential { approximate: scale.exponent(top, score), exact: move || scale.exact_exponent(top, score) }
    }
}

/// Visit the items, with their scores, of the blocks whose best scores are `wanted`, if that of their stripe is.
pub(super) fn visit_blocks(blocks: &Blocks<'_>, wanted: impl Fn(Score) -> bool, mut visit: impl FnMut(usize, Score)) {
    for stripe in (0..blocks.stripes()).filter(|&stripe| wanted(blocks.stripe_maximum(stripe))) {
        interrupt::check_deep();
        for lane in (0..blocks.lanes()).filter(|&lane| wanted(blocks.block_maximum(stripe, lane))) {
            blocks.items(blocks.block(stripe, lane)).for_each(|index| visit(index, blocks.get(index)));
        }
    }
}

/// An item, the bound it has, and where on the line it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub index: usize,
    pub weight: u64,
    pub end: u64,
    /// How far from its start the position lies that was asked for.
    pub into: u64,
    /// Where the items that lie side by side with it, and have the same bound, end.
    pub equals_end: u64,
}

/// A line from which an item is proposed with probability proportional to its bound.
pub trait WeightLine {
    /// About how many proposals a first look at the line should come to.
    const FIRST: u64;

    /// The bounds are multiples of 2 to minus this.
    fn bits(&self) -> u32;

    fn total(&self) -> u64;

    /// The item that lies at `position`, which must be below the total.
    fn at(&mut self, position: u64) -> Segment;

    /// A bound of the item's weight that is its own, the place's at most: what lies beyond it belongs to no item.
    fn own_weight(&self, place: &Segment) -> u64;

    #[inline]
    fn propose(&mut self, entropy: &mut Entropy) -> Segment {
        let position = entropy.below(self.total());
        self.at(position)
    }

    /// Visit every item whose bound is above one half.
    fn visit_likely(&mut self, visit: impl FnMut(usize));
}

/// A line with one bound a block.
#[derive(Clone)]
pub struct BlockLine {
    weights: WeightBounds,
    /// `ends[s]` = sum over the stripes up to and including `s`.
    ends: Vec<u64>,
    /// The bound of all items of a stripe, or 0 where every block has its own.
    whole_stripes: Vec<u64>,
    /// Of a stripe whose blocks have their own, the sums over the items of its groups of blocks.
    groups: Vec<[u64; GROUPS]>,
}

impl BlockLine {
    pub fn new(round: &Round<'_, '_>) -> Self {
        let weights = WeightBounds::for_count(round.blocks.len());
        let stripes = round.blocks.stripes();
        let (whole_stripes, groups) = (vec![0; stripes], vec![[0; GROUPS]; stripes]);
        let mut line = Self { weights, ends: Vec::with_capacity(stripes), whole_stripes, groups };
        line.rebuild(round);
        line
    }

    /// Compute all bounds, after the round's top changed.
    pub fn rebuild(&mut self, round: &Round<'_, '_>) {
        let stripes = round.blocks.stripes();
        self.bound(round, 0..stripes);
        self.ends.clear();
        let mut total = 0;
        for stripe in 0..stripes {
            total += self.length(round, stripe);
            self.ends.push(total);
        }
    }

    /// Compute the bounds of some stripes: one for all of a stripe, if all such stripes together come to no more than one item at
    /// the top.
    fn bound(&mut self, round: &Round<'_, '_>, stripes: Range<usize>) {
        let Round { blocks, scale, top, .. } = *round;
        let whole_stripes = &mut self.whole_stripes[stripes.clone()];
        blocks.stripe_bounds(top, scale, self.weights, stripes.start, whole_stripes);
        let most = (1 << self.weights.bits) / blocks.stripes() as u64;
        for (whole, stripe) in whole_stripes.iter_mut().zip(stripes.clone()) {
            if *whole > self.weights.half() || *whole * blocks.stripe_range(stripe).len() as u64 > most {
                *whole = 0;
            }
        }
        blocks.group_weights(top, scale, self.weights, stripes.start, whole_stripes, &mut self.groups[stripes]);
    }

    /// The length of a stripe whose bounds are known.
    fn length(&self, round: &Round<'_, '_>, stripe: usize) -> u64 {
        match self.whole_stripes[stripe] {
            0 => self.groups[stripe].iter().sum(),
            whole => whole * round.blocks.stripe_range(stripe).len() as u64,
        }
    }

    /// Compute one stripe's bounds, after its blocks changed.
    pub fn refresh(&mut self, round: &Round<'_, '_>, stripe: usize) {
        let before = self.ends[stripe] - if stripe == 0 { 0 } else { self.ends[stripe - 1] };
        self.bound(round, stripe..stripe + 1);
        let change = self.length(round, stripe).wrapping_sub(before);
        for end in &mut self.ends[stripe..] {
            *end = end.wrapping_add(change);
        }
    }

    /// To be read; `round` must be the one that the bounds were computed for.
    pub fn of<'l, 'r, 'a>(&'l self, round: &'l Round<'r, 'a>) -> BlockLineOf<'l, 'r, 'a> {
        BlockLineOf { line: self, round }
    }
}

/// A [`BlockLine`] over its scores.
pub struct BlockLineOf<'l, 'r, 'a> {
    line: &'l BlockLine,
    round: &'l Round<'r, 'a>,
}

impl WeightLine for BlockLineOf<'_, '_, '_> {
    /// Most are refused, so a look at one alone costs more than it finds.
    const FIRST: u64 = 8;

    fn bits(&self) -> u32 {
        self.line.weights.bits
    }

    fn total(&self) -> u64 {
        self.line.ends[self.line.ends.len() - 1]
    }

    #[inline(always)]
    fn at(&mut self, position: u64) -> Segment {
        let Round { blocks, scale, top, .. } = *self.round;
        let ends = &self.line.ends;
        let stripe = ends.partition_point(|&end| end <= position);
        let rest = position - if stripe == 0 { 0 } else { ends[stripe - 1] };
        let whole = self.line.whole_stripes[stripe];
        if let Some(item) = rest.checked_div(whole) {
            let (index, into) = (blocks.stripe_range(stripe).start + item as usize, rest % whole);
            let end = position + (whole - into);
            return Segment { index, weight: whole, end, into, equals_end: ends[stripe] };
        }
        // The group, by a sum and a comparison each, then the block in it.
        let (mut lane, mut start, mut end) = (0, 0, 0);
        for sum in &self.line.groups[stripe][..GROUPS - 1] {
            end += sum;
            let is_behind = end <= rest;
            (lane, start) = if is_behind { (lane + 1, end) } else { (lane, start) };
        }
        let (block, weight, rest) = blocks.block_at(top, scale, self.line.weights, (stripe, lane), rest - start);
        let (row, into) = (rest / weight, rest % weight);
        let index = block.first + row as usize * blocks.lanes();
        let equals_end = position + (weight * block.len as u64 - rest);
        Segment { index, weight, end: position + (weight - into), into, equals_end }
    }

    #[inline(always)]
    fn own_weight(&self, place: &Segment) -> u64 {
        let Round { blocks, scale, top, .. } = *self.round;
        self.line.weights.of(scale, top, blocks.get(place.index)).min(place.weight)
    }

    fn visit_likely(&mut self, mut visit: impl FnMut(usize)) {
        let line = self.line;
        let Round { blocks, scale, top, .. } = *self.round;
        for stripe in (0..blocks.stripes()).filter(|&stripe| line.whole_stripes[stripe] == 0) {
            if line.weights.of(scale, top, blocks.stripe_maximum(stripe)) <= line.weights.half() {
                continue;
            }
            for lane in 0..blocks.lanes() {
                if line.weights.of(scale, top, blocks.block_maximum(stripe, lane)) > line.weights.half() {
                    blocks.items(blocks.block(stripe, lane)).for_each(&mut visit);
                }
            }
        }
    }
}

/// A line with one bound an item, and a guide into it.
pub struct ItemTable {
    bits: u32,
    /// `ends[i]` = sum of the weights of items `0..=i`.
    ends: Vec<u64>,
    /// `guide[g]` = first item whose end lies beyond `g << shift`.
    guide: Vec<u32>,
    shift: u32,
    /// Items with a bound above one half, if they are few.
    likely: Option<Vec<usize>>,
}

/// Items weighed between two checks for Ctrl-C.
const CHECK_EVERY: usize = 64 * MOST_LANES;
/// More likely items than this are looked for when they are asked for: in less than one draw of 2^64.
const MOST_LIKELY: usize = 128;

impl ItemTable {
    pub fn new(round: &Round<'_, '_>) -> Result<Self, SelectError> {
        let (blocks, weights) = (round.blocks, WeightBounds::for_count(round.blocks.len()));
        let (mut total, mut likely) = (0, Vec::new());
        let mut ends = reserved(blocks.len())?;
        let mut bounds = [0; MOST_LANES];
        for first in (0..blocks.len()).step_by(MOST_LANES) {
            if first.is_multiple_of(CHECK_EVERY) {
                interrupt::check()?;
            }
            let bounds = &mut bounds[..MOST_LANES.min(blocks.len() - first)];
            let filled = blocks.item_bounds(round.top, round.scale, weights, first, bounds);
            ends.extend(bounds.iter().map(|weight| {
                total += weight;
                total
            }));
            if filled.largest > weights.half() && likely.len() <= MOST_LIKELY {
                let is_likely = |&(_, weight): &(usize, &u64)| *weight > weights.half();
                likely.extend((first..).zip(&*bounds).filter(is_likely).map(|(index, _)| index));
            }
        }
        // A guide has 32-bit entries; more items than that are found by bisection alone.
        let cells = if u32::try_from(ends.len()).is_ok() { ends.len().next_power_of_two() } else { 1 };
        let shift = (u64::BITS - total.leading_zeros()).saturating_sub(cells.ilog2());
        let mut guide = reserved(2 * cells + 1)?;
        let mut item = 0;
        for cell in 0..=(total >> shift) {
            while item < ends.len() && ends[item] <= cell << shift {
                item += 1;
            }
            guide.push(if cells == 1 { 0 } else { item as u32 });
        }
        let likely = (likely.len() <= MOST_LIKELY).then_some(likely);
        Ok(Self { bits: weights.bits, ends, guide, shift, likely })
    }

    /// The item in whose piece of the line `position` lies; `position` must be below the total.
    #[inline]
    fn item_at(&self, position: u64) -> usize {
        let cell = (position >> self.shift) as usize;
        let first = self.guide[cell] as usize;
        let last = self.guide.get(cell + 1).map_or(self.ends.len(), |&next| (next as usize + 1).min(self.ends.len()));
        let last = if last > first { last } else { self.ends.len() };
        first + self.ends[first..last].partition_point(|&end| end <= position)
    }

    fn weight(&self, item: usize) -> u64 {
        self.ends[item] - if item == 0 { 0 } else { self.ends[item - 1] }
    }
}

impl WeightLine for &ItemTable {
    /// Most are taken.
    const FIRST: u64 = 1;

    fn bits(&self) -> u32 {
        self.bits
    }

    fn total(&self) -> u64 {
        self.ends[self.ends.len() - 1]
    }

    #[inline]
    fn at(&mut self, position: u64) -> Segment {
        let index = self.item_at(position);
        let (weight, end) = (self.weight(index), self.ends[index]);
        Segment { index, weight, end, into: position - (end - weight), equals_end: end }
    }

    #[inline]
    fn own_weight(&self, place: &Segment) -> u64 {
        place.weight
    }

    fn visit_likely(&mut self, visit: impl FnMut(usize)) {
        match &self.likely {
            Some(likely) => likely.iter().copied().for_each(visit),
            None => (0..self.ends.len()).filter(|&index| self.weight(index) > 1 << (self.bits - 1)).for_each(visit),
        }
    }
}

#[cfg(test)]
#[path = "weight_line_tests.rs"]
mod tests;
