//! A draw as a race: who comes first, and when.
//!
//! In units that measure scores from the top of the index, an item with flip probability p comes after an exponential
//! time of rate p (exponential mechanism), or at a uniform time of [0, 1/p] (permute-and-flip). The first to come has the
//! mechanism's law, and of several races the first of all is the first of the firsts.
//! Proof: `proofs/partial_selection.md`; model: `tests/reference/partial_selection.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::numbers::coin::{LazyUniform, Proposal, RATE_BITS, Stage, accept, power_of_two};
use crate::numbers::lazy_time::Clock;
use crate::numbers::lazy_variate::{Variate, is_below};
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::Blocks;
use crate::selection::exponential_mechanism::{Proposals, WeighedStripe};
use crate::selection::many_draws::{ITEMS_BETWEEN_QUESTIONS, stage_rate};
use crate::selection::permute_and_flip::{Listing, list};
use crate::selection::thinning::Skipper;
use crate::selection::tries::Tries;

/// With fewer blocks than this near the top, permute-and-flip lists all heads; it only steers.
const FEW_BLOCKS: f64 = 64.0;
/// Stages are thinned while they start at 1/8 or before and last 1/8 at most (see `stage_rate`).
const LATEST_THINNED: u64 = 8;

/// The first by the exponential mechanism: proposals come at the rate of all bounds together, and the first that is
/// accepted counts.
///
/// # Errors
/// `Changed`, `Interrupted`.
pub fn exponential<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    entropy: &mut E,
) -> Result<(usize, Clock), SelectError> {
    let proposals = Proposals::new(blocks, scale);
    let bits = proposals.weights().bits;
    let mut clock = Clock::start(proposals.total(), bits);
    let mut stripe = WeighedStripe::none();
    let mut tries = Tries::default();
    loop {
        let gap = Variate::exponential(entropy);
        clock.pass(gap, bits, entropy);
        let proposed = proposals.propose(blocks, scale, &mut stripe, entropy);
        let proposal = Proposal::Weight { weight: proposed.weight, bits };
        if accept(&blocks.exponential(scale, proposed.index), proposal, Stage::WHOLE, entropy) {
            return Ok((proposed.index, clock));
        }
        tries.failed(|| blocks.still_hold(|_| true))?;
    }
}

/// The first by permute-and-flip: all who come within [0, 1], or, if they are many, within ever longer stages.
///
/// # Errors
/// `Interrupted`.
pub fn permute_and_flip<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    entropy: &mut E,
) -> Result<(usize, Clock), SelectError> {
    permute_and_flip_with(blocks, scale, FEW_BLOCKS, entropy)
}

fn permute_and_flip_with<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    few_blocks: f64,
    entropy: &mut E,
) -> Result<(usize, Clock), SelectError> {
    let proposals = Proposals::new(blocks, scale);
    let bits = proposals.weights().bits;
    let heads = proposals.total() as f64 / power_of_two(bits as i32);
    let rows = blocks.block(0, 0).len.max(1) as f64;
    if heads < few_blocks * rows {
        return Ok(list(blocks, scale, First::default(), entropy)?.within(Stage::WHOLE));
    }
    // Two to four proposals in the first stage, and never one longer than 1/8.
    let stage_bits = (libm::log2(heads / 2.0) as u32).clamp(LATEST_THINNED.ilog2(), RATE_BITS - 2 - bits);
    let mut stage = Stage { start: 0, end: 1, bits: stage_bits };
    loop {
        let mut first = First::default();
        if stage.start.max(stage.end - stage.start) * LATEST_THINNED <= 1 << stage_bits {
            list_thinned(stage, &proposals, blocks, scale, &mut first, entropy)?;
        } else {
            // Rare, so plainly. In the last stage the best item comes for certain.
            for index in 0..blocks.len() {
                if index.is_multiple_of(ITEMS_BETWEEN_QUESTIONS) {
                    interrupt::check()?;
                }
                if accept(&blocks.exponential(scale, index), Proposal::Certain, stage, entropy) {
                    first.add(index, entropy);
                }
            }
        }
        if first.best.is_some() || stage.end >> stage_bits == 1 {
            return Ok(first.within(stage));
        }
        stage = Stage { start: stage.end, end: 2 * stage.end, bits: stage_bits };
    }
}

/// List those who come in `stage`, having not come before.
fn list_thinned<T: Score, E: Entropy>(
    stage: Stage,
    proposals: &Proposals,
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    first: &mut First,
    entropy: &mut E,
) -> Result<(), SelectError> {
    let total = proposals.total();
    let unit = stage_rate(stage, proposals.weights());
    let mut stripe = WeighedStripe::none();
    let mut position = 0;
    while position < total {
        let mut skipper = Skipper::new(entropy);
        let rate_until = |end: u64| u128::from(end - position) * u128::from(unit);
        if skipper.is_beyond(rate_until(total), entropy) {
            return Ok(());
        }
        interrupt::check()?;
        // A lower bound of the place where somebody rings, up to rounding: it is this item or one of the next.
        let certain = skipper.surely_beyond() / u128::from(unit);
        let certain = certain.min(u128::from(total - position - 1)) as u64;
        let mut item = proposals.at(blocks, scale, position + certain, &mut stripe);
        while skipper.is_beyond(rate_until(item.end), entropy) {
            item = proposals.at(blocks, scale, item.end, &mut stripe);
        }
        let rate = item.weight * unit;
        if accept(&blocks.exponential(scale, item.index), Proposal::Thinned { rate }, stage, entropy) {
            first.add(item.index, entropy);
        }
        position = item.end;
    }
    Ok(())
}

/// Everybody who comes within a stage comes at a uniform time of it: who is first, and the place of that time.
#[derive(Default)]
struct First {
    best: Option<(usize, LazyUniform)>,
}

impl First {
    fn within(self, stage: Stage) -> (usize, Clock) {
        // There is somebody: the best item comes by the end of the last stage (unless somebody overwrote the scores
        // meanwhile: then any candidate will do, as long as it is one).
        let (index, uniform) = self.best.unwrap_or_else(|| (0, LazyUniform::zero()));
        (index, Clock::within(stage.start, stage.end - stage.start, stage.bits, &uniform))
    }
}

impl Listing for First {
    #[inline]
    fn add<E: Entropy>(&mut self, index: usize, entropy: &mut E) {
        let mut uniform = LazyUniform::draw(entropy);
        let is_first = match &mut self.best {
            Some((_, earliest)) => is_below(&mut uniform, earliest, entropy),
            None => true,
        };
        if is_first {
            self.best = Some((index, uniform));
        }
    }
}

#[cfg(test)]
#[path = "arrival_race_tests.rs"]
mod tests;
