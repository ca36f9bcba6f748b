//! Report-noisy-max with Laplace noise: level after level from the top down, until a candidate stands above one.
//!
//! In units of the scale, candidate i stands at y = -x + s E with a fair sign s and a standard exponential E. Above a level
//! that its score does not exceed it stands with probability exp(-x)/2, and then by a standard exponential more, for
//! every candidate alike: permute-and-flip's coins and times at half weight, so that at the first level, the best score, the first to arrive
//! before time 1/2 is the largest. If none does, all stand below: then those with scores above the next level have
//! noise drawn one by one, the others are listed as before, and the largest is compared exactly, by bits drawn as needed.
//! (Exponential noise is permute-and-flip, Gumbel noise the exponential mechanism: the same laws without the noise.)
//! Proof: `proofs/noisy_max.md`; model: `tests/reference/noisy_max.py`.

use std::borrow::Cow;
use std::sync::OnceLock;

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{Exponential, LazyUniform, Proposal, Stage, TWO_TO_64, accept, below, power_of_two};
use crate::exact::decision::{decide, is_less};
use crate::exact::exp_enclosure::exp_negative;
use crate::exact::rational::Rational;
use crate::interrupt;
use crate::scores::score::Score;
use crate::select::once::exact_lead;
use crate::select::permute_and_flip::{before_one_half, first_stage, list, stage_after};
use crate::select::weight_line::{BlockLine, BlockLineOf, Round, WeightLine, visit_blocks};

/// How far a level lies below the one before, in units of the scale. It only steers: with more, many have to be looked at where
/// none stood above the level before.
const STEP: f64 = 2.0;
/// Levels kept from one draw to the next.
const LEVELS_KEPT: usize = 16;
/// The first half of permute-and-flip's time.
const HALF: Stage = Stage { start: 0, end: 1, bits: 1 };
/// Wider than all rounding errors in the enclosures below, relative to exponent and noise.
const MARGIN: f64 = 1e-12;

/// What the draws from one round have in common.
pub struct Levels {
    /// How far they lie apart, about.
    step: f64,
    kept: [OnceLock<Level>; LEVELS_KEPT],
}

#[derive(Clone)]
struct Level {
    /// The score that the level is at; below the last one there is no score.
    height: Option<Score>,
    /// Candidates with scores above this level and not above the one before.
    near: Vec<usize>,
    /// Bounds of the weights measured from here.
    line: Option<BlockLine>,
}

impl Level {
    fn first(round: &Round<'_, '_>) -> Self {
        Self { height: Some(round.top), near: Vec::new(), line: Some(BlockLine::new(round)) }
    }

    /// The level that follows one at `before`.
    fn after(before: Score, step: f64, round: &Round<'_, '_>) -> Self {
        let height = before.lowered(round.scale.gap_of(step));
        let is_near = |score: Score| score <= before && height.is_none_or(|height| score > height);
        let mut near = Vec::new();
        visit_blocks(
            round.blocks,
            |maximum| height.is_none_or(|height| maximum > height),
            |index, score| {
                if is_near(score) && !round.removed.contains(index) {
                    near.push(index);
                }
            },
        );
        Self { height, near, line: height.map(|height| BlockLine::new(&round.from(height))) }
    }
}

impl Default for Levels {
    fn default() -> Self {
        Self { step: STEP, kept: [const { OnceLock::new() }; LEVELS_KEPT] }
    }
}

impl Levels {
    fn get(&self, number: usize, make: impl FnOnce() -> Level) -> Cow<'_, Level> {
        match self.kept.get(number) {
            Some(cell) => Cow::Borrowed(cell.get_or_init(make)),
            None => Cow::Owned(make()),
        }
    }
}

/// Draw the candidate whose score plus Laplace noise is largest; `levels` must be of the same round.
pub fn draw(round: &Round<'_, '_>, levels: &Levels, entropy: &mut Entropy) -> Result<usize, SelectError> {
    let first = levels.get(0, || Level::first(round));
    if let Some(line) = &first.line {
        let is_out = |index| round.removed.contains(index);
        if let Some(winner) = before_one_half(round, &mut line.of(round), is_out, entropy)? {
            return Ok(winner);
        }
    }
    let mut leaders = Leaders::of(1);
    descend(&mut leaders, Vec::new(), round.top, levels, round, entropy)?;
    leaders.order.pop().map(|best| best.index).ok_or(SelectError::Changed)
}

/// Draw the two candidates whose noisy scores are largest, the largest first.
///
/// `best` is the candidate whose score is above `second`, if there is one; it is removed. Its noise is drawn, and the walk begins
/// at `second`: above it stand of the others those that arrive in the first half of the time, measured from there.
pub(super) fn two_largest(
    round: &Round<'_, '_>,
    best: Option<(usize, Score)>,
    second: Score,
    entropy: &mut Entropy,
) -> Result<[Contender; 2], SelectError> {
    let (mut leaders, mut known) = (Leaders::of(2), Vec::new());
    if let Some((index, score)) = best {
        let is_up = entropy.next_u32() & 1 == 1;
        leaders.add(Contender::new(index, score, is_up, LazyUniform::draw(entropy), round), round, entropy);
    }
    let line = BlockLine::new(&round.from(second));
    if !found_above(second, &line, None, &mut leaders, &mut known, round, entropy)? {
        descend(&mut leaders, known, second, &Levels::default(), round, entropy)?;
    }
    <[_; 2]>::try_from(leaders.order).map_err(|_| SelectError::Changed)
}

