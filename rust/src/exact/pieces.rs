//! Choosing among pieces of exactly known length: piece i with probability proportional to length_i * exp(-x_i).
//!
//! An integer bound of each weight, a choice by these exact integers, and an acceptance that makes up for the bounds:
//! the exponential mechanism's block rejection with blocks of one piece and a base measure. Lengths and exponents may
//! have any size that doubles have; no probability is rounded, none to zero. Proof: `proofs/exact_sampling.md`,
//! "Pieces".

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{LazyUniform, decided};
use crate::exact::cumulative_table::CumulativeTable;
use crate::exact::decision::is_below_exponential;
use crate::exact::extended_float::Extended;
use crate::exact::rational::{Rational, scaled};
use crate::interrupt;

/// Pieces, each with a length and an exponent, known in doubles and exactly.
pub trait WeightedPieces {
    fn count(&self) -> usize;

    /// With relative error at most 2^-53; zero if and only if the length is, and such a piece is never chosen.
    fn length(&self, index: usize) -> Extended;

    /// With the contract of `Scale::exponent`, but that zero need not be met exactly: an absolute error of 2^-59 will
    /// do for small ones.
    fn exponent(&self, index: usize) -> f64;

    /// Both at once.
    fn in_doubles(&self, index: usize) -> (Extended, f64) {
        (self.length(index), self.exponent(index))
    }

    /// How far, relative, `length * exp(-x)` computed of these doubles may be from the truth, at an exponent x of at most
    /// 2^20: the length carries 2^-53, x a relative 2^-50, `Extended::times_exp_negative` (1 + x) 2^-49, three more operations
    /// 2^-53 each. Pieces that are less exact say so; it has to be below 2^-20 as long as x is below 2^13.
    fn margin(&self, x: f64) -> f64 {
        (1.0 + x) * (1.0 / (1_u64 << 47) as f64)
    }

    fn exact_length(&self, index: usize) -> Rational;

    /// Not negative, and of moderate size for the pieces of largest weight (measure it from the best one).
    fn exact_exponent(&self, index: usize) -> Rational;
}

/// Bits of the largest weight, at most.
const WEIGHT_BITS: u32 = 40;
/// From this exponent on doubles only say that a weight is small.
const LARGEST_TRUSTED: f64 = 1_048_576.0;

/// Integer bounds of the weights, summed up.
#[derive(Default)]
pub struct Chooser {
    bounds: CumulativeTable,
    bits: u32,
    /// Bounds are multiples of `2^(unit - bits)`.
    unit: i64,
}

impl Chooser {
    /// # Errors
    /// `NoCandidates` if no piece has a length, `Memory`, `Interrupted`.
    pub fn new<S: WeightedPieces>(pieces: &S) -> Result<Self, SelectError> {
        let count = pieces.count();
        let mut unit = i64::MIN;
        for index in 0..count {
            if index % 4096 == 0 {
                interrupt::check()?;
            }
            let (length, x) = pieces.in_doubles(index);
            if !length.is_zero() {
                unit = unit.max(log_bound(length, x));
            }
        }
        // A sum of `count` bounds of at most 2^bits stays below 2^63.
        let bits = WEIGHT_BITS.min(count.leading_zeros() - 1);
        let bounds = CumulativeTable::new((0..count).map(|index| bound(pieces, index, bits, unit)))?;
        Ok(Self { bounds, bits, unit })
    }

    /// The bound of piece `index`, and the sum of all.
    pub fn share(&self, index: usize) -> (u64, u64) {
        (self.bounds.weight(index), self.bounds.total())
    }

    /// What a piece is proposed with: its bound in units of 2 to the second number.
    fn claim(&self, index: usize) -> (u64, i64) {
        (self.bounds.weight(index), self.unit - i64::from(self.bits))
    }

    /// Choose a piece.
    pub fn draw<S: WeightedPieces>(&self, pieces: &S, entropy: &mut Entropy) -> usize {
        loop {
            let index = self.bounds.draw(entropy);
            let mut uniform = LazyUniform::draw(entropy);
            if accepts(pieces, index, self.claim(index), &mut uniform, entropy) {
                return index;
            }
            interrupt::check_deep();
        }
    }
}

/// Whether `V * bound * 2^unit < length * exp(-x)`, for a bound within 2^50 of it where that is above 2^-64.
pub fn accepts<S: WeightedPieces>(
    pieces: &S,
    index: usize,
    (bound, unit): (u64, i64),
    uniform: &mut LazyUniform,
    entropy: &mut Entropy,
) -> bool {
    at_a_glance(pieces, index, (bound, unit), uniform.head())
        .unwrap_or_else(|| accepts_exactly(pieces, index, (bound, unit), uniform, entropy))
}

/// The decision, if doubles and the first 64 bits of V allow one.
fn at_a_glance<S: WeightedPieces>(pieces: &S, index: usize, (bound, unit): (u64, i64), head: u64) -> Option<bool> {
    let (length, x) = pieces.in_doubles(index);
    if x > LARGEST_TRUSTED {
        // Lengths differ by less than 2^8400, the threshold is far below 2^-64.
        return (head > 0).then_some(false);
    }
    let weight = length.times_exp_negative(x);
    let threshold = weight.times_power_of_two(-unit) / bound as f64;
    decided(head, threshold * (1.0 - pieces.margin(x)), threshold * (1.0 + pieces.margin(x)))
}

#[cold]
#[inline(never)]
fn accepts_exactly<S: WeightedPieces>(
    pieces: &S,
    index: usize,
    (bound, unit): (u64, i64),
    uniform: &mut LazyUniform,
    entropy: &mut Entropy,
) -> bool {
    let x = pieces.exact_exponent(index);
    // V below length * 2^-unit / bound * exp(-x) = ratio * exp(-x).
    let ratio = pieces.exact_length(index) * scaled(1, -unit) / Rational::from(bound);
    is_below_exponential(uniform, &ratio, &x, entropy)
}

/// An integer, at least 1, that is no less than `2^bits` times the weight over `2^unit`; 0 for a piece without length.
fn bound<S: WeightedPieces>(pieces: &S, index: usize, bits: u32, unit: i64) -> u64 {
    let (length, x) = pieces.in_doubles(index);
    if length.is_zero() {
        return 0;
    }
    let shift = i64::from(bits) - unit;
    if log_bound(length, x) + shift <= 0 {
        return 1;
    }
    // x is moderate here, or the branch above had been taken: lengths lie within 2^8400 of each other.
    let weight = length.times_exp_negative(x).times_power_of_two(shift);
    // `as` saturates; the weight is below 2^bits, the slack far above all errors.
    ((weight * (1.0 + 1.0 / (1 << 20) as f64)) as u64).saturating_add(1).min((1 << bits) + 1)
}

/// An integer above the binary logarithm of `length * exp(-x)`, by at most 3 for moderate x.
fn log_bound(length: Extended, x: f64) -> i64 {
    // Slightly less than x / ln 2, so that the bound holds for the exact x.
    let octaves = (x * std::f64::consts::LOG2_E * (1.0 - 1.0 / (1_u64 << 48) as f64)).floor();
    length.exponent + 1 - octaves.min(9e15) as i64
}

#[cfg(test)]
#[path = "pieces_tests.rs"]
mod tests;
