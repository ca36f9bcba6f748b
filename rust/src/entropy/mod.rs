//! Random bits: one ChaCha20 stream a thread, keyed by the operating system, erased as it is used.

mod process_mark;
pub mod seeding;
mod stream;

pub(crate) use process_mark::ProcessMark;
pub use stream::{ChaChaStream, ThreadEntropy, with_thread_entropy};

/// A source of independent uniform bits. Tests script it; releases use [`ThreadEntropy`].
pub trait Entropy {
    /// The next 64 uniform bits.
    fn next_u64(&mut self) -> u64;

    /// The next 32 uniform bits.
    #[inline]
    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A uniform integer below `bound` (Lemire 2019: multiply, reject the uneven rest; exact).
    ///
    /// `bound` must not be zero.
    #[inline]
    fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        if let Ok(small) = u32::try_from(bound) {
            return u64::from(self.below_u32(small));
        }
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let uneven = bound.wrapping_neg() % bound;
            while (product as u64) < uneven {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// As [`Entropy::below`], from half the bits.
    #[inline]
    fn below_u32(&mut self, bound: u32) -> u32 {
        let mut product = u64::from(self.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let uneven = bound.wrapping_neg() % bound;
            while (product as u32) < uneven {
                product = u64::from(self.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{ChaChaStream, Entropy};

    /// Hands out the given words, then a reproducible stream.
    pub struct Scripted {
        words: std::collections::VecDeque<u64>,
        /// The half of a word that was not handed out.
        half: Option<u32>,
        rest: ChaChaStream,
        pub taken: usize,
    }

    impl Scripted {
        pub fn new(words: &[u64]) -> Self {
            Self { words: words.iter().copied().collect(), half: None, rest: seeded(7), taken: 0 }
        }
    }

    impl Entropy for Scripted {
        fn next_u64(&mut self) -> u64 {
            self.taken += 1;
            self.words.pop_front().unwrap_or_else(|| self.rest.next_u64())
        }

        /// Upper half first, so that two halves make up the word they came from.
        fn next_u32(&mut self) -> u32 {
            self.half.take().unwrap_or_else(|| {
                let word = self.next_u64();
                self.half = Some(word as u32);
                (word >> 32) as u32
            })
        }
    }

    pub fn with_key(key: [u8; 32]) -> ChaChaStream {
        ChaChaStream::with_key(key)
    }

    pub fn seeded(seed: u8) -> ChaChaStream {
        with_key([seed; 32])
    }
}

#[cfg(test)]
mod tests {
    use super::Entropy;
    use super::testing::{Scripted, seeded};

    #[test]
    fn below_rejects_exactly_the_uneven_rest() {
        // bound 3: 2^32 mod 3 = 1, so only the word whose low product is below 1 is refused: word 0.
        let mut entropy = Scripted::new(&[0, 1 << 32]);
        assert_eq!(entropy.below_u32(3), 0);
        assert_eq!(entropy.taken, 2, "the first word was refused");
        let bound = (1 << 63) + 1;
        let mut entropy = Scripted::new(&[0, u64::MAX]);
        assert_eq!(entropy.below(bound), bound - 1);
        assert_eq!(entropy.taken, 2);
    }

    #[test]
    fn below_is_uniform_over_every_short_word() {
        // Enumerate: with w-bit words the accepted words split evenly. Here the 32-bit words are sampled evenly.
        let mut counts = [0_u32; 5];
        let mut entropy = seeded(3);
        for _ in 0..50_000 {
            counts[entropy.below(5) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_400..10_600).contains(&count)), "{counts:?}");
    }
}
