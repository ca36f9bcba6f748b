//! Many independent draws from one vector of scores: one pass to prepare, then draws that cost the same for any n.
//!
//! For few draws the block index is enough. For many, every item gets an integer upper bound of its weight: the
//! exponential mechanism proposes items by these bounds, and permute-and-flip lists the heads that *arrive* early.
//! Give every item a uniform arrival time. The heads that arrive in [0, t) are, item by item, independent with
//! probability t exp(-x), and the first head to arrive is a uniform one among them; if there is none, the rest
//! [t, 1) is listed in full. Proof: `proofs/exact_sampling.md`, "Many draws".

use crate::blocks::{Blocks, Indexable, Weights, available_threads};
use crate::coin::{Proposal, Stage, accept, flip};
use crate::entropy::{Entropy, with_thread_entropy};
use crate::error::SelectError;
use crate::exponential::{self, Proposals};
use crate::scale::Scale;
use crate::score::{Score, View};
use crate::thinning::{Skipper, rate_for};
use crate::visited::Visited;
use crate::permute_and_flip::Heads;
use crate::{noisy_max, permute_and_flip};

/// Which mechanism to draw from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    Exponential,
    PermuteAndFlip,
    LaplaceNoisyMax,
}

/// Draws per item from which bounds for every single item pay off.
const ITEMS_PER_DRAW: usize = 64;
/// Draws that are worth one more thread.
const DRAWS_PER_THREAD: usize = 256;
/// Heads expected in the first stage of permute-and-flip; none comes with probability about exp(-8).
const HEADS_WANTED: f64 = 8.0;

/// One draw.
///
/// # Errors
/// As [`Blocks::new`], or `Entropy`.
pub fn select<T: Indexable>(law: Law, scores: View<'_, T>, scale: &Scale) -> Result<usize, SelectError> {
    let blocks = Blocks::new(scores)?;
    with_thread_entropy(|entropy| Ok(draw(law, &blocks, scale, entropy)))
}

fn draw<T: Score, E: Entropy>(law: Law, blocks: &Blocks<'_, T>, scale: &Scale, entropy: &mut E) -> usize {
    let none = Visited::new();
    match law {
        Law::Exponential => {
            exponential::draw(blocks, scale, &Proposals::new(blocks, scale), &none, entropy)
        }
        Law::PermuteAndFlip => permute_and_flip::draw(blocks, scale, &none, entropy),
        Law::LaplaceNoisyMax => noisy_max::draw(blocks, scale, &none, entropy),
    }
}

/// `size` independent draws.
///
/// # Errors
/// As [`select`].
pub fn select_many<T: Indexable>(
    law: Law,
    scores: View<'_, T>,
    scale: &Scale,
    size: usize,
) -> Result<Vec<usize>, SelectError> {
    let blocks = Blocks::new(scores)?;
    let is_worth_a_table = size.saturating_mul(ITEMS_PER_DRAW) >= blocks.len();
    match law {
        Law::Exponential if is_worth_a_table => {
            let table = ItemTable::new(&blocks, scale, |weight| weight);
            repeat(size, DRAWS_PER_THREAD, |entropy| exponential_draw(&blocks, scale, &table, entropy))
        }
        Law::Exponential => {
            let (proposals, none) = (Proposals::new(&blocks, scale), Visited::new());
            repeat(size, DRAWS_PER_THREAD, |entropy| exponential::draw(&blocks, scale, &proposals, &none, entropy))
        }
        Law::PermuteAndFlip if is_worth_a_table => {
            let plan = ArrivalPlan::new(&blocks, scale);
            repeat(size, DRAWS_PER_THREAD, |entropy| plan.draw(&blocks, scale, entropy))
        }
        Law::PermuteAndFlip | Law::LaplaceNoisyMax => {
            repeat(size, 1, |entropy| draw(law, &blocks, scale, entropy))
        }
    }
}

/// Run `one` `size` times, on all cores if that is worth it; every thread has a stream of its own.
fn repeat(
    size: usize,
    draws_per_thread: usize,
    one: impl Fn(&mut crate::entropy::ThreadEntropy) -> usize + Sync,
) -> Result<Vec<usize>, SelectError> {
    let mut draws = vec![0; size];
    let threads = available_threads().min(size / draws_per_thread).max(1);
    let fill = |part: &mut [usize]| {
        // In pieces, so that reseeding takes place between them.
        part.chunks_mut(4096).try_for_each(|piece| {
            with_thread_entropy(|entropy| {
                piece.iter_mut().for_each(|slot| *slot = one(entropy));
                Ok(())
            })
        })
    };
    if threads == 1 {
        fill(&mut draws)?;
        return Ok(draws);
    }
    std::thread::scope(|scope| {
        let mut parts = draws.chunks_mut(size.div_ceil(threads));
        let mine = parts.next();
        let others: Vec<_> = parts.map(|part| scope.spawn(|| fill(part))).collect();
        let first = mine.map_or(Ok(()), fill);
        others.into_iter().fold(first, |all, other| all.and(other.join().unwrap_or(Err(SelectError::Entropy))))
    })?;
    Ok(draws)
}

/// Cumulative weight bounds of all items, with a guide into them.
struct ItemTable {
    weights: Weights,
    /// `ends[i]` = sum of the weights of items `0..=i`.
    ends: Vec<u64>,
    /// `guide[g]` = first item whose end lies beyond `g << shift`.
    guide: Vec<u32>,
    shift: u32,
}

