//! The exponential mechanism by rejection from a line of weight bounds.
//!
//! Propose an item with probability proportional to its bound and accept with exp(-x) / bound; otherwise propose again.
//! Proofs: `proofs/exponential_mechanism.md` (the law), `proofs/exact_sampling.md` (this way of drawing) and
//! `proofs/partial_selection.md` (the time); model: `tests/reference/block_rejection.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::numbers::coin::{Proposal, Stage, accept, flip};
use crate::numbers::lazy_time::Clock;
use crate::numbers::lazy_variate::Variate;
use crate::numbers::score::Score;
use crate::selection::weight_line::{BlockLine, Round, WeightLine};

/// Tries of an item chosen uniformly, each independent of those that failed before.
const UNIFORM_TRIES: usize = 15;
/// Proposals between two questions whether the call is to end.
const PROPOSALS_PER_CHECK: usize = 4096;

/// Draw a candidate from scores of which nothing but the index is known.
///
/// # Errors
/// `Interrupted`.
pub fn draw<T: Score, E: Entropy>(round: &Round<'_, '_, T>, entropy: &mut E) -> Result<usize, SelectError> {
    draw_from(round, &mut BlockLine::new(round).of(round), |_| {}, entropy)
}

/// Draw a candidate with a line at hand, after a few uniform tries: for scores many of which are near the top.
///
/// # Errors
/// `Interrupted`.
pub fn draw_from_many_near<T: Score, E: Entropy, L: WeightLine>(
    round: &Round<'_, '_, T>,
    line: impl FnOnce() -> L,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    for _ in 0..UNIFORM_TRIES {
        let index = entropy.below(round.blocks.len() as u64) as usize;
        if !round.removed.contains(index) && flip(&round.exponential(index), entropy) {
            return Ok(index);
        }
    }
    draw_from(round, &mut line(), |_| {}, entropy)
}

/// Draw a candidate with a line at hand; `propose` is told of every proposal before it is made.
///
/// # Errors
/// `Interrupted`.
pub fn draw_from<T: Score, E: Entropy, L: WeightLine>(
    round: &Round<'_, '_, T>,
    line: &mut L,
    mut proposing: impl FnMut(&mut E),
    entropy: &mut E,
) -> Result<usize, SelectError> {
    let bits = line.bits();
    for proposals in 1_usize.. {
        proposing(entropy);
        let place = line.propose(entropy);
        // Only the first part of the item's piece, as long as the item's own bound, is the item's.
        let weight = line.own_weight(&place);
        if place.into < weight
            && !round.removed.contains(place.index)
            && accept(&round.exponential(place.index), Proposal::Weight { weight, bits }, Stage::WHOLE, entropy)
        {
            return Ok(place.index);
        }
        if proposals % PROPOSALS_PER_CHECK == 0 {
            interrupt::check()?;
        }
    }
    Err(SelectError::Changed)
}

/// Draw a candidate and the time at which it comes: proposals come at the rate of all bounds together.
///
/// # Errors
/// `Interrupted`.
pub fn draw_with_time<T: Score, E: Entropy>(
    round: &Round<'_, '_, T>,
    entropy: &mut E,
) -> Result<(usize, Clock), SelectError> {
    let line = BlockLine::new(round);
    let mut line = line.of(round);
    let bits = line.bits();
    let mut clock = Clock::start(line.total(), bits);
    let wait = |entropy: &mut E| clock.pass(Variate::exponential(entropy), bits, entropy);
    let index = draw_from(round, &mut line, wait, entropy)?;
    Ok((index, clock))
}