/// Go through the levels below `above` until all leaders stand above one. All stand below `above`, but for the leaders and
/// those that are `known`: their noise was drawn.
fn descend(
    leaders: &mut Leaders,
    mut known: Vec<usize>,
    mut above: Score,
    levels: &Levels,
    round: &Round<'_, '_>,
    entropy: &mut Entropy,
) -> Result<(), SelectError> {
    for number in 1.. {
        interrupt::check()?;
        let level = levels.get(number, || Level::after(above, levels.step, round));
        for &index in level.near.iter().filter(|index| !known.contains(index)) {
            let score = round.blocks.get(index);
            if score > above || level.height.is_some_and(|height| score <= height) {
                return Err(SelectError::Changed);
            }
            leaders.add(Contender::below(above, index, score, round, entropy), round, entropy);
        }
        // Some candidate is near the first level.
        if leaders.order.is_empty() {
            return Err(SelectError::Changed);
        }
        let (Some(height), Some(line)) = (level.height, &level.line) else { break };
        if found_above(height, line, Some(above), leaders, &mut known, round, entropy)? {
            break;
        }
        above = height;
    }
    Ok(())
}

/// List the candidates that stand above the level at `height`, the highest first, and say whether all leaders do: those with scores not
/// above it arrive stage after stage, until none that arrives later can be a leader. All are known to stand below
/// the level at `above`, if there is one.
fn found_above(
    height: Score,
    line: &BlockLine,
    above: Option<Score>,
    leaders: &mut Leaders,
    known: &mut Vec<usize>,
    round: &Round<'_, '_>,
    entropy: &mut Entropy,
) -> Result<bool, SelectError> {
    let from_here = round.from(height);
    let below_top = round.scale.exponent(round.top, height);
    let mut line = line.of(&from_here);
    let mut stage = first_stage(&line, BlockLineOf::FIRST);
    // Those that arrived too early, and then not at all.
    let mut below = Vec::new();
    while 2 * stage.end <= 1 << stage.bits {
        let mut candidates = Vec::new();
        let is_out = |index| {
            round.removed.contains(index)
                || known.contains(&index)
                || below.contains(&index)
                || round.blocks.get(index) > height
        };
        list(stage, &from_here, &mut line, is_out, &mut candidates, entropy)?;
        let length = stage.end - stage.start;
        for index in candidates {
            let uniform = LazyUniform::beginning_with(stage.start / length, stage.bits - 1 - length.ilog2(), entropy);
            let contender = Contender::new(index, height, true, uniform, round);
            match contender.between(above, &from_here, round, entropy) {
                Some(contender) => {
                    leaders.add(contender, round, entropy);
                    known.push(index);
                }
                None => below.push(index),
            }
        }
        // What arrives later stands below this.
        let latest = -below_top - libm::log(2.0 * stage.end as f64 * power_of_two(-(stage.bits as i32)));
        if leaders.last().is_some_and(|last| last.low > latest + MARGIN * (1.0 + below_top + latest.abs())) {
            return Ok(true);
        }
        stage = stage_after(stage);
    }
    Ok(leaders.last().is_some_and(|last| last.is_above(height, round, entropy)))
}

/// A candidate with its noise, counted from a score `base`: y = -x(base) + E or - E, with E = -ln U.
pub(super) struct Contender {
    pub index: usize,
    pub base: Score,
    is_up: bool,
    uniform: LazyUniform,
    /// y lies between these.
    pub low: f64,
    pub high: f64,
}

impl Contender {
    /// Enclose y from the first 64 bits of U.
    fn new(index: usize, base: Score, is_up: bool, uniform: LazyUniform, round: &Round<'_, '_>) -> Self {
        let exponent = round.scale.exponent(round.top, base);
        let head = uniform.head() as f64;
        // U lies in [head, head + 1) 2^-64; both conversions to a double carry a relative error of 2^-53.
        let nearest = -libm::log((head + 1.0) / TWO_TO_64);
        let farthest = if head == 0.0 { f64::INFINITY } else { -libm::log(head / TWO_TO_64) };
        let (low, high) = if is_up { (nearest, farthest) } else { (-farthest, -nearest) };
        let slack = MARGIN * (1.0 + exponent + nearest);
        Self { index, base, is_up, uniform, low: low - exponent - slack, high: high - exponent + slack }
    }

    /// A candidate of that score, given that it stands below the level at `above`, which the score does not exceed.
    fn below(above: Score, index: usize, score: Score, round: &Round<'_, '_>, entropy: &mut Entropy) -> Self {
        loop {
            let is_up = entropy.next_u32() & 1 == 1;
            let mut contender = Self::new(index, score, is_up, LazyUniform::draw(entropy), round);
            if !contender.is_above(above, round, entropy) {
                return contender;
            }
        }
    }

