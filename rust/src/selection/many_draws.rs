//! Many independent draws from one vector of scores: one pass to prepare, then draws that cost the same for any n.
//!
//! For few draws the block index is enough. For many, every item gets an integer upper bound of its weight: the
//! exponential mechanism proposes items by these bounds, and permute-and-flip lists the heads that *arrive* early.
//! Give every item a uniform arrival time. The heads that arrive in [0, t) are, item by item, independent with
//! probability t exp(-x), and the first head to arrive is a uniform one among them; if there is none, the rest
//! [t, 1) is listed in full. Stages that follow each other do the same with less work. Proof: `proofs/exact_sampling.md`, "Many draws".

use std::sync::{Mutex, PoisonError};

use crate::entropy::{Entropy, with_thread_entropy};
use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt;
use crate::numbers::coin::{Proposal, RATE_BITS, Stage, accept, flip};
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::{Blocks, Indexable};
use crate::scan::helper_threads::{available_threads, with_helpers};
use crate::scan::pile::Pile;
use crate::scan::score_view::View;
use crate::scan::weight_bounds::WeightBounds;
use crate::selection::exponential_mechanism::{self, Proposals};
use crate::selection::index_set::Visited;
use crate::selection::permute_and_flip::{Heads, Listing};
use crate::selection::thinning::{Skipper, rate_for};
use crate::selection::tries::Tries;
use crate::selection::{noisy_max, permute_and_flip};

/// Which mechanism to draw from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    Exponential,
    PermuteAndFlip,
    LaplaceNoisyMax,
}

/// Draws per item from which bounds for every single item pay off.
const ITEMS_PER_DRAW: usize = 64;
/// Draws between two looks at the common pile, at most.
const LARGEST_PIECE: usize = 4096;
/// Items between two questions whether the call is to end.
pub(crate) const ITEMS_BETWEEN_QUESTIONS: usize = 1 << 12;
/// Draws between two questions whether the call is to end; a long draw asks by itself.
const DRAWS_BETWEEN_QUESTIONS: usize = 64;
/// Draws that are worth one more thread.
const DRAWS_PER_THREAD: usize = 256;
/// With fewer heads than this expected, permute-and-flip lists them all; at least 32, so that stages are short.
const FEW_HEADS: f64 = 32.0;

/// One draw.
///
/// # Errors
/// As [`Blocks::new`], `Entropy`, `Changed` or `Interrupted`.
pub fn select<T: Indexable>(law: Law, scores: View<'_, T>, scale: &Scale) -> Result<usize, SelectError> {
    let blocks = Blocks::new(scores)?;
    with_thread_entropy(|entropy| draw(law, &blocks, scale, entropy))
}

fn draw<T: Score, E: Entropy>(
    law: Law,
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    let none = Visited::new();
    match law {
        Law::Exponential => exponential_mechanism::draw_once(blocks, scale, entropy),
        Law::PermuteAndFlip => permute_and_flip::draw(blocks, scale, &none, entropy),
        Law::LaplaceNoisyMax => noisy_max::draw(blocks, scale, &none, entropy),
    }
}

/// `size` independent draws.
///
/// # Errors
/// As [`select`], and `Memory` if there is none for that many answers.
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
            let table = ItemTable::new(&blocks, scale, |weight| weight)?;
            repeat(size, DRAWS_PER_THREAD, |entropy| exponential_draw(&blocks, scale, &table, entropy))
        }
        Law::Exponential => {
            let (proposals, none) = (Proposals::new(&blocks, scale), Visited::new());
            repeat(size, DRAWS_PER_THREAD, |entropy| {
                exponential_mechanism::draw(&blocks, scale, &proposals, &none, entropy)
            })
        }
        Law::PermuteAndFlip if is_worth_a_table => {
            let plan = ArrivalPlan::new(&blocks, scale)?;
            repeat(size, DRAWS_PER_THREAD, |entropy| plan.draw(&blocks, scale, entropy))
        }
        Law::PermuteAndFlip | Law::LaplaceNoisyMax => repeat(size, 1, |entropy| draw(law, &blocks, scale, entropy)),
    }
}

