//! Choosing by exact probabilities of which only approximations are at hand.
//!
//! A lazy uniform V is held against the cumulated approximations; only if it falls within their certified margin of
//! one of them are the exact probabilities worked out, in integers. Proof: `proofs/density.md`, "Choices".

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::numbers::coin::LazyUniform;
use crate::numbers::cumulative_table::CumulativeTable;
use crate::numbers::decision::decide;

/// Exact probabilities `parts[i] / whole`; the parts sum to the whole at most.
pub struct Probabilities {
    pub parts: Vec<UBig>,
    pub whole: UBig,
}

const TWO_TO_MINUS_64: f64 = 1.0 / 18_446_744_073_709_551_616.0;

/// Choose i with the probability `probabilities().parts[i] / probabilities().whole`, or nothing with what is left.
///
/// `approximate` yields the same probabilities as doubles, whose partial sums are wrong by at most `margin`.
pub fn pick(
    approximate: impl Iterator<Item = f64>,
    margin: f64,
    probabilities: impl FnOnce() -> Probabilities,
    entropy: &mut Entropy,
) -> Option<usize> {
    let mut uniform = LazyUniform::draw(entropy);
    // V and the additions below are off by less than 2^-51 and by what the caller says.
    let margin = margin + 1.0 / (1_u64 << 51) as f64;
    let value = uniform.head() as f64 * TWO_TO_MINUS_64;
    let mut sum = 0.0;
    for (index, probability) in approximate.enumerate() {
        sum += probability;
        if value < sum - margin {
            return Some(index);
        }
        if value < sum + margin {
            return pick_exactly(&mut uniform, &probabilities(), entropy);
        }
    }
    None
}

/// The first i of which V is below the sum of the parts up to it.
#[cold]
#[inline(never)]
fn pick_exactly(uniform: &mut LazyUniform, probabilities: &Probabilities, entropy: &mut Entropy) -> Option<usize> {
    let table = CumulativeTable::of_large(&probabilities.parts);
    decide(uniform, entropy, |uniform| {
        let (cell, bits) = uniform.cell();
        let low = &cell * &probabilities.whole;
        let high = &low + &probabilities.whole;
        let first = table.passed(|end| end << bits <= low);
        // V is strictly below the upper end of its cell.
        let is_certain = first == table.passed(|end| end << bits < high);
        is_certain.then(|| (first < probabilities.parts.len()).then_some(first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::testing::assert_law;

    fn thirds() -> Probabilities {
        Probabilities { parts: vec![UBig::from(1_u8), UBig::from(3_u8), UBig::from(1_u8)], whole: UBig::from(6_u8) }
    }

    #[test]
    fn both_ways_have_the_same_law() {
        let law = [1.0 / 6.0, 0.5, 1.0 / 6.0, 1.0 / 6.0];
        for margin in [1e-9, 2.0] {
            let mut entropy = seeded(31);
            assert_law("choice", 20_000, &law, &[0.25; 4], || {
                pick([1.0 / 6.0, 0.5, 1.0 / 6.0].into_iter(), margin, thirds, &mut entropy).unwrap_or(3)
            });
        }
    }

    #[test]
    fn words_on_a_boundary_are_decided_by_the_words_that_follow() {
        // 2/3 in binary is 0.101010...: the first word agrees with it, the second decides.
        let word = 0xaaaa_aaaa_aaaa_aaaa;
        for (second, expected) in [(word - 1, Some(1)), (word + 1, Some(2)), (0, Some(1)), (u64::MAX, Some(2))] {
            let mut entropy = Entropy::scripted(&[word, second]);
            let chosen = pick([1.0 / 6.0, 0.5, 1.0 / 6.0].into_iter(), 1e-12, thirds, &mut entropy);
            assert_eq!((chosen, entropy.taken()), (expected, 2));
        }
    }

    #[test]
    fn the_last_word_goes_to_what_is_left() {
        let mut entropy = Entropy::scripted(&[u64::MAX]);
        assert_eq!(pick([0.25].into_iter(), 0.0, thirds, &mut entropy), None);
    }
}
