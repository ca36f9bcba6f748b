//! How many points of a Poisson process fall on a line, exactly.
//!
//! One lazy uniform V for each piece of the line: the count is the least n for which V is below the probability of at most n.
//! Proof: `proofs/exact_sampling.md`, Proposition 4.

use crate::entropy::Entropy;
use crate::exact::coin::{LazyUniform, RATE_BITS, TWO_TO_64, exp_negative_f64, power_of_two};
use crate::exact::decision::is_below_exponential;
use crate::exact::rational::{Rational, scaled};
use crate::interrupt::check_deep;

/// The most points that are expected on one piece.
const LONGEST: u128 = 8 << RATE_BITS;
/// Larger counts, which come less often than once in 2^42 times, are decided in integers.
const MOST_TERMS: usize = 64;
/// Pieces between two checks for Ctrl-C.
const CHECK_EVERY: usize = 1024;
/// More than the relative error of a sum of probabilities, and that of V: of the exponential 2^-50, of each term less than 2^-51.
const MARGIN: f64 = 1.0 / (1_u64 << 42) as f64;

/// A Poisson number of mean `rate * 2^-RATE_BITS`.
#[inline]
pub fn poisson(mut rate: u128, entropy: &mut Entropy) -> usize {
    let mut count = 0;
    for pieces in 1_usize.. {
        count += on_a_piece(rate.min(LONGEST) as u64, entropy);
        if rate <= LONGEST {
            break;
        }
        rate -= LONGEST;
        if pieces.is_multiple_of(CHECK_EVERY) {
            check_deep();
        }
    }
    count
}

#[inline]
fn on_a_piece(rate: u64, entropy: &mut Entropy) -> usize {
    let mut uniform = LazyUniform::draw(entropy);
    let near = uniform.head() as f64 / TWO_TO_64;
    let mean = rate as f64 * power_of_two(-(RATE_BITS as i32));
    let mut term = exp_negative_f64(mean);
    let (mut count, mut fewer, mut at_most) = (0, 0.0, term);
    while at_most <= near && count < MOST_TERMS {
        count += 1;
        term *= mean / count as f64;
        (fewer, at_most) = (at_most, at_most + term);
    }
    if fewer * (1.0 + MARGIN) <= near && near < at_most * (1.0 - MARGIN) {
        return count;
    }
    count = 0;
    while !is_at_most(count, rate, &mut uniform, entropy) {
        count += 1;
    }
    count
}

/// Whether V is below the probability of at most `count`, in integers.
#[cold]
#[inline(never)]
fn is_at_most(count: usize, rate: u64, uniform: &mut LazyUniform, entropy: &mut Entropy) -> bool {
    let mean: Rational = scaled(rate, -i64::from(RATE_BITS));
    let (mut term, mut sum) = (Rational::ONE, Rational::ONE);
    for number in 1..=count as u64 {
        term = term * (&mean / Rational::from(number));
        sum = sum + &term;
    }
    is_below_exponential(uniform, &sum, &mean, entropy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::testing::assert_law;

    const ONE: u128 = 1 << RATE_BITS;

    fn law(mean: f64, most: usize) -> Vec<f64> {
        let mut law = vec![libm::exp(-mean)];
        (1..=most).for_each(|count| law.push(law[count - 1] * mean / count as f64));
        law.push(1.0 - law.iter().sum::<f64>());
        law
    }

    #[test]
    fn counts_have_the_law() {
        let mut entropy = seeded(11);
        for (rate, mean, most) in [(ONE / 4, 0.25, 3), (8 * ONE, 8.0, 20), (19 * ONE + ONE / 2, 19.5, 40)] {
            let wrong = law(mean * 1.2, most);
            assert_law("counts", 60_000, &law(mean, most), &wrong, || poisson(rate, &mut entropy).min(most + 1));
        }
        assert_eq!(poisson(0, &mut entropy), 0);
    }

    #[test]
    fn what_is_decided_at_a_glance_is_what_integers_decide() {
        let mut entropy = seeded(12);
        for _ in 0..300 {
            let rate = entropy.below(LONGEST as u64);
            let mut uniform = LazyUniform::draw(&mut entropy);
            let head = uniform.head();
            let count = on_a_piece(rate, &mut Entropy::scripted(&[head]));
            assert!(is_at_most(count, rate, &mut uniform, &mut entropy));
            assert!(count == 0 || !is_at_most(count - 1, rate, &mut uniform, &mut entropy));
        }
    }

    #[test]
    fn a_number_that_doubles_cannot_place_is_refined() {
        // exp(-1) begins with this word, and goes on with one below the next: the first case is below it, the second above.
        let word = 6_786_177_901_268_885_274;
        for (next, expected) in [(0, 0), (u64::MAX, 1)] {
            let mut entropy = Entropy::scripted(&[word, next]);
            assert_eq!(poisson(ONE, &mut entropy), expected);
            assert_eq!(entropy.taken(), 2);
        }
    }
}