/// Run `one` `size` times, on all cores if that is worth it; every thread has a stream of its own.
fn repeat(
    size: usize,
    draws_per_thread: usize,
    one: impl Fn(&mut crate::entropy::ThreadEntropy) -> Result<usize, SelectError> + Sync,
) -> Result<Vec<usize>, SelectError> {
    let mut draws = reserved(size)?;
    draws.resize(size, 0);
    let threads = available_threads().min(size / draws_per_thread).max(1);
    // A common pile of pieces: a reseeding may take place between any two of them.
    let per_turn = (size / (8 * threads)).clamp(1, LARGEST_PIECE);
    let pile = Pile::new(size, per_turn);
    let pieces: Vec<_> = draws.chunks_mut(per_turn).map(Mutex::new).collect();
    with_helpers(threads - 1, &|| {
        let _guard = pile.ended_by_unwinding();
        while let Some(turn) = pile.take() {
            let mut piece = pieces[turn.start / per_turn].lock().unwrap_or_else(PoisonError::into_inner);
            let drawn = with_thread_entropy(|entropy| {
                for (number, slot) in piece.iter_mut().enumerate() {
                    if number.is_multiple_of(DRAWS_BETWEEN_QUESTIONS) {
                        interrupt::check()?;
                    }
                    *slot = one(entropy)?;
                }
                Ok(())
            });
            if let Err(error) = drawn {
                pile.fail(error);
            }
        }
    });
    drop(pieces);
    pile.outcome()?;
    Ok(draws)
}

/// Cumulative weight bounds of all items, with a guide into them.
struct ItemTable {
    weights: WeightBounds,
    /// `ends[i]` = sum of the weights of items `0..=i`.
    ends: Vec<u64>,
    /// `guide[g]` = first item whose end lies beyond `g << shift`.
    guide: Vec<u32>,
    shift: u32,
}

