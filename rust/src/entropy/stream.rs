//! The streams: a chain of buffers, the first 32 bytes of each being the key of the next one, and the rest handed out.
//!
//! So whoever reads this memory later learns nothing of what was drawn before (fast key erasure, Bernstein 2017). Words are
//! wiped as they are handed out. A stream gets a new key from the operating system after a fork, after a fixed amount and
//! after a fixed time: a copy of the whole machine, which nothing in it can notice, repeats what it draws for that long at most.

use std::cell::RefCell;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use zeroize::Zeroize;

use super::Entropy;
use super::process_mark::ProcessMark;
use super::seeding;
use crate::error::SelectError;

const KEY_BYTES: usize = 32;
/// Key and output of one link of the chain; 32 ChaCha blocks.
const BUFFER_BYTES: usize = 2048;
/// Links between two reseedings by the operating system (1 MiB of output).
const LINKS_BEFORE_RESEED: u32 = 512;
/// Milliseconds between two reseedings by the operating system. One takes a few microseconds.
const AGE_BEFORE_RESEED: u64 = 1000;

/// A fast-key-erasure ChaCha20 stream.
pub struct ChaChaStream {
    key: [u8; KEY_BYTES],
    /// `buffer[position..]` is not yet handed out; everything before is zero.
    buffer: [u8; BUFFER_BYTES],
    position: usize,
    links: u32,
    /// When the operating system gave the key, by [`milliseconds`].
    born: u64,
    /// The age in milliseconds at which the key is given up; longer in tests only.
    lifetime: u64,
}

impl ChaChaStream {
    /// Without a key: only [`ChaChaStream::reseed`] makes it usable. So a key is never moved, and leaves no copies.
    const fn blank() -> Self {
        Self {
            key: [0; KEY_BYTES],
            buffer: [0; BUFFER_BYTES],
            position: BUFFER_BYTES,
            links: 0,
            born: 0,
            lifetime: AGE_BEFORE_RESEED,
        }
    }

    /// Begin anew with a key from the operating system, written where it stays.
    fn reseed(&mut self) -> Result<(), SelectError> {
        self.buffer.fill(0);
        (self.position, self.links) = (BUFFER_BYTES, 0);
        getrandom::fill(&mut self.key).map_err(|_| SelectError::Entropy)?;
        self.born = milliseconds();
        Ok(())
    }

    fn is_due(&self) -> bool {
        self.links >= LINKS_BEFORE_RESEED || self.is_old(milliseconds())
    }

    fn is_old(&self, now: u64) -> bool {
        // A clock behind the birth is that of another machine, on which a checkpoint was restored; the difference wraps to
        // a great age.
        now.wrapping_sub(self.born) >= self.lifetime
    }

    /// Known bits, for tests and for blocks of `dpselect.testing.seeded`.
    pub(super) fn with_key(key: [u8; KEY_BYTES]) -> Self {
        // It never grows old, and so never gets a key from the operating system.
        Self { key, lifetime: u64::MAX, ..Self::blank() }
    }

    #[cold]
    #[inline(never)]
    fn next_link(&mut self) {
        if self.links > 0 && self.is_old(milliseconds()) {
            // In the middle of a long draw. Without a new key the old chain goes on as safely, and the next call asks again.
            let mut key = [0; KEY_BYTES];
            if getrandom::fill(&mut key).is_ok() {
                self.key.copy_from_slice(&key);
                (self.links, self.born) = (0, milliseconds());
            }
            key.zeroize();
        }
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

/// The time since some moment, coarse and cheap: it only has to tell that a second has passed.
#[cfg(target_os = "linux")]
fn milliseconds() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `now`. It cannot fail: every Linux that Rust runs on has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

#[cfg(not(target_os = "linux"))]
fn milliseconds() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    // Far from 0, so that tests can look back.
    3_600_000 + START.get_or_init(Instant::now).elapsed().as_millis() as u64
}

/// The calling thread's stream, together with the process it belongs to.
pub struct ThreadEntropy {
    stream: ChaChaStream,
    /// `None` as long as there is no key.
    owner: Option<ProcessMark>,
}

impl ThreadEntropy {
    const fn blank() -> Self {
        Self { stream: ChaChaStream::blank(), owner: None }
    }

    /// Of a known key, and never of another one.
    pub(super) fn seeded(key: [u8; KEY_BYTES]) -> Self {
        Self { stream: ChaChaStream::with_key(key), owner: Some(ProcessMark::now()) }
    }

    pub(super) fn is_of_this_process(&self) -> bool {
        self.owner == Some(ProcessMark::now())
    }

