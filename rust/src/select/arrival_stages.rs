//! Who comes first, where candidate i comes at a uniform time of [0, 1/p_i], p_i = exp(-x_i): stage after stage of the time.
//!
//! By time 1 those have come whose coins of bias p_i show heads: permute-and-flip. A stage lists by thinning who comes within
//! it, and the first stage in which anybody does ends the draw, with a uniform one of them, or with the first and its time.
//! Proof: `proofs/exact_sampling.md`, "Stages", and `proofs/partial_selection.md`; models: `tests/reference/stages.py`,
//! `tests/reference/partial_selection.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{LazyUniform, Proposal, RATE_BITS, Stage, accept};
use crate::exact::lazy_time::Clock;
use crate::exact::lazy_variate::is_below;
use crate::interrupt;
use crate::select::thinning::Skipper;
use crate::select::weight_line::{Proposals, Round, WeightLine};

/// A stage is twice as long as those before when this many of its length are over; a power of two.
const STAGES_BEFORE_LONGER: u64 = 4;
/// Items proposed or looked at between two questions whether the call is to end.
const ITEMS_PER_CHECK: usize = 4096;

/// What becomes of those who come in a stage, as they are found.
pub trait Comers: Default {
    fn add(&mut self, index: usize, entropy: &mut Entropy);
    fn is_empty(&self) -> bool;
}

/// One of them, uniformly: a reservoir of one.
#[derive(Default)]
pub struct AnyOfThem {
    count: u64,
    pub kept: usize,
}