impl ItemTable {
    /// `keep` maps an item's weight to the one it gets in this table.
    fn new<T: Score>(blocks: &Blocks<'_, T>, scale: &Scale, keep: impl Fn(u64) -> u64) -> Result<Self, SelectError> {
        let weights = WeightBounds::for_count(blocks.len());
        let mut total = 0;
        let mut ends = reserved(blocks.len())?;
        for index in 0..blocks.len() {
            if index.is_multiple_of(ITEMS_BETWEEN_QUESTIONS) {
                interrupt::check()?;
            }
            total += keep(weights.at(scale.octaves(blocks.top(), blocks.get(index))));
            ends.push(total);
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
        Ok(Self { weights, ends, guide, shift })
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
) -> Result<usize, SelectError> {
    let mut tries = Tries::default();
    loop {
        let index = table.item_at(entropy.below(table.total()));
        let proposal = Proposal::Weight { weight: table.weight(index), bits: table.weights.bits };
        if accept(&blocks.exponential(scale, index), proposal, Stage::WHOLE, entropy) {
            return Ok(index);
        }
        tries.failed(|| blocks.still_hold(|_| true))?;
    }
}

/// Permute-and-flip by arrival times.
struct ArrivalPlan {
    /// Stages that are thinned, in order; they start at 0.
    stages: Vec<Stage>,
    /// Items that are flipped in every draw: those too likely to be thinned.
    near: Vec<usize>,
    /// All others, by their weights.
    far: ItemTable,
}

impl ArrivalPlan {
    fn new<T: Score>(blocks: &Blocks<'_, T>, scale: &Scale) -> Result<Self, SelectError> {
        let weights = WeightBounds::for_count(blocks.len());
        let weight = |index: usize| weights.at(scale.octaves(blocks.top(), blocks.get(index)));
        let heads =
            (0..blocks.len()).map(weight).sum::<u64>() as f64 / crate::numbers::coin::power_of_two(weights.bits as i32);
        if heads < FEW_HEADS {
            let is_near = |weight: u64| weight > weights.half();
            return Ok(Self {
                stages: vec![Stage::WHOLE],
                near: (0..blocks.len()).filter(|&index| is_near(weight(index))).collect(),
                far: ItemTable::new(blocks, scale, |weight| if is_near(weight) { 0 } else { weight })?,
            });
        }
        // Two heads expected in the first stage and in the second, four in the third (more where the rates' fixed
        // point leaves no room for shorter stages).
        let bits = (libm::log2(heads / 2.0) as u32).min(RATE_BITS - 2 - weights.bits);
        let stages = [(0, 1), (1, 2), (2, 4)].map(|(start, end)| Stage { start, end, bits });
        Ok(Self { stages: stages.to_vec(), near: Vec::new(), far: ItemTable::new(blocks, scale, |weight| weight)? })
    }

    fn draw<T: Score, E: Entropy>(
        &self,
        blocks: &Blocks<'_, T>,
        scale: &Scale,
        entropy: &mut E,
    ) -> Result<usize, SelectError> {
        let mut heads = Heads::default();
        for &index in &self.near {
            if flip(&blocks.exponential(scale, index), entropy) {
                heads.add(index, entropy);
            }
        }
        for &stage in &self.stages {
            self.list(stage, blocks, scale, &mut heads, entropy)?;
            if !heads.is_empty() {
                return Ok(heads.kept());
            }
        }
        // Nobody came early. Rare, so plainly: every item's coin for the rest of the time.
        let last = self.stages[self.stages.len() - 1];
        let rest = Stage { start: last.end, end: 1 << last.bits, bits: last.bits };
        for index in 0..blocks.len() {
            if index.is_multiple_of(ITEMS_BETWEEN_QUESTIONS) {
                interrupt::check()?;
            }
            if accept(&blocks.exponential(scale, index), Proposal::Certain, rest, entropy) {
                heads.add(index, entropy);
            }
        }
        Ok(heads.kept())
    }

    /// List the heads on the line that come in `stage`, having not come before.
    fn list<T: Score, E: Entropy>(
        &self,
        stage: Stage,
        blocks: &Blocks<'_, T>,
        scale: &Scale,
        heads: &mut Heads,
        entropy: &mut E,
    ) -> Result<(), SelectError> {
        let total = self.far.total();
        let unit = stage_rate(stage, self.far.weights);
        let mut position = 0;
        while position < total {
            let mut skipper = Skipper::new(entropy);
            if skipper.is_beyond(u128::from(total - position) * u128::from(unit), entropy) {
                return Ok(());
            }
            interrupt::check()?;
            // A lower bound of the place where somebody rings, up to rounding: it is this item or one of the next.
            let certain = (skipper.surely_beyond() / u128::from(unit)).min(u128::from(total - position - 1)) as u64;
            let mut index = self.far.item_at(position + certain);
            while skipper.is_beyond(u128::from(self.far.ends[index] - position) * u128::from(unit), entropy) {
                index += 1;
            }
            let rate = self.far.weight(index) * unit;
            if accept(&blocks.exponential(scale, index), Proposal::Thinned { rate }, stage, entropy) {
                heads.add(index, entropy);
            }
            position = self.far.ends[index];
        }
        Ok(())
    }
}

/// The rate of weight 1 in `stage`, such that an item of weight w rings with at least the probability with which it
/// comes in the stage, as long as w is at most 0.58 in the whole of [0, 1), or the stage is one of `ArrivalPlan`'s.
///
/// A stage of length l that starts at s takes w l / (1 - s w) <= x = w l / (1 - s), and -ln(1 - x) <= 5/4 w l because
/// s <= 1/8 and l <= 1/8 (`FEW_HEADS`): 8/7 for the start, and at x <= 1/7 a factor of 1.08 for the logarithm.
pub(crate) fn stage_rate(stage: Stage, weights: WeightBounds) -> u64 {
    if stage == Stage::WHOLE {
        return rate_for(1, weights.bits);
    }
    (5 * (stage.end - stage.start)) << (RATE_BITS - 2 - weights.bits - stage.bits)
}

#[cfg(test)]
#[path = "many_draws_tests.rs"]
mod tests;
