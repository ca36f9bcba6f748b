//! Random bits: every call keys a ChaCha20 stream of its own with 32 bytes from the operating system.
//!
//! A stream lives on the stack for one call and is erased when it ends. So no call shares bits with another one, whatever
//! happens between them: a fork, a copy of the whole machine, a checkpoint that is restored, a look at the memory.

use std::cell::Cell;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use zeroize::{Zeroize, optimization_barrier};

use crate::error::SelectError;

type Key = [u8; 32];

/// Bytes made at a time: as many as the widest processors make at once.
const BUFFER_BYTES: usize = 1024;
/// And the first time: most short calls need no more.
const BLOCK_BYTES: usize = 64;

/// A source of independent uniform bits.
pub struct Entropy {
    key: Key,
    /// What follows the first block, once it is needed.
    stream: Option<ChaCha20>,
    buffer: [u8; BUFFER_BYTES],
    /// `buffer[position..]` is not handed out yet.
    position: usize,
    is_fresh: bool,
    #[cfg(test)]
    script: testing::Script,
}

impl Entropy {
    fn with_key(key: Key) -> Self {
        Self {
            key,
            stream: None,
            buffer: [0; BUFFER_BYTES],
            position: BUFFER_BYTES,
            is_fresh: true,
            #[cfg(test)]
            script: testing::Script::default(),
        }
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        if self.is_fresh {
            (self.is_fresh, self.position) = (false, BUFFER_BYTES - BLOCK_BYTES);
            first_block(&self.key, &mut self.buffer[BUFFER_BYTES - BLOCK_BYTES..]);
            return;
        }
        let stream = self.stream.get_or_insert_with(|| {
            // A key is used for one stream only, so the nonce may be zero.
            let mut stream = ChaCha20::new(&self.key.into(), &[0; 12].into());
            stream.seek(BLOCK_BYTES);
            stream
        });
        self.buffer.fill(0); // the stream is added to what is there
        stream.apply_keystream(&mut self.buffer);
        self.position = 0;
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> [u8; N] {
        if self.position + N > BUFFER_BYTES {
            self.refill();
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.buffer[self.position..self.position + N]);
        self.position += N;
        bytes
    }

    /// The next 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        #[cfg(test)]
        if let Some(word) = self.script.next_u64() {
            return word;
        }
        u64::from_le_bytes(self.take())
    }

