//! Random bits: one ChaCha20 stream a thread, keyed by the operating system, erased as it is used.
//!
//! A stream is a chain of buffers: the first 32 bytes of each buffer are the key of the next one and the rest is
//! handed out, so whoever reads this memory later learns nothing of what was drawn before (fast key erasure,
//! Bernstein 2017). Words are wiped as they are handed out.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use zeroize::Zeroize;

use crate::error::SelectError;

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

const KEY_BYTES: usize = 32;
/// Key and output of one link of the chain; 32 ChaCha blocks.
const BUFFER_BYTES: usize = 2048;
/// Links between two reseedings by the operating system (1 MiB of output).
const LINKS_BEFORE_RESEED: u32 = 512;

/// A fast-key-erasure ChaCha20 stream.
pub struct ChaChaStream {
    key: [u8; KEY_BYTES],
    /// `buffer[position..]` is not yet handed out; everything before is zero.
    buffer: [u8; BUFFER_BYTES],
    position: usize,
    links: u32,
}

impl ChaChaStream {
    /// Without a key: only [`ChaChaStream::reseed`] makes it usable. So a key is never moved, and leaves no copies.
    const fn blank() -> Self {
        Self { key: [0; KEY_BYTES], buffer: [0; BUFFER_BYTES], position: BUFFER_BYTES, links: 0 }
    }

    /// Begin anew with a key from the operating system, written where it stays.
    fn reseed(&mut self) -> Result<(), SelectError> {
        self.buffer.fill(0);
        (self.position, self.links) = (BUFFER_BYTES, 0);
        getrandom::fill(&mut self.key).map_err(|_| SelectError::Entropy)
    }

    #[cold]
    #[inline(never)]
    fn next_link(&mut self) {
        // The last few bytes of a buffer may be left over (a 64-bit request after a 32-bit one): wipe them too, since
        // the keystream is XORed onto zeros. A key is used for one buffer only, so the nonce may stay zero.
        self.buffer[self.position..].fill(0);
        let mut cipher = ChaCha20::new((&self.key).into(), &[0; 12].into());
        cipher.apply_keystream(&mut self.buffer);
        self.key.copy_from_slice(&self.buffer[..KEY_BYTES]);
        self.buffer[..KEY_BYTES].fill(0);
        self.position = KEY_BYTES;
        self.links = self.links.saturating_add(1);
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> [u8; N] {
        if self.position + N > BUFFER_BYTES {
            self.next_link();
        }
        let mut bytes = [0; N];
        let taken = &mut self.buffer[self.position..self.position + N];
        bytes.copy_from_slice(taken);
        taken.fill(0);
        self.position += N;
        bytes
    }
}

impl Entropy for ChaChaStream {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    #[inline]
    fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }
}

impl Drop for ChaChaStream {
    fn drop(&mut self) {
        self.key.zeroize();
        self.buffer.zeroize();
    }
}

/// Counts the forks above this process, so that a child can tell that its copy of a stream is not its own.
static FORKS: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
extern "C" fn after_fork_in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// See to it that forks are noticed; the first draw would do so too.
#[cfg(feature = "python")]
pub(crate) fn watch_forks() {
    fork_generation();
}

fn fork_generation() -> u64 {
    #[cfg(unix)]
    {
        static WATCH: std::sync::Once = std::sync::Once::new();
        WATCH.call_once(|| {
            // SAFETY: the handler is async-signal-safe (one atomic addition) and lives as long as the process.
            // It can only fail for lack of memory; the process id below still catches a fork then.
            unsafe { libc::pthread_atfork(None, None, Some(after_fork_in_child)) };
        });
    }
    FORKS.load(Ordering::Relaxed)
}

/// What tells one process from its forks: the count above, and the process id for a bare `clone` system call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessMark {
    generation: u64,
    id: u32,
}

impl ProcessMark {
    pub(crate) fn now() -> Self {
        Self { generation: fork_generation(), id: std::process::id() }
    }
}

