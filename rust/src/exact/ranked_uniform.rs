//! One of several independent uniforms in their order, of which only the bits asked for exist: a Beta variate.
//!
//! Of all uniforms that are left in the cell known so far, each lies in its lower half with probability 1/2: how many do is counted
//! in random bits, and says in which half the wanted one is. The others are forgotten. A single one that is left has plain bits.
//! Proof: `proofs/free_gap.md`, claim 6; model: `tests/reference/ranked_uniform.py`.

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::exact::decision::Lazy;

const WORD_BITS: u64 = 64;

/// The uniform of some rank among `count`: it lies in `[cell, cell + 1) * 2^-bits`.
pub struct RankedUniform {
    head: u64,
    tail: Vec<u64>,
    /// How many uniforms the cell holds, and how many of them are smaller than this one.
    count: u64,
    rank: u64,
}

impl RankedUniform {
    /// The one that `rank` of the `count` uniforms are smaller than, `rank < count`, to its first 64 bits.
    pub fn draw(rank: u64, count: u64, entropy: &mut Entropy) -> Self {
        let mut ranked = Self { head: 0, tail: Vec::new(), count, rank };
        ranked.head = ranked.next_word(entropy);
        ranked
    }

    /// Its first 64 bits.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// What is known: it lies in `[cell, cell + 1) * 2^-bits`.
    pub fn cell(&self) -> (UBig, usize) {
        let cell = self.tail.iter().fold(UBig::from(self.head), |cell, &word| (cell << 64) + UBig::from(word));
        (cell, 64 * (1 + self.tail.len()))
    }

    fn next_word(&mut self, entropy: &mut Entropy) -> u64 {
        let mut word = 0;
        for known in 0..WORD_BITS {
            if self.count == 1 {
                return word | entropy.next_u64() >> known;
            }
            let lower = heads_of(self.count, entropy);
            if self.rank < lower {
                self.count = lower;
            } else {
                word |= 1 << (WORD_BITS - 1 - known);
                (self.rank, self.count) = (self.rank - lower, self.count - lower);
            }
        }
        word
    }
}

impl Lazy for RankedUniform {
    fn refine(&mut self, entropy: &mut Entropy) {
        let word = self.next_word(entropy);
        self.tail.push(word);
    }
}

/// How many of so many fair coins show heads.
fn heads_of(coins: u64, entropy: &mut Entropy) -> u64 {
    let words = (0..coins / WORD_BITS).map(|_| u64::from(entropy.next_u64().count_ones())).sum::<u64>();
    match coins % WORD_BITS {
        0 => words,
        rest => words + u64::from((entropy.next_u64() >> (WORD_BITS - rest)).count_ones()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::testing::assert_law;

    /// The chance that the one with `rank` smaller ones among `count` uniforms is below `x`: more than `rank` are.
    fn chance_below(x: f64, rank: u64, count: u64) -> f64 {
        let mut term = (1.0 - x).powi(count as i32);
        let mut fewer = 0.0;
        for below in 0..=rank {
            fewer += term;
            term *= x / (1.0 - x) * (count - below) as f64 / (below + 1) as f64;
        }
        1.0 - fewer
    }

    #[test]
    fn each_rank_has_its_law() {
        let mut entropy = seeded(91);
        for (rank, count) in [(0, 1), (0, 2), (1, 2), (2, 5), (3, 64), (40, 65), (100, 200)] {
            let law = |rank: u64, count: u64| -> Vec<f64> {
                let tails = (0..=8).map(|eighths| match eighths {
                    0 => 0.0,
                    8 => 1.0,
                    _ => chance_below(f64::from(eighths) / 8.0, rank, count),
                });
                let tails: Vec<f64> = tails.collect();
                tails.windows(2).map(|two| two[1] - two[0]).collect()
            };
            assert_law(
                &format!("{rank} of {count}"),
                100_000,
                &law(rank, count),
                &law(rank, count + count / 8 + 1),
                || (RankedUniform::draw(rank, count, &mut entropy).head() >> 61) as usize,
            );
        }
    }

    #[test]
    fn bits_are_those_of_the_halves() {
        // Of three, two lie in the lower half; of these, both in its upper half; of these, one in each.
        let mut entropy = Entropy::scripted(&[0b101 << 61, 0, 0b10 << 62, u64::MAX, 7]);
        let mut ranked = RankedUniform::draw(1, 3, &mut entropy);
        assert_eq!(ranked.head(), 0b011 << 61 | u64::MAX >> 3);
        assert_eq!(entropy.taken(), 4);
        ranked.refine(&mut entropy);
        assert_eq!(ranked.cell(), ((UBig::from(ranked.head()) << 64) + UBig::from(7_u8), 128));
    }

    #[test]
    fn what_is_drawn_later_has_the_same_law() {
        // The second word, of a number whose first is all zeros: of many uniforms, the smallest.
        let mut entropy = seeded(92);
        let mut counts = [0_u32; 2];
        for _ in 0..20_000 {
            let mut ranked = RankedUniform { head: 0, tail: Vec::new(), count: 2, rank: 0 };
            ranked.refine(&mut entropy);
            counts[usize::from(ranked.tail[0] >> 63 == 1)] += 1;
        }
        // The smaller of two is in the upper half in one case of four.
        assert!((4_600..5_400).contains(&counts[1]), "{counts:?}");
    }
}