    /// Itself, found above the level that `from_here` measures from, given that it stands below the one at `above`; `None` if it
    /// turns out to stand below both.
    fn between(
        mut self,
        above: Option<Score>,
        from_here: &Round<'_, '_>,
        round: &Round<'_, '_>,
        entropy: &mut Entropy,
    ) -> Option<Self> {
        let Some(above) = above else { return Some(self) };
        while self.is_above(above, round, entropy) {
            // Above both: all of its noise is drawn anew.
            if !accept(&from_here.exponential(self.index), Proposal::Certain, HALF, entropy) {
                return None;
            }
            self = Self::new(self.index, from_here.top, true, LazyUniform::draw(entropy), round);
        }
        Some(self)
    }

    /// Whether it stands above the level at `height`.
    fn is_above(&mut self, height: Score, round: &Round<'_, '_>, entropy: &mut Entropy) -> bool {
        let is_based_above = self.base > height;
        if self.is_up != is_based_above {
            // Upwards from a base that is not above: U < exp(-x) for the distance x; downwards from one above: U > exp(-x).
            let (higher, lower) = if is_based_above { (self.base, height) } else { (height, self.base) };
            let scale = round.scale;
            let x = Exponential {
                approximate: scale.exponent(higher, lower),
                exact: || scale.exact_exponent(higher, lower),
            };
            return below(&mut self.uniform, &x, Proposal::Certain, Stage::WHOLE, entropy) == self.is_up;
        }
        self.is_up
    }
}

/// Those that stand highest so far, the highest first.
struct Leaders {
    order: Vec<Contender>,
    count: usize,
}

impl Leaders {
    /// So many of them.
    fn of(count: usize) -> Self {
        Self { order: Vec::with_capacity(count + 1), count }
    }

    fn add(&mut self, mut other: Contender, round: &Round<'_, '_>, entropy: &mut Entropy) {
        let mut place = self.order.len();
        while place > 0 && is_higher(round, &mut other, &mut self.order[place - 1], entropy) {
            place -= 1;
        }
        self.order.insert(place, other);
        self.order.truncate(self.count);
    }

    /// The last of them, if there are as many.
    fn last(&mut self) -> Option<&mut Contender> {
        self.order.get_mut(self.count - 1)
    }
}

/// Whether y of `a` is larger than y of `b`, as real numbers (they are equal with probability zero).
fn is_higher(round: &Round<'_, '_>, a: &mut Contender, b: &mut Contender, entropy: &mut Entropy) -> bool {
    if a.low > b.high || b.low > a.high {
        return a.low > b.high;
    }
    is_farther_above(round, a, b, &Rational::ZERO, entropy)
}

/// Whether y of `a` is larger than y of `b` by more than `lead`, decided in integers.
pub(super) fn is_farther_above(
    round: &Round<'_, '_>,
    a: &mut Contender,
    b: &mut Contender,
    lead: &Rational,
    entropy: &mut Entropy,
) -> bool {
    // y_a > y_b + lead if and only if up / down > exp(x_a - x_b + lead), where U_b (b up) and U_a (a down) multiply into `up`
    // and U_a (a up) and U_b (b down) into `down`.
    let distance = exact_lead(round.scale, b.base, a.base) + lead;
    let a_is_farther = distance > Rational::ZERO;
    let distance = distance.abs();
    let is_up = [a.is_up, b.is_up];
    decide(&mut (&mut a.uniform, &mut b.uniform), entropy, |(a, b)| {
        let (mut up, mut down) = (Product::ONE, Product::ONE);
        if is_up[0] { &mut down } else { &mut up }.times(a);
        if is_up[1] { &mut up } else { &mut down }.times(b);
        let precision = 64 + up.bits.max(down.bits);
        let item = exp_negative(&distance, precision);
        // a farther: up * exp(-d) > down. b farther: up > down * exp(-d).
        let (farther, nearer) = if a_is_farther { (&mut up, &mut down) } else { (&mut down, &mut up) };
        (farther.low, farther.high) = (&farther.low * item.low, &farther.high * item.high);
        (nearer.low, nearer.high) = (&nearer.low << precision, &nearer.high << precision);
        is_less(&(down.low << up.bits, down.high << up.bits), &(up.low << down.bits, up.high << down.bits))
    })
}

/// An enclosure of a product, in units of 2^-bits.
struct Product {
    low: UBig,
    high: UBig,
    bits: usize,
}

impl Product {
    const ONE: Self = Self { low: UBig::ONE, high: UBig::ONE, bits: 0 };

    fn times(&mut self, uniform: &LazyUniform) {
        let (cell, bits) = uniform.cell();
        self.low *= &cell;
        self.high *= cell + UBig::ONE;
        self.bits += bits;
    }
}

#[cfg(test)]
#[path = "noisy_max_tests.rs"]
mod tests;