impl Comers for AnyOfThem {
    #[inline]
    fn add(&mut self, index: usize, entropy: &mut Entropy) {
        self.count += 1;
        if entropy.below(self.count) == 0 {
            self.kept = index;
        }
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// The first of them, and the place of its time in the stage: everybody's is uniform.
#[derive(Default)]
pub struct Earliest {
    best: Option<(usize, LazyUniform)>,
}

impl Earliest {
    /// The first, and its time in that stage.
    pub fn within(self, stage: Stage) -> Option<(usize, Clock)> {
        let (index, uniform) = self.best?;
        Some((index, Clock::within(stage.start, stage.end - stage.start, stage.bits, &uniform)))
    }
}

impl Comers for Earliest {
    #[inline]
    fn add(&mut self, index: usize, entropy: &mut Entropy) {
        let mut uniform = LazyUniform::draw(entropy);
        let is_first = match &mut self.best {
            Some((_, earliest)) => is_below(&mut uniform, earliest, entropy),
            None => true,
        };
        if is_first {
            self.best = Some((index, uniform));
        }
    }

    fn is_empty(&self) -> bool {
        self.best.is_none()
    }
}

/// Those who come in the first stage in which anybody does; the best does, at the latest in the last one.
pub fn by_stages<C: Comers, L: WeightLine>(
    round: &Round<'_, '_>,
    line: &mut L,
    is_out: impl Fn(usize) -> bool + Copy,
    entropy: &mut Entropy,
) -> Result<(C, Stage), SelectError> {
    if let Some(found) = before_one_half(round, line, is_out, entropy)? {
        return Ok(found);
    }
    let mut comers = C::default();
    list_last(round, line, is_out, &mut comers, entropy)?;
    if comers.is_empty() { Err(SelectError::Changed) } else { Ok((comers, LAST)) }
}

/// List all who come in the last stage: a best candidate comes with certainty, and whoever is likely to has a coin of its own.
pub fn list_last<C: Comers, L: WeightLine>(
    round: &Round<'_, '_>,
    line: &mut L,
    is_out: impl Fn(usize) -> bool + Copy,
    comers: &mut C,
    entropy: &mut Entropy,
) -> Result<(), SelectError> {
    list(LAST, round, line, is_out, comers, entropy)?;
    let mut looked_at = 0_usize;
    line.visit_likely(|index| {
        looked_at += 1;
        if looked_at.is_multiple_of(ITEMS_PER_CHECK) {
            interrupt::check_deep();
        }
        if !is_out(index) && accept(&round.exponential(index), Proposal::Certain, LAST, entropy) {
            comers.add(index, entropy);
        }
    });
    Ok(())
}

/// Those who come in the first of ever longer stages of [0, 1/2) in which anybody does; `None` if nobody comes.
pub fn before_one_half<C: Comers, L: WeightLine>(
    round: &Round<'_, '_>,
    line: &mut L,
    is_out: impl Fn(usize) -> bool + Copy,
    entropy: &mut Entropy,
) -> Result<Option<(C, Stage)>, SelectError> {
    let mut stage = first_stage(line);
    while 2 * stage.end <= 1 << stage.bits {
        let mut comers = C::default();
        list(stage, round, line, is_out, &mut comers, entropy)?;
        if !comers.is_empty() {
            return Ok(Some((comers, stage)));
        }
        stage = stage_after(stage);
    }
    Ok(None)
}

/// One or two proposals come in the first stage, unless rates leave no room for one so short.
pub fn first_stage(line: &impl Proposals) -> Stage {
    let bits = (line.total() >> line.bits()).max(2).ilog2().min(RATE_BITS - 3 - line.bits());
    Stage { start: 0, end: 1, bits }
}

/// The stage that follows one that ends before 1/2. Longer stages later, but short beside what is over: the one that ends
/// the draw goes a little beyond its first.
pub fn stage_after(stage: Stage) -> Stage {
    let length = 1 << (stage.end / STAGES_BEFORE_LONGER).max(1).ilog2();
    Stage { start: stage.end, end: stage.end + length, bits: stage.bits }
}

/// The second half of the time.
pub const LAST: Stage = Stage { start: 1, end: 2, bits: 1 };

/// List those who come in `stage`, having not come before; in the last stage without those of a bound above one half.
pub fn list<C: Comers, L: WeightLine>(
    stage: Stage,
    round: &Round<'_, '_>,
    line: &mut L,
    is_out: impl Fn(usize) -> bool,
    comers: &mut C,
    entropy: &mut Entropy,
) -> Result<(), SelectError> {
    let total = line.total();
    let unit = unit_rate(stage, line.bits());
    let most_thinned = if stage.is_last() { 1 << (line.bits() - 1) } else { u64::MAX };
    let mut position = 0;
    for proposals in 1_usize.. {
        let rate_until = |end: u64| u128::from(end - position) * u128::from(unit);
        let Some(mut ring) = Skipper::within(rate_until(total), entropy) else { break };
        // It rings at this item or, by rounding, at one of the next.
        let mut place = line.at((position + ring.surely_passes(unit)).min(total - 1));
        while ring.is_beyond(rate_until(place.end), entropy) {
            place = line.at(place.end);
        }
        if place.weight > most_thinned {
            position = place.equals_end;
            continue;
        }
        // Only the first part of the item's piece, as long as the item's own bound, is the item's.
        let own = line.own_weight(&place);
        if !is_out(place.index) && !ring.is_beyond(rate_until(place.end - place.weight + own), entropy) {
            let proposal = Proposal::Thinned { rate: own * unit };
            if accept(&round.exponential(place.index), proposal, stage, entropy) {
                comers.add(place.index, entropy);
            }
        }
        position = place.end;
        if proposals.is_multiple_of(ITEMS_PER_CHECK) {
            interrupt::check()?;
        }
    }
    Ok(())
}

/// The rate of weight 1, such that an item of weight w rings with at least the probability with which it comes in `stage`.
///
/// In [s, t) that takes a rate of ln((1 - s w) / (1 - t w)), which is convex in w and 0 at 0. So what is enough for w = 1
/// is enough for all: (t - s) / (1 - t), as ln(1 + y) <= y. In the last stage w is at most 1/2, where ln(3/2) < 1/2.
fn unit_rate(stage: Stage, bits: u32) -> u64 {
    if stage == LAST {
        return 1 << (RATE_BITS - bits);
    }
    let length = u128::from(stage.end - stage.start) << (RATE_BITS - bits);
    length.div_ceil((1 << stage.bits) - u128::from(stage.end)) as u64
}
