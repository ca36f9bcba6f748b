//! Randomised response: each bit turned with probability 1 / (1 + exp(x)), x the share of epsilon a bit gets.
//!
//! The first 64 bits of a lazy uniform decide against the first 64 bits of the probability, which are computed once;
//! where they agree, one time in 2^64, more of both are. Proof: `proofs/randomized_response.md`.

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::exact::coin::LazyUniform;
use crate::exact::decision::{decide, is_less};
use crate::exact::exp_enclosure::exp_negative;
use crate::exact::rational::Rational;

/// A coin with probability 1 / (1 + exp(x)) for a rational x > 0.
#[derive(Clone, Debug)]
pub struct BitFlip {
    x: Rational,
    /// The probability times 2^64, rounded down.
    head: u64,
}

impl BitFlip {
    pub fn new(x: Rational) -> Self {
        let mut precision = 128;
        loop {
            // Irrational (Lindemann), so the loop ends.
            let (low, high) = enclosure(&x, precision);
            let (low, high) = (low >> (precision - 64), high >> (precision - 64));
            if low == high {
                return Self { x, head: u64::try_from(low).unwrap_or(u64::MAX) };
            }
            precision *= 2;
        }
    }

    #[inline]
    pub fn flip(&self, entropy: &mut Entropy) -> bool {
        let uniform = LazyUniform::draw(entropy);
        if uniform.head() == self.head { self.flip_exactly(uniform, entropy) } else { uniform.head() < self.head }
    }

    #[cold]
    #[inline(never)]
    fn flip_exactly(&self, mut uniform: LazyUniform, entropy: &mut Entropy) -> bool {
        decide(&mut uniform, entropy, |uniform| {
            let (cell, bits) = uniform.cell();
            is_less(&(&cell << 64, (&cell + UBig::ONE) << 64), &enclosure(&self.x, bits + 64))
        })
    }
}

/// 1 / (1 + exp(x)) = E / (1 + E) for E = exp(-x), from below and from above, times 2^precision.
fn enclosure(x: &Rational, precision: usize) -> (UBig, UBig) {
    let item = exp_negative(x, precision);
    let one = UBig::ONE << precision;
    let low = (&item.low << precision) / (&one + &item.low);
    let high = (&item.high << precision) / (one + &item.high) + UBig::ONE;
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::rational::exactly;

    fn turn(x: f64) -> BitFlip {
        BitFlip::new(exactly(x))
    }

    #[test]
    fn the_first_bits_are_those_of_the_probability() {
        // 1 / (1 + e) = 0.268941421369995120748840758... (OEIS A088537 is its complement's digits).
        let head = turn(1.0).head;
        let digits: UBig = "268941421369995120748840".parse().unwrap();
        let scaled = (digits << 64) / UBig::from(10_u8).pow(24);
        assert!((UBig::from(head) - &scaled) <= UBig::ONE);
        assert_eq!(turn(1e-30).head, (1 << 63) - 1);
        assert_eq!((turn(44.0).head, turn(45.0).head, turn(1e300).head), (1, 0, 0));
    }

    #[test]
    fn where_the_first_bits_agree_later_ones_decide() {
        for x in [0.3, 1.0, 7.0, 50.0, 300.0] {
            let coin = turn(x);
            // The true bits, far enough; a V just below and just above.
            let (low, _) = enclosure(&exactly(x), 1024);
            let word = |from: usize| {
                let kept = &low >> (1024 - 64 * (from + 1));
                u64::try_from(kept & UBig::from(u64::MAX)).unwrap()
            };
            let words: Vec<u64> = (0..12).map(word).collect();
            assert_eq!(words[0], coin.head);
            for (last, expected) in [(words[11] - 1, true), (words[11] + 1, false)] {
                let mut script = words.clone();
                script[11] = last;
                let mut entropy = Entropy::scripted(&script);
                assert_eq!(coin.flip(&mut entropy), expected, "x = {x}");
                assert_eq!(entropy.taken(), 12);
            }
        }
    }
}
