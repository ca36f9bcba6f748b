//! The exponential mechanism by rejection from a line of weight bounds.
//!
//! Propose an item with probability proportional to its bound and accept with exp(-x) / bound; otherwise propose again.
//! Proofs: `proofs/exponential_mechanism.md` (the law), `proofs/exact_sampling.md` (this way of drawing) and
//! `proofs/free_gap.md` (the time); model: `tests/reference/block_rejection.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{LazyUniform, Proposal, Stage, below, flip};
use crate::exact::lazy_time::Clock;
use crate::exact::lazy_variate::Variate;
use crate::scores::weight_bounds::WeightBounds;
use crate::select::tries::Tries;
use crate::select::weight_line::{BlockLine, Round, WeightLine};

/// Uniform tries before block rejection: they cost less than a line of bounds.
const TRIES: usize = 16;

/// One draw from a fresh index: uniform tries, which end most draws where many scores are near the top, then block rejection.
pub fn draw_once(round: &Round<'_, '_>, entropy: &mut Entropy) -> Result<usize, SelectError> {
    for _ in 0..TRIES {
        let index = entropy.below(round.blocks.len() as u64) as usize;
        if !round.removed.contains(index) && flip(&round.exponential(index), entropy) {
            return Ok(index);
        }
    }
    draw_from(round, &mut BlockLine::new(round).of(round), |_| {}, entropy)
}

/// Draw a candidate with a line at hand; `propose` is told of every proposal before it is made.
pub fn draw_from<L: WeightLine>(
    round: &Round<'_, '_>,
    line: &mut L,
    proposing: impl FnMut(&mut Entropy),
    entropy: &mut Entropy,
) -> Result<usize, SelectError> {
    let accepts = |index, uniform: &mut LazyUniform, entropy: &mut Entropy| {
        below(uniform, &round.exponential(index), Proposal::Certain, Stage::WHOLE, entropy)
    };
    propose_until(round, line, proposing, accepts, entropy)
}

/// Propose candidates until one is accepted: `accepts` says whether a uniform number is below its weight, of which the line has
/// bounds.
pub fn propose_until<L: WeightLine>(
    round: &Round<'_, '_>,
    line: &mut L,
    mut proposing: impl FnMut(&mut Entropy),
    accepts: impl Fn(usize, &mut LazyUniform, &mut Entropy) -> bool,
    entropy: &mut Entropy,
) -> Result<usize, SelectError> {
    let bits = line.bits();
    let mut tries = Tries::default();
    loop {
        proposing(entropy);
        let place = line.propose(entropy);
        // The item has the beginning of its piece, exp(-x) of it in units of 2^bits. Its own bounds say where that ends, but
        // for a few places near it: what is proposed there has further bits.
        let weight = line.own_weight(&place);
        if place.into < weight
            && !round.removed.contains(place.index)
            && (place.into < WeightBounds::least(round.scale, weight) || {
                place.into >> bits == 0 && {
                    let mut uniform = LazyUniform::beginning_with(place.into, bits, entropy);
                    accepts(place.index, &mut uniform, entropy)
                }
            })
        {
            return Ok(place.index);
        }
        tries.failed(|| round.blocks.still_hold(|index| !round.removed.contains(index)))?;
    }
}

/// Draw a candidate and its arrival time, with a line that was made for this round: proposals arrive at the rate of all bounds
/// together.
pub fn draw_with_time(
    round: &Round<'_, '_>,
    line: &BlockLine,
    entropy: &mut Entropy,
) -> Result<(usize, Clock), SelectError> {
    let mut line = line.of(round);
    let bits = line.bits();
    let mut clock = Clock::start(line.total(), bits);
    let wait = |entropy: &mut Entropy| clock.pass(Variate::exponential(entropy), bits, entropy);
    let index = draw_from(round, &mut line, wait, entropy)?;
    Ok((index, clock))
}