    /// The next 32 uniform bits.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        #[cfg(test)]
        if let Some(half) = self.script.next_u32() {
            return half;
        }
        u32::from_le_bytes(self.take())
    }

    /// A uniform integer below `bound` (Lemire 2019: multiply, reject the uneven rest; exact).
    ///
    /// `bound` must not be zero.
    #[inline(always)]
    pub fn below(&mut self, bound: u64) -> u64 {
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
    pub fn below_u32(&mut self, bound: u32) -> u32 {
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

/// The first block of the stream of `key` (RFC 8439, with a nonce of zero). For one block alone this takes half as long as what
/// makes many at once, and most calls need no other.
#[inline(never)]
fn first_block(key: &Key, into: &mut [u8]) {
    let mut start = [0; 16];
    start[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
    for (word, bytes) in start[4..].iter_mut().zip(key.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let mut state = start;
    for _ in 0..10 {
        for column in 0..4 {
            quarter_round(&mut state, column, [0, 0, 0]);
        }
        for column in 0..4 {
            quarter_round(&mut state, column, [1, 2, 3]);
        }
    }
    for (bytes, (word, start)) in into.as_chunks_mut().0.iter_mut().zip(state.iter().zip(start)) {
        *bytes = word.wrapping_add(start).to_le_bytes();
    }
    state.zeroize();
    start.zeroize();
}

/// One of a column, or of a diagonal: the lower rows are turned by `turns`.
#[inline(always)]
fn quarter_round(state: &mut [u32; 16], column: usize, turns: [usize; 3]) {
    let [b, c, d] = [1, 2, 3].map(|row| 4 * row + (column + turns[row - 1]) % 4);
    for (rotation_of_d, rotation_of_b) in [(16, 12), (8, 7)] {
        state[column] = state[column].wrapping_add(state[b]);
        state[d] = (state[d] ^ state[column]).rotate_left(rotation_of_d);
        state[c] = state[c].wrapping_add(state[d]);
        state[b] = (state[b] ^ state[c]).rotate_left(rotation_of_b);
    }
}

impl Drop for Entropy {
    fn drop(&mut self) {
        // The stream erases itself.
        // All at once: byte by byte takes as long as all the rest of a short call.
        self.key.fill(0);
        self.buffer.fill(0);
        optimization_barrier(self);
    }
}

/// Run `draw` with bits of its own: from the operating system's key, or within a seeded block from the block's next one.
///
/// # Errors
/// `Entropy` if the operating system's source fails; `draw` is then not run.
#[inline]
pub fn with_entropy<R>(draw: impl FnOnce(&mut Entropy) -> Result<R, SelectError>) -> Result<R, SelectError> {
    // Made where it stays: to move a kilobyte takes a twentieth of a short call.
    let mut entropy = Entropy::with_key([0; 32]);
    if !seeding::next_key(&mut entropy.key) {
        getrandom::fill(&mut entropy.key).map_err(|_| SelectError::Entropy)?;
    }
    draw(&mut entropy)
}

/// Known bits in place of the operating system's, for tests and simulations: blocks of `dpselect.testing.seeded`.
///
/// A block is of one thread and one process: helpers, other threads and children of a fork never see its bits. Whatever
/// is drawn in it is counted, so that a release can be marked that such a draw was part of.
pub mod seeding {
    use super::{Cell, ChaCha20, Key, KeyIvInit, StreamCipher};

    /// The process that began it, its key, and how many calls were answered.
    type Block = Option<(u32, Key, u64)>;

    thread_local! {
        static BLOCK: Cell<Block> = const { Cell::new(None) };
        static DRAWS: Cell<u64> = const { Cell::new(0) };
    }

    /// Begin a block on the calling thread; false, and nothing has changed, if it is in one.
    pub fn begin(key: Key) -> bool {
        if is_on() {
            return false;
        }
        BLOCK.set(Some((std::process::id(), key, 0)));
        true
    }

    /// End the block of the calling thread, if it is in one.
    pub fn end() {
        BLOCK.set(None);
    }

    /// Whether the calling thread is in a block that this process began.
    #[inline]
    pub fn is_on() -> bool {
        current().is_some()
    }

    #[inline]
    fn current() -> Block {
        BLOCK.get().filter(|(process, ..)| *process == std::process::id())
    }

    /// How many calls on this thread were answered with known bits, ever.
    pub fn draws() -> u64 {
        DRAWS.get()
    }

    /// Whether the thread is in a block, which then gives the next call's key.
    #[inline]
    pub(super) fn next_key(key: &mut Key) -> bool {
        let Some((process, of_block, number)) = current() else { return false };
        DRAWS.set(DRAWS.get() + 1);
        BLOCK.set(Some((process, of_block, number + 1)));
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&number.to_le_bytes());
        ChaCha20::new(&of_block.into(), &nonce.into()).apply_keystream(key);
        true
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::collections::VecDeque;

    use super::Entropy;

    /// Words that are handed out before those of the stream.
    #[derive(Default)]
    pub struct Script {
        words: Option<VecDeque<u64>>,
        /// The half of a word that was not handed out.
        half: Option<u32>,
        taken: usize,
    }

    impl Script {
        pub fn next_u64(&mut self) -> Option<u64> {
            self.taken += 1;
            self.words.as_mut()?.pop_front()
        }

        /// Upper half first, so that two halves make up the word they arrived from.
        pub fn next_u32(&mut self) -> Option<u32> {
            self.half.take().or_else(|| {
                let word = self.next_u64()?;
                self.half = Some(word as u32);
                Some((word >> 32) as u32)
            })
        }
    }

    impl Entropy {
        /// Hands out the given words, then a reproducible stream.
        pub fn scripted(words: &[u64]) -> Self {
            let mut entropy = seeded(7);
            entropy.script.words = Some(words.iter().copied().collect());
            entropy
        }

        /// Words taken so far, of the script or behind it.
        pub fn taken(&self) -> usize {
            self.script.taken
        }
    }

    pub fn with_key(key: [u8; 32]) -> Entropy {
        Entropy::with_key(key)
    }

    pub fn seeded(seed: u8) -> Entropy {
        with_key([seed; 32])
    }
}

#[cfg(test)]
mod tests;
