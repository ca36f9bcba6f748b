//! One draw by any of the mechanisms, and many independent ones from the same scores.
//!
//! Many draws share the index over the scores and whatever the mechanism proposes from: bounds of blocks, made in a moment,
//! or, where there are draws enough to pay for it, a bound for every item. Proof: `proofs/exact_sampling.md`, "Stages".

use std::sync::{Mutex, PoisonError};

use crate::entropy::{Entropy, seeding, with_entropy};
use crate::error::{SelectError, zeros};
use crate::interrupt;
use crate::scores::block_index::Blocks;
use crate::scores::scale::Scale;
use crate::scores::score_view::View;
use crate::scores::threads::Turns;
use crate::scores::threads::{available_threads, with_helpers};
use crate::select::few::{FEW, FewScores};
use crate::select::noisy_max::{self, Levels};
use crate::select::weight_line::{BlockLine, ItemTable, Round, WeightLine};
use crate::select::{exponential_mechanism, permute_and_flip};

/// Which mechanism to draw from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    Exponential,
    PermuteAndFlip,
    LaplaceNoisyMax,
}

/// Items for which a draw is worth a table of bounds.
const ITEMS_PER_DRAW: usize = 64;
/// Draws of a turn, at most.
const LARGEST_PIECE: usize = 4096;
/// Draws between two checks for Ctrl-C; a long draw asks by itself.
const CHECK_EVERY: usize = 64;
/// Draws that are worth one more thread, and candidates where each is looked at.
const DRAWS_PER_THREAD: usize = 256;
const CANDIDATES_PER_THREAD: usize = 1 << 16;

/// One draw.
///
/// # Errors
/// As [`Blocks::new`], `Entropy`, `Interrupted`, or `Changed` if the scores were overwritten meanwhile.
pub fn select(law: Law, scores: View<'_>, scale: &Scale) -> Result<usize, SelectError> {
    let of_few: Option<fn(&FewScores, &Scale, &mut Entropy) -> usize> = match law {
        Law::Exponential => Some(FewScores::draw::<false>),
        Law::PermuteAndFlip => Some(FewScores::draw::<true>),
        Law::LaplaceNoisyMax => None,
    };
    if let Some(draw) = of_few.filter(|_| scores.len() <= FEW) {
        let few = FewScores::new(&scores)?;
        return with_entropy(|entropy| Ok(draw(&few, scale, entropy)));
    }
    let blocks = Blocks::new(scores)?;
    with_entropy(|entropy| draw(law, &Round::new(&blocks, scale), entropy))
}

pub(super) fn draw(law: Law, round: &Round<'_, '_>, entropy: &mut Entropy) -> Result<usize, SelectError> {
    match law {
        Law::Exponential => exponential_mechanism::draw_once(round, entropy),
        Law::PermuteAndFlip => permute_and_flip::draw_once(round, entropy),
        Law::LaplaceNoisyMax => noisy_max::draw(round, &Levels::default(), entropy),
    }
}

/// `size` independent draws.
///
/// # Errors
/// As [`select`], and `Memory` if there is none for that many answers.
pub fn select_many(law: Law, scores: View<'_>, scale: &Scale, size: usize) -> Result<Vec<usize>, SelectError> {
    let blocks = Blocks::new(scores)?;
    let round = Round::new(&blocks, scale);
    if law == Law::LaplaceNoisyMax {
        let levels = Levels::default();
        return repeat(size, 1, |entropy| noisy_max::draw(&round, &levels, entropy));
    }
    if is_worth_a_table(size, blocks.len()) {
        let table = ItemTable::new(&round)?;
        return repeat(size, 1, |entropy| draw_from(law, &round, &mut &table, entropy));
    }
    let line = BlockLine::new(&round);
    repeat(size, 1, |entropy| draw_from(law, &round, &mut line.of(&round), entropy))
}

/// One of many draws, with a line of bounds at hand.
#[inline]
pub(super) fn draw_from(
    law: Law,
    round: &Round<'_, '_>,
    line: &mut impl WeightLine,
    entropy: &mut Entropy,
) -> Result<usize, SelectError> {
    match law {
        Law::Exponential => exponential_mechanism::draw_from(round, line, |_| {}, entropy),
        Law::PermuteAndFlip => permute_and_flip::draw_from(round, line, entropy),
        Law::LaplaceNoisyMax => noisy_max::draw(round, &Levels::default(), entropy), // by levels, not by a line
    }
}

/// Whether so many draws from so many items are worth a bound for each item.
pub(super) fn is_worth_a_table(size: usize, items: usize) -> bool {
    size.saturating_mul(ITEMS_PER_DRAW) >= items
}

/// Run `one` for each of `size` draws that look at so many candidates each, on all cores if that is worth it.
pub(super) fn repeat(
    size: usize,
    candidates: usize,
    one: impl Fn(&mut Entropy) -> Result<usize, SelectError> + Sync,
) -> Result<Vec<usize>, SelectError> {
    let draws_per_thread = DRAWS_PER_THREAD.min(CANDIDATES_PER_THREAD / candidates).max(1);
    let threads = threads_for(size / draws_per_thread);
    let per_turn = (size / (8 * threads)).clamp(1, LARGEST_PIECE);
    share_out(size, per_turn, threads, &|_, piece, entropy| {
        for (number, slot) in piece.iter_mut().enumerate() {
            if number.is_multiple_of(CHECK_EVERY) {
                interrupt::check()?;
            }
            *slot = one(entropy)?;
        }
        Ok(())
    })
}

/// How many threads draw, if so many are worth it. Helpers are out of a seeded block: it draws alone.
pub fn threads_for(worth: usize) -> usize {
    let most = if seeding::is_on() { 1 } else { available_threads() };
    most.min(worth).max(1)
}

/// Draws into some of the places, of which the number of the first one is given.
pub type Fill<'f> = dyn Fn(usize, &mut [usize], &mut Entropy) -> Result<(), SelectError> + Sync + 'f;

/// Fill `size` places by `fill`, which gets `per_turn` of them at a time, with the first one's number. Every thread has a stream
/// of its own.
pub fn share_out(size: usize, per_turn: usize, threads: usize, fill: &Fill<'_>) -> Result<Vec<usize>, SelectError> {
    let mut draws = zeros(size)?;
    let turns = Turns::new(size, per_turn);
    let pieces: Vec<_> = draws.chunks_mut(per_turn).map(Mutex::new).collect();
    with_helpers(threads - 1, &|| {
        let _guard = turns.ended_by_unwinding();
        while let Some(turn) = turns.take() {
            let mut piece = pieces[turn.start / per_turn].lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = with_entropy(|entropy| fill(turn.start, &mut piece, entropy)) {
                turns.fail(error);
            }
        }
    });
    drop(pieces);
    turns.outcome()?;
    Ok(draws)
}

#[cfg(test)]
#[path = "many_draws_tests.rs"]
mod tests;