/// The calling thread's stream, together with the process it belongs to.
pub struct ThreadEntropy {
    stream: ChaChaStream,
    /// `None` as long as there is no key.
    owner: Option<ProcessMark>,
}

impl Entropy for ThreadEntropy {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.stream.next_u64()
    }

    #[inline]
    fn next_u32(&mut self) -> u32 {
        self.stream.next_u32()
    }
}

thread_local! {
    static STREAM: RefCell<ThreadEntropy> =
        const { RefCell::new(ThreadEntropy { stream: ChaChaStream::blank(), owner: None }) };
}

/// Run `draw` with the calling thread's stream, seeded by the operating system on first use, after every fork and
/// after a fixed amount of output.
///
/// # Errors
/// `Entropy` if the operating system's source fails; `draw` is then not run.
pub fn with_thread_entropy<R>(
    draw: impl FnOnce(&mut ThreadEntropy) -> Result<R, SelectError>,
) -> Result<R, SelectError> {
    STREAM.with_borrow_mut(|entropy| {
        let owner = Some(ProcessMark::now());
        if entropy.owner != owner || entropy.stream.links >= LINKS_BEFORE_RESEED {
            entropy.owner = None;
            entropy.stream.reseed()?;
            entropy.owner = owner;
        }
        draw(entropy)
    })
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
        ChaChaStream { key, ..ChaChaStream::blank() }
    }

    pub fn seeded(seed: u8) -> ChaChaStream {
        with_key([seed; 32])
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Scripted, seeded, with_key};
    use super::*;

    #[test]
    fn words_are_wiped_as_they_are_handed_out() {
        let mut stream = seeded(1);
        for _ in 0..5 {
            stream.next_u64();
            assert!(stream.buffer[..stream.position].iter().all(|&byte| byte == 0));
        }
        assert!(stream.buffer[stream.position..].iter().any(|&byte| byte != 0));
    }

    #[test]
    fn each_buffer_has_a_key_of_its_own_that_is_not_handed_out() {
        let mut stream = seeded(1);
        let first_key = stream.key;
        stream.next_u64();
        let second_key = stream.key;
        assert_ne!(first_key, second_key);
        let handed_out = stream.buffer[stream.position..].to_vec();
        assert!(!handed_out.windows(KEY_BYTES).any(|window| window == second_key));
        for _ in 0..BUFFER_BYTES / 8 {
            stream.next_u64();
        }
        assert_ne!(second_key, stream.key);
    }

    #[test]
    fn the_first_word_is_the_keystream_after_the_next_key() {
        // RFC 8439's ChaCha20 with the all-zero key and nonce: keystream bytes 32.. of block 0.
        let mut stream = with_key([0; 32]);
        assert_eq!(stream.next_u64(), u64::from_le_bytes([0xda, 0x41, 0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d]));
    }

    #[test]
    fn a_fork_or_another_process_reseeds() {
        let draws = |()| with_thread_entropy(|entropy| Ok((entropy.next_u64(), entropy.stream.links))).unwrap();
        draws(());
        let (_, before) = draws(());
        assert_eq!(before, 1, "the same stream goes on within a process");
        STREAM.with_borrow_mut(|entropy| entropy.stream.links = 300);
        assert_eq!(draws(()).1, 300);
        FORKS.fetch_add(1, Ordering::Relaxed);
        assert_eq!(draws(()).1, 1, "a new stream after a fork");
        STREAM.with_borrow_mut(|entropy| {
            entropy.stream.links = 300;
            if let Some(owner) = &mut entropy.owner {
                owner.id ^= 1;
            }
        });
        assert_eq!(draws(()).1, 1, "a new stream in another process");
    }

    #[test]
    fn a_stream_is_reseeded_after_a_fixed_amount() {
        with_thread_entropy(|entropy| Ok(entropy.next_u64())).unwrap();
        STREAM.with_borrow_mut(|entropy| entropy.stream.links = LINKS_BEFORE_RESEED);
        let links = with_thread_entropy(|entropy| {
            entropy.next_u64();
            Ok(entropy.stream.links)
        });
        assert_eq!(links, Ok(1));
    }

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
