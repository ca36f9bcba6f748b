//! The two-sided geometric law: whole numbers y with probability proportional to exp(-|y| / b).
//!
//! A magnitude is split as k = u + 2^bits v, with blocks of about b numbers (Canonne, Kamath and Steinke 2020): u is a
//! uniform place of a block kept with probability exp(-u / b), v counts the blocks that a coin with exp(-2^bits / b)
//! passes over. A handful of coins, whatever b is. Proof: `proofs/geometric_mechanism.md`.

use dashu_int::IBig;

use crate::entropy::Entropy;
use crate::exact::coin::{Exponential, flip};
use crate::exact::rational::{Rational, scaled};
use crate::interrupt::check_deep;
use crate::noise::offsets::{Offsets, Side};
use crate::scores::scale::Scale;

/// From this many bits on a place in a block needs big integers.
const MACHINE_BITS: usize = 62;

/// The law at one scale b.
#[derive(Clone, Debug)]
pub struct Geometric {
    scale: Scale,
    /// Blocks are 2^bits long; any number would do, this one makes 2^bits / b lie in [1/2, 1) where b is at least 1.
    bits: usize,
    /// 2^bits / b, with the contract of `Scale::exponent`.
    block_exponent: f64,
    /// Where places need big integers.
    large: Option<Offsets>,
}

/// A draw, in a machine integer where it fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noise {
    Small(i128),
    Large(IBig),
}

impl Geometric {
    pub fn new(scale: Scale) -> Self {
        let bits = scale.block_bits();
        let block_exponent = scale.exponent_of_block(bits);
        let large = if bits > MACHINE_BITS { Self::in_big_integers(&scale) } else { None };
        Self { scale, bits, block_exponent, large }
    }

    fn in_big_integers(scale: &Scale) -> Option<Offsets> {
        let side = Side::new(scale.exact_exponent_of_gap(&Rational::ONE), None)?;
        Some(Offsets::new(side.clone(), side))
    }

    /// One draw.
    #[inline]
    pub fn draw(&self, entropy: &mut Entropy) -> Noise {
        match &self.large {
            None => Noise::Small(self.draw_small(entropy)),
            Some(offsets) => Noise::Large(offsets.draw(entropy)),
        }
    }

    /// `value` plus a draw, moved into [lower, upper].
    #[inline]
    pub fn around(&self, value: i64, lower: i64, upper: i64, entropy: &mut Entropy) -> i64 {
        match self.draw(entropy) {
            // A magnitude stays below 2^62 (1 + 2^64).
            Noise::Small(noise) => (i128::from(value) + noise).clamp(i128::from(lower), i128::from(upper)) as i64,
            Noise::Large(noise) => (noise + value).clamp(lower.into(), upper.into()).try_into().unwrap_or(upper),
        }
    }

    #[inline]
    fn draw_small(&self, entropy: &mut Entropy) -> i128 {
        loop {
            // The sign and the place from one word: bits + 1 of its bits.
            let word = entropy.next_u64();
            let is_negative = word >> 63 == 1;
            let place = (word & (u64::MAX >> 1)) >> (63 - self.bits);
            if !self.keeps(place, entropy) {
                check_deep();
                continue;
            }
            let magnitude = i128::from(place) + (i128::from(self.blocks(entropy)) << self.bits);
            if !is_negative {
                return magnitude;
            }
            if magnitude != 0 {
                return -magnitude; // zero has one sign only, or it would come twice as often
            }
        }
    }

    #[inline]
    fn keeps(&self, place: u64, entropy: &mut Entropy) -> bool {
        let exact = || self.scale.exact_exponent_of_gap(&place.into());
        flip(&Exponential { approximate: self.scale.exponent_of_gap(place as f64), exact }, entropy)
    }

    /// How many blocks to pass over.
    #[inline]
    fn blocks(&self, entropy: &mut Entropy) -> u64 {
        let exact = || self.scale.exact_exponent_of_gap(&scaled(1, self.bits as i64));
        let block = Exponential { approximate: self.block_exponent, exact };
        let mut blocks = 0;
        while flip(&block, entropy) {
            blocks += 1;
        }
        blocks
    }
}

#[cfg(test)]
#[path = "geometric_tests.rs"]
mod tests;
