//! Questions about random real numbers of which only the bits asked for exist, and the one loop that answers them.
//!
//! An answer is right about every number that fits what is known, so the answer is that about the real number, and
//! how much was known has no part in it. Proof: `proofs/exact_sampling.md`, "The lazy coin".

use dashu_int::UBig;
use dashu_int::ops::BitTest;

use crate::entropy::Entropy;
use crate::exact::coin::LazyUniform;
use crate::exact::exp_enclosure::exp_negative;
use crate::exact::rational::Rational;
use crate::interrupt::check_deep;

/// A random real number, known to lie in a cell.
pub trait Lazy {
    /// Draw its next bits: the cell becomes a small part of what it was.
    fn refine(&mut self, entropy: &mut Entropy);
}

impl<A: Lazy, B: Lazy> Lazy for (&mut A, &mut B) {
    fn refine(&mut self, entropy: &mut Entropy) {
        self.0.refine(entropy);
        self.1.refine(entropy);
    }
}

/// Refine `number` until `answer`, which looks at its cell, is certain.
///
/// The answer has to hold for every number of the cell, and to be given once the cell is small enough.
pub fn decide<N: Lazy, T>(number: &mut N, entropy: &mut Entropy, mut answer: impl FnMut(&N) -> Option<T>) -> T {
    loop {
        if let Some(answer) = answer(number) {
            return answer;
        }
        check_deep();
        number.refine(entropy);
    }
}

/// Whether `left` < `right`, if what is known of both, (least, most), says so. The left one is strictly below its most,
/// or the two are equal with probability zero.
pub fn is_less<T: PartialOrd>(left: &(T, T), right: &(T, T)) -> Option<bool> {
    if left.1 <= right.0 { Some(true) } else { (left.0 >= right.1).then_some(false) }
}

/// Whether V < ratio * exp(-x), in integers; neither `ratio` nor x is negative.
#[cold]
#[inline(never)]
pub fn is_below_exponential(uniform: &mut LazyUniform, ratio: &Rational, x: &Rational, entropy: &mut Entropy) -> bool {
    let (numerator, denominator) = (&ratio.magnitude(), &ratio.denominator);
    let magnitude = (numerator.bit_len() as i64 - denominator.bit_len() as i64 + 1).max(0) as usize;
    decide(uniform, entropy, |uniform| {
        let (cell, bits) = uniform.cell();
        let precision = bits + 64 + magnitude;
        let item = exp_negative(x, precision);
        // (cell + [0, 1)) 2^-bits * denominator against numerator * item 2^-precision.
        let left = |cell: UBig| (cell * denominator) << (precision - bits);
        is_less(&(left(cell.clone()), left(cell + UBig::ONE)), &(numerator * item.low, numerator * item.high))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_asked_until_they_are_decided_and_no_further() {
        // A third is 0.010101...: each word that agrees with it leaves the question open.
        let third = u64::MAX / 3;
        let is_below_a_third = |uniform: &LazyUniform| {
            let (cell, bits) = uniform.cell();
            let left = (&cell * UBig::from(3_u8), (cell + UBig::ONE) * UBig::from(3_u8));
            is_less(&left, &(UBig::ONE << bits, UBig::ONE << bits))
        };
        for (words, expected) in [
            (&[third - 1] as &[u64], true),
            (&[third + 1], false),
            (&[third, 0], true),
            (&[third, third, u64::MAX], false),
        ] {
            let mut entropy = Entropy::scripted(words);
            let mut uniform = LazyUniform::draw(&mut entropy);
            assert_eq!(decide(&mut uniform, &mut entropy, is_below_a_third), expected);
            assert_eq!(entropy.taken(), words.len());
        }
    }

    #[test]
    fn intervals_that_overlap_say_nothing() {
        for (left, right, expected) in [
            ((0, 1), (1, 2), Some(true)),
            ((2, 3), (1, 2), Some(false)),
            ((0, 2), (1, 2), None),
            ((1, 2), (1, 1), Some(false)),
            ((1, 3), (2, 2), None),
        ] {
            assert_eq!(is_less(&left, &right), expected);
        }
    }

    #[test]
    fn both_numbers_of_a_pair_are_refined() {
        let mut entropy = Entropy::scripted(&[1, 2, 3, 4]);
        let (mut left, mut right) = (LazyUniform::draw(&mut entropy), LazyUniform::draw(&mut entropy));
        let bits = |pair: &(&mut LazyUniform, &mut LazyUniform)| (pair.0.cell().1, pair.1.cell().1);
        assert_eq!(
            decide(&mut (&mut left, &mut right), &mut entropy, |pair| (bits(pair) != (64, 64)).then(|| bits(pair))),
            (128, 128)
        );
    }
}
