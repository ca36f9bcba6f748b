//! All candidates side by side on a line, each as long as an integer bound of its weight exp(-x): what is proposed from.
//!
//! [`BlockLine`] has one bound a block, or a stripe where all of it is far below the top: made in a moment. [`ItemTable`]
//! has one an item, for draws by the thousand. Proof: `proofs/exact_sampling.md`, Propositions 1 and 4.

use crate::entropy::Entropy;
use crate::error::{SelectError, reserved};
use crate::exact::coin::Exponential;
use crate::exact::rational::Rational;
use crate::interrupt;
use crate::scores::block_index::Blocks;
use crate::scores::kernels::{Divided, GROUPS, MOST_LANES};
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

/// An item and the bound it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub index: usize,
    pub weight: u64,
    /// How far from its start the position lies that was asked for.
    pub into: u64,
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
///
/// A stripe's part has as many rows as its blocks have items, each with all blocks side by side: so the rest of a position is told
/// from its row by one division. What a block lacks in the last row belongs to no item.
#[derive(Clone)]
pub struct BlockLine {
    weights: WeightBounds,
    /// `ends[s]` = sum over the stripes up to and including `s`.
    ends: Vec<u64>,
    /// The bound of all items of a stripe, or 0 where every block has its own.
    whole_stripes: Vec<u64>,
    /// The most that a stripe with one bound for all may come to.
    most_whole: u64,
    /// Stripes whose blocks have their own: what one row comes to, and where in `sums` they are.
    divided: Vec<Divided>,
    /// See [`Blocks::group_sums`].
    sums: Vec<[u64; GROUPS]>,
}

/// Stripes with one bound for all their items come together to this part of the line at most when it is made, and later to a quarter.
const SHARE_OF_WHOLE: u64 = 8;

impl BlockLine {
    pub fn new(round: &Round<'_, '_>) -> Self {
        let weights = WeightBounds::for_count(round.blocks.len());
        let (ends, whole_stripes, divided, sums) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut line = Self { weights, ends, whole_stripes, most_whole: 0, divided, sums };
        line.rebuild(round);
        line
    }

    /// Compute all bounds, after the round's top changed.
    pub fn rebuild(&mut self, round: &Round<'_, '_>) {
        let Round { blocks, scale, top, .. } = *round;
        let stripes = blocks.stripes();
        self.whole_stripes.resize(stripes, 0);
        let sum = blocks.stripe_bounds(top, scale, self.weights, 0, &mut self.whole_stripes);
        // A stripe has a block with its own bound and as many items as the first, but for the last stripe of several.
        let last = if stripes > 1 { self.whole_stripes[stripes - 1] } else { 0 };
        self.most_whole = (sum - last) * blocks.block(0, 0).len as u64 / SHARE_OF_WHOLE / stripes as u64;
        (0..stripes).for_each(|stripe| self.drop_if_divided(round, stripe));
        self.sums.clear();
        self.divided.resize(stripes, Divided::default());
        let into = (&mut self.divided[..], &mut self.sums);
        blocks.group_sums(top, scale, self.weights, 0, &self.whole_stripes, into);
        self.ends.clear();
        self.ends.reserve(stripes);
        let mut total = 0;
        for stripe in 0..stripes {
            total += self.length(round, stripe);
            self.ends.push(total);
        }
    }

    /// Keep a stripe's bound only if its items are unlikely, and come to little with that bound.
    fn drop_if_divided(&mut self, round: &Round<'_, '_>, stripe: usize) {
        let whole = &mut self.whole_stripes[stripe];
        if *whole > self.weights.half() || *whole * round.blocks.stripe_range(stripe).len() as u64 > self.most_whole {
            *whole = 0;
        }
    }

    /// The length of a stripe whose bounds are known.
    fn length(&self, round: &Round<'_, '_>, stripe: usize) -> u64 {
        match self.whole_stripes[stripe] {
            0 => self.divided[stripe].length * round.blocks.block(stripe, 0).len as u64,
            whole => whole * round.blocks.stripe_range(stripe).len() as u64,
        }
    }

    /// Compute one stripe's bounds, after its blocks changed.
    pub fn refresh(&mut self, round: &Round<'_, '_>, stripe: usize) {
        let before = self.ends[stripe] - if stripe == 0 { 0 } else { self.ends[stripe - 1] };
        let whole = &mut self.whole_stripes[stripe..=stripe];
        let was_divided = *whole == [0];
        round.blocks.stripe_bounds(round.top, round.scale, self.weights, stripe, whole);
        self.drop_if_divided(round, stripe);
        // Anew behind the others, and then into its place if it has one.
        let (place, end, whole) = (self.divided[stripe].first, self.sums.len(), &self.whole_stripes[stripe..=stripe]);
        let into = (&mut self.divided[stripe..=stripe], &mut self.sums);
        round.blocks.group_sums(round.top, round.scale, self.weights, stripe, whole, into);
        if was_divided {
            self.sums.copy_within(end.., place);
            self.sums.truncate(end);
            self.divided[stripe].first = place;
        }
        let change = self.length(round, stripe).wrapping_sub(before);
        for end in &mut self.ends[stripe..] {
            *end = end.wrapping_add(change);
        }
        if self.ends[self.ends.len() - 1] < 4 * self.most_whole * self.ends.len() as u64 {
            self.rebuild(round); // the line is half as long as it was at least: stripes with one bound would come to too much
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
        let blocks = self.round.blocks;
        let ends = &self.line.ends;
        let stripe = ends.partition_point(|&end| end <= position);
        let rest = position - if stripe == 0 { 0 } else { ends[stripe - 1] };
        let whole = self.line.whole_stripes[stripe];
        if let Some(item) = rest.checked_div(whole) {
            let (index, into) = (blocks.stripe_range(stripe).start + item as usize, rest % whole);
            return Segment { index, weight: whole, into };
        }
        let Divided { length, first } = self.line.divided[stripe];
        let (row, rest) = (rest / length, rest % length);
        let sums = &self.line.sums[first..first + blocks.lanes() / GROUPS];
        // The group, by a sum and a comparison each, then the block in it.
        let (mut group, mut start, mut end) = (0, 0, 0);
        for sum in &sums[sums.len() - 1][..GROUPS - 1] {
            end += sum;
            let is_behind = end <= rest;
            (group, start) = if is_behind { (group + 1, end) } else { (group, start) };
        }
        let (group, rest) = (group % GROUPS, rest - start);
        // Without a branch, which could not be foreseen.
        let (mut place, mut start) = (0, 0);
        for sums in &sums[..sums.len() - 1] {
            let is_behind = sums[group] <= rest;
            (place, start) = if is_behind { (place + 1, sums[group]) } else { (place, start) };
        }
        let (weight, into) = (sums[place][group] - start, rest - start);
        let index = blocks.stripe_range(stripe).start + row as usize * blocks.lanes() + place * GROUPS + group;
        Segment { index, weight, into }
    }

    #[inline(always)]
    fn own_weight(&self, place: &Segment) -> u64 {
        let Round { blocks, scale, top, .. } = *self.round;
        if place.index >= blocks.len() {
            return 0;
        }
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
        let weight = self.weight(index);
        Segment { index, weight, into: position - (self.ends[index] - weight) }
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
