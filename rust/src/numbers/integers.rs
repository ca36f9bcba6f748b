//! Proposals for scores on the whole numbers: offsets with weight exp(-rate k / b) on either side of a centre.
//!
//! The two rates may differ, a side may end, and one that ends may be flat. What is drawn is the law of a public
//! ceiling; whoever asks for the score at the proposal accepts with exp(-(ceiling - score) / b). Everything is exact
//! in integers of any size: asking costs more than that. Proof: `proofs/integer_mechanism.md`.

use dashu_int::{IBig, UBig};

use crate::entropy::Entropy;
use crate::exact::coin::power_of_two;
use crate::exact::coin::{Exponential, LazyUniform, Proposal, Stage, below, flip};
use crate::exact::rational::{Rational, nearest_f64};
use crate::noise::geometric::uniform_below;

/// A block of this many numbers times its rate is at least 7/10, above ln 2: passing one over at least halves a weight.
const BLOCK_TENTHS: u8 = 7;
/// How many halvings one comparison makes up for; no proposal may be less likely than 2^-60 there.
const HALVINGS: u32 = 32;

/// Offsets 0, 1, ..., `last` with weight exp(-k x).
#[derive(Clone, Debug)]
pub struct Side {
    x: Rational,
    /// Length of a block, at most the length of the side.
    block: UBig,
    last: Option<UBig>,
}

impl Side {
    /// `None` if the weights have no sum: `x` is zero and there is no last offset.
    pub fn new(x: Rational, last: Option<UBig>) -> Option<Self> {
        let halving = (!x.is_zero()).then(|| {
            let divisor = x.magnitude() * UBig::from(10_u8);
            (&x.denominator * UBig::from(BLOCK_TENTHS) + &divisor - UBig::ONE) / divisor
        });
        let length = last.as_ref().map(|last| last + UBig::ONE);
        let block = match (halving, length) {
            (Some(halving), Some(length)) => halving.min(length),
            (Some(halving), None) => halving,
            (None, Some(length)) => length,
            (None, None) => return None,
        };
        Some(Self { x, block, last })
    }

    /// The offset of a place in the first block after some blocks, kept so that it has the side's weight.
    fn keep(&self, place: UBig, mut blocks: u32, entropy: &mut Entropy) -> Option<UBig> {
        let offset = &place + &self.block * UBig::from(blocks);
        if self.last.as_ref().is_some_and(|last| offset > *last) {
            return None;
        }
        // V 2^-blocks < exp(-offset x), in parts of which none is rarer than the comparison allows.
        while blocks > HALVINGS {
            if !self.takes(&self.block * UBig::from(HALVINGS), HALVINGS, entropy) {
                return None;
            }
            blocks -= HALVINGS;
        }
        self.takes(place + &self.block * UBig::from(blocks), blocks, entropy).then_some(offset)
    }

    fn takes(&self, offset: UBig, halvings: u32, entropy: &mut Entropy) -> bool {
        let exact = Rational::from(offset) * &self.x;
        let approximate = approximate(&exact);
        let x = Exponential { approximate, exact: || exact.clone() };
        let mut uniform = LazyUniform::beginning_with(0, halvings, entropy);
        below(&mut uniform, &x, Proposal::Certain, Stage::WHOLE, entropy)
    }
}

/// Offsets on both sides of a centre; zero belongs to the right.
#[derive(Clone, Debug)]
pub struct Offsets {
    left: Side,
    right: Side,
}

impl Offsets {
    pub fn new(left: Side, right: Side) -> Self {
        Self { left, right }
    }

    /// One offset.
    pub fn draw(&self, entropy: &mut Entropy) -> IBig {
        loop {
            let place = uniform_below(&(&self.left.block + &self.right.block), entropy);
            let blocks = halvings(entropy);
            if place < self.right.block {
                if let Some(offset) = self.right.keep(place, blocks, entropy) {
                    return offset.into();
                }
            } else if let Some(offset) = self.left.keep(place - &self.right.block, blocks, entropy)
                && offset != UBig::ZERO
            {
                return -IBig::from(offset);
            }
        }
    }
}

/// v with probability 2^-(v + 1).
fn halvings(entropy: &mut Entropy) -> u32 {
    let mut count = 0;
    loop {
        let word = entropy.next_u64();
        count += word.trailing_zeros();
        if word != 0 {
            return count;
        }
    }
}

/// Heads with probability exp(-x).
pub fn flip_exactly(x: &Rational, entropy: &mut Entropy) -> bool {
    flip(&Exponential { approximate: approximate(x), exact: || x.clone() }, entropy)
}

/// `x` as a double, with the contract of `Scale::exponent`: correctly rounded within [2^-70, 2^70].
fn approximate(x: &Rational) -> f64 {
    if x.is_zero() { 0.0 } else { nearest_f64(x).clamp(power_of_two(-70), power_of_two(70)) }
}

#[cfg(test)]
#[path = "integers_tests.rs"]
mod tests;
