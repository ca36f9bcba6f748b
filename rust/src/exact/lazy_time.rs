//! A time of which only the bits asked for exist, together with all that is needed to ask for more.
//!
//! The time is `(known + U_1 + ... + U_parts) 2^-bits / rate` with independent uniforms U of [0, 1) of which no
//! bit has been looked at. So these four numbers *are* its law given everything that was ever decided about it.
//! Proof: `proofs/exponential_once.md`, claim 6, "a time that is known in part"; model: `tests/reference/lazy_times.py`.

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::exact::coin::LazyUniform;
use crate::exact::decision::{Lazy, decide, is_less};
use crate::exact::exp_enclosure::{Enclosure, exp_negative};
use crate::exact::lazy_variate::Variate;
use crate::exact::rational::Rational;

/// Bits that a comparison's exponentials have beyond those of the times.
const SPARE_BITS: usize = 64;
const WORD_BITS: usize = 64;

#[derive(PartialEq, Eq)]
pub struct Clock {
    pub known: UBig,
    pub bits: usize,
    /// At least 1.
    pub parts: u64,
    /// At least 1.
    pub rate: u64,
}

impl Clock {
    /// A uniform time of `[start, start + length) * 2^-bits`, of which `uniform` is the place; `length` is a power of two
    /// that divides `start`.
    pub fn within(start: u64, length: u64, bits: u32, uniform: &LazyUniform) -> Self {
        let (cell, cell_bits) = uniform.cell();
        let known = (UBig::from(start / length) << cell_bits) + cell;
        Self { known, bits: cell_bits + bits as usize - length.trailing_zeros() as usize, parts: 1, rate: 1 }
    }

    /// The instant at which gaps of `rate * 2^-rate_bits` begin to be added.
    pub fn start(rate: u64, rate_bits: u32) -> Self {
        // Times the rate the gaps have mean 1, so 2^rate_bits goes to the other side.
        Self { known: UBig::ZERO, bits: WORD_BITS - rate_bits as usize, parts: 0, rate }
    }

    /// Let a further gap pass: a standard exponential over the rate. `rate_bits` as at the start.
    pub fn pass(&mut self, mut gap: Variate, rate_bits: u32, entropy: &mut Entropy) {
        // Both to the same number of bits; those that are drawn for it are new.
        let rate_bits = rate_bits as usize;
        while gap.cell().1 - rate_bits < self.bits {
            gap.refine(entropy);
        }
        let (cell, bits) = gap.cell();
        while self.bits < bits - rate_bits {
            self.refine(entropy);
        }
        self.known += cell;
        self.parts += 1;
    }

    /// The time lies between these, but for a relative 2^-51, as long as doubles reach.
    pub fn ends(&self) -> (f64, f64) {
        let end = |known: &UBig| libm::scalbn(known.to_f64().value() / self.rate as f64, -(self.bits as i32));
        (end(&self.known), end(&(&self.known + UBig::from(self.parts))))
    }

    /// Whether `self * exp(-x)` comes before `other`, for an x of either sign, as real numbers (they are equal with probability
    /// zero).
    pub fn is_before(&mut self, x: &Rational, other: &mut Self, entropy: &mut Entropy) -> bool {
        let exponents = [x.clone(), -x.clone()].map(|x| x.max(Rational::ZERO));
        let factors = |precision| exponents.each_ref().map(|x| exp_negative(x, precision));
        self.is_before_by(other, factors, entropy)
    }

    /// The same for `self * f` and `other * g`, where `factors` encloses f and g, both in [0, 1], at any precision.
    pub fn is_before_by(
        &mut self,
        other: &mut Self,
        factors: impl Fn(usize) -> [Enclosure; 2],
        entropy: &mut Entropy,
    ) -> bool {
        decide(&mut (self, other), entropy, |(own, other)| {
            let shared = own.bits.max(other.bits);
            // The two sides over their common denominator, which is 2 to the bits and the precision, times both rates.
            let side = |clock: &Self, other_rate: u64, factor: &Enclosure| {
                let over =
                    |time: &UBig, factor: &UBig| (time * UBig::from(other_rate) * factor) << (shared - clock.bits);
                // A time is strictly below the end of what is known of it.
                let known_end = &clock.known + UBig::from(clock.parts);
                (over(&clock.known, &factor.low), over(&known_end, &factor.high))
            };
            let [own_factor, other_factor] = factors(SPARE_BITS + shared);
            is_less(&side(own, other.rate, &own_factor), &side(other, own.rate, &other_factor))
        })
    }
}

impl Lazy for Clock {
    /// The next 64 bits of every part.
    fn refine(&mut self, entropy: &mut Entropy) {
        self.known <<= WORD_BITS;
        for _ in 0..self.parts {
            self.known += UBig::from(entropy.next_u64());
        }
        self.bits += WORD_BITS;
    }
}

#[cfg(test)]
#[path = "lazy_time_tests.rs"]
mod tests;
