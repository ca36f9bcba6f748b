//! Whole numbers of any size with weight exp(-rate k) at the distance k on either side of a centre.
//!
//! The two rates may differ, a side may end, and one that ends may be flat: the law of a public ceiling, from which a caller
//! that asks for the score at what was drawn keeps a fraction exp(-(ceiling - score) / b). With one rate and no ends it is the two-sided
//! geometric law. Proof: `proofs/integer_mechanism.md`.

use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};

use crate::entropy::Entropy;
use crate::exact::coin::{Exponential, LazyUniform, Proposal, Stage, approximate, below, flip};
use crate::exact::rational::Rational;

/// Distances 0, 1, ..., `last` with weight exp(-k x).
#[derive(Clone, Debug)]
pub struct Side {
    x: Rational,
    /// Length of a block: passing one over at least halves a weight, or it is the whole side.
    block: UBig,
    last: Option<UBig>,
}

impl Side {
    /// `None` if the weights have no sum: `x`, which is not negative, is zero and there is no last distance.
    pub fn new(x: Rational, last: Option<UBig>) -> Option<Self> {
        // 7/10, which is above ln 2, over x, rounded up.
        let halving = (!x.is_zero()).then(|| (Rational::new(-7, 10_u8) / &x).floor().into_parts().1);
        let length = last.as_ref().map(|last| last + UBig::ONE);
        let block = halving.into_iter().chain(length).min()?;
        Some(Self { x, block, last })
    }

    /// The distance of a place of the first block, or one that lies blocks further, each with the side's weight.
    fn keep(&self, place: UBig, entropy: &mut Entropy) -> Option<UBig> {
        if !flip_exactly(&(&self.x * Rational::from(place.clone())), entropy) {
            return None;
        }
        let block = &self.x * Rational::from(self.block.clone());
        let block = Exponential { approximate: approximate(&block), exact: || block.clone() };
        let mut distance = place;
        loop {
            // Every block is the last with probability 1/2, on both sides, and passed over with exp(-block x), which is less.
            let mut uniform = LazyUniform::draw(entropy);
            if uniform.head() >> 63 == 1 {
                return Some(distance);
            }
            distance += &self.block;
            if self.last.as_ref().is_some_and(|last| distance > *last)
                || !below(&mut uniform, &block, Proposal::Certain, Stage::WHOLE, entropy)
            {
                return None;
            }
        }
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
            if place < self.right.block {
                if let Some(distance) = self.right.keep(place, entropy) {
                    return distance.into();
                }
            } else if let Some(distance) = self.left.keep(place - &self.right.block, entropy)
                && !distance.is_zero()
            {
                return -IBig::from(distance);
            }
        }
    }
}

/// A uniform integer below `bound`, which is not zero.
fn uniform_below(bound: &UBig, entropy: &mut Entropy) -> UBig {
    let bits = bound.bit_len();
    let count = bits.div_ceil(64);
    loop {
        let words = (0..count).fold(UBig::ZERO, |words, _| (words << 64) + UBig::from(entropy.next_u64()));
        let number = words >> (64 * count - bits);
        if number < *bound {
            return number;
        }
    }
}

/// Heads with probability exp(-x).
pub fn flip_exactly(x: &Rational, entropy: &mut Entropy) -> bool {
    flip(&Exponential { approximate: approximate(x), exact: || x.clone() }, entropy)
}

#[cfg(test)]
#[path = "offsets_tests.rs"]
mod tests;