    fn run(&mut self, draw: &mut Draw<'_>) -> Result<(), SelectError> {
        let owner = Some(ProcessMark::now());
        if self.owner != owner || self.stream.is_due() {
            self.owner = None;
            self.stream.reseed()?;
            self.owner = owner;
        }
        draw(self)
    }
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
        const { RefCell::new(ThreadEntropy::blank()) };
}

/// Run `draw` with the calling thread's stream, seeded by the operating system on first use, after every fork,
/// after a fixed amount of output and after a fixed time. Within a seeded block, which marks what comes of it, with its bits.
///
/// # Errors
/// `Entropy` if the operating system's source fails; `draw` is then not run.
pub fn with_thread_entropy<R>(
    draw: impl FnOnce(&mut ThreadEntropy) -> Result<R, SelectError>,
) -> Result<R, SelectError> {
    let (mut draw, mut drawn) = (Some(draw), None);
    let mut draw = |entropy: &mut ThreadEntropy| {
        drawn = draw.take().map(|draw| draw(entropy)).transpose()?;
        Ok(())
    };
    if seeding::is_on() { seeding::draw(&mut draw) } else { draw_unseeded(&mut draw) }?;
    drawn.ok_or(SelectError::Entropy)
}

/// A draw whose type nobody but its caller knows, so that all around it is compiled once.
pub(super) type Draw<'d> = dyn FnMut(&mut ThreadEntropy) -> Result<(), SelectError> + 'd;

/// With bits of the operating system, whatever block the thread is in.
pub(super) fn draw_unseeded(draw: &mut Draw<'_>) -> Result<(), SelectError> {
    STREAM.with(|stream| match stream.try_borrow_mut() {
        Ok(mut entropy) => entropy.run(draw),
        // A signal's handler draws in the middle of a draw.
        Err(_) => ThreadEntropy::blank().run(draw),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{seeded, with_key};
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
    fn another_process_an_amount_and_an_age_reseed() {
        let links = || {
            let draw = |entropy: &mut ThreadEntropy| {
                entropy.next_u64();
                Ok(entropy.stream.links)
            };
            with_thread_entropy(draw).unwrap()
        };
        let change = |change: &dyn Fn(&mut ThreadEntropy)| STREAM.with_borrow_mut(change);
        // It does not grow old here, however busy the machine is.
        let young = |links: u32| change(&|entropy| (entropy.stream.links, entropy.stream.lifetime) = (links, u64::MAX));
        links();
        young(300);
        assert_eq!(links(), 300, "the same stream goes on within a process");
        change(&|entropy| entropy.owner = entropy.owner.map(ProcessMark::of_another_process));
        assert_eq!(links(), 1, "a new stream in another process");
        young(LINKS_BEFORE_RESEED);
        assert_eq!(links(), 1, "a new stream after a fixed amount");
        let renewed = |change: &dyn Fn(u64) -> u64| {
            STREAM.with_borrow_mut(|entropy| {
                (entropy.stream.links, entropy.stream.lifetime) = (300, AGE_BEFORE_RESEED);
                entropy.stream.born = change(entropy.stream.born);
            });
            links() == 1
        };
        assert!(renewed(&|born| born - AGE_BEFORE_RESEED), "a new stream after a fixed time");
        assert!(renewed(&|born| born + 3_600_000), "a new stream where the clock is behind");
        let stream = ChaChaStream { born: 5000, ..ChaChaStream::blank() };
        assert_eq!([5999, 6000, 9000].map(|now| stream.is_old(now)), [false, true, true]);
        assert!(stream.is_old(0) && stream.is_old(4999), "a clock that is behind makes everything old");
    }

    #[test]
    fn a_draw_within_a_draw_has_a_stream_of_its_own() {
        let words = with_thread_entropy(|outer| {
            let before = outer.next_u64();
            let inner = with_thread_entropy(|inner| Ok(inner.next_u64()))?;
            Ok([before, inner, outer.next_u64()])
        });
        let [before, inner, after] = words.unwrap();
        assert!(before != inner && inner != after && before != after);
    }

    #[test]
    fn one_long_draw_gets_new_keys_too() {
        let births = with_thread_entropy(|entropy| {
            entropy.next_u64();
            entropy.stream.born -= 2 * AGE_BEFORE_RESEED;
            let old = entropy.stream.born;
            (0..BUFFER_BYTES).for_each(|_| _ = entropy.next_u64());
            Ok((old, entropy.stream.born))
        });
        let (old, new) = births.unwrap();
        assert!(new > old);
    }
}