impl ItemTable {
    /// `keep` maps an item's weight to the one it gets in this table.
    fn new<T: Score>(blocks: &Blocks<'_, T>, scale: &Scale, keep: impl Fn(u64) -> u64) -> Self {
        let weights = Weights::for_count(blocks.len());
        let mut total = 0;
        let mut ends = Vec::with_capacity(blocks.len());
        for index in 0..blocks.len() {
            total += keep(weights.at(scale.octaves(blocks.top(), blocks.get(index))));
            ends.push(total);
        }
        // A guide has 32-bit entries; more items than that are found by bisection alone.
        let cells = if u32::try_from(ends.len()).is_ok() { ends.len().next_power_of_two() } else { 1 };
        let shift = (u64::BITS - total.leading_zeros()).saturating_sub(cells.ilog2());
        let mut guide = Vec::with_capacity(cells + 1);
        let mut item = 0;
        for cell in 0..=(total >> shift) {
            while item < ends.len() && ends[item] <= cell << shift {
                item += 1;
            }
            guide.push(if cells == 1 { 0 } else { item as u32 });
        }
        Self { weights, ends, guide, shift }
    }

    fn total(&self) -> u64 {
        self.ends[self.ends.len() - 1]
    }

    fn start(&self, item: usize) -> u64 {
        if item == 0 { 0 } else { self.ends[item - 1] }
    }

    fn weight(&self, item: usize) -> u64 {
        self.ends[item] - self.start(item)
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
}

fn exponential_draw<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    table: &ItemTable,
    entropy: &mut E,
) -> usize {
    loop {
        let index = table.item_at(entropy.below(table.total()));
        let proposal = Proposal::Weight { weight: table.weight(index), bits: table.weights.bits };
        if accept(&blocks.exponential(scale, index), proposal, Stage::WHOLE, entropy) {
            return index;
        }
    }
}

/// Permute-and-flip by arrival times.
struct ArrivalPlan {
    /// The first stage is [0, 2^-first_bits).
    first_bits: u32,
    /// Items that are flipped in every draw: those too likely to be thinned, if the first stage is all of [0, 1).
    near: Vec<usize>,
    /// All others, by their weights.
    far: ItemTable,
}

impl ArrivalPlan {
    fn new<T: Score>(blocks: &Blocks<'_, T>, scale: &Scale) -> Self {
        let weights = Weights::for_count(blocks.len());
        let weight = |index: usize| weights.at(scale.octaves(blocks.top(), blocks.get(index)));
        let heads = (0..blocks.len()).map(weight).sum::<u64>() as f64 / crate::coin::power_of_two(weights.bits as i32);
        let first_bits = (heads / HEADS_WANTED).max(1.0).log2() as u32;
        let is_near = |weight: u64| first_bits == 0 && weight > weights.half();
        Self {
            first_bits,
            near: (0..blocks.len()).filter(|&index| is_near(weight(index))).collect(),
            far: ItemTable::new(blocks, scale, |weight| if is_near(weight) { 0 } else { weight }),
        }
    }

    fn draw<T: Score, E: Entropy>(&self, blocks: &Blocks<'_, T>, scale: &Scale, entropy: &mut E) -> usize {
        let mut heads = Heads::default();
        for &index in &self.near {
            if flip(&blocks.exponential(scale, index), entropy) {
                heads.add(index, entropy);
            }
        }
        let first = Stage { start: 0, end: 1, bits: self.first_bits };
        let mut position = 0;
        let mut skipper = Skipper::new(entropy);
        while let Some(index) = self.next_ringing(position, &mut skipper, entropy) {
            let rate = self.rate(self.far.weight(index));
            if accept(&blocks.exponential(scale, index), Proposal::Thinned { rate }, first, entropy) {
                heads.add(index, entropy);
            }
            position = self.far.ends[index];
            skipper = Skipper::new(entropy);
        }
        if heads.is_empty() && self.first_bits > 0 {
            // Nobody came early. Rare, so plainly: every item's coin for the rest of the time.
            let rest = Stage { start: 1, end: 1 << self.first_bits, bits: self.first_bits };
            for index in 0..blocks.len() {
                if accept(&blocks.exponential(scale, index), Proposal::Certain, rest, entropy) {
                    heads.add(index, entropy);
                }
            }
        }
        heads.kept()
    }

    /// Rate of a piece of the line: an item of weight w arrives as a head in the first stage with probability at most
    /// w 2^-(bits + first_bits).
    fn rate(&self, weight: u64) -> u64 {
        rate_for(weight, self.far.weights.bits + self.first_bits)
    }

    /// The next item after `position` whose clock rings.
    fn next_ringing<E: Entropy>(&self, position: u64, skipper: &mut Skipper, entropy: &mut E) -> Option<usize> {
        let left = self.far.total() - position;
        if left == 0 || skipper.is_beyond(self.rate_of_line(left), entropy) {
            return None;
        }
        let one = self.rate_of_line(1);
        let guess = position + (skipper.surely_beyond() / one).min(u128::from(left - 1)) as u64;
        let mut index = self.far.item_at(guess);
        // `guess` is a lower bound of the truth up to rounding, so the item is this one or one of the next.
        while skipper.is_beyond(self.rate_of_line(self.far.ends[index] - position), entropy) {
            index += 1;
        }
        Some(index)
    }

    fn rate_of_line(&self, weight: u64) -> u128 {
        u128::from(weight) * u128::from(self.rate(1))
    }
}

#[cfg(test)]
#[path = "repeated_tests.rs"]
mod tests;
