//! Known bits in place of the operating system's, for tests and simulations: blocks of `dpselect.testing.seeded`.
//!
//! A block is of one thread and one process: helpers, other threads and children of a fork never see its bits. Whatever
//! is drawn in it is counted, so that a release can be marked that such a draw was part of.

use std::cell::{Cell, RefCell};

use super::stream::{Draw, ThreadEntropy, draw_unseeded};
use crate::error::SelectError;

thread_local! {
    static SEEDED: RefCell<Option<Box<ThreadEntropy>>> = const { RefCell::new(None) };
    /// Whether a block was begun here and not ended; perhaps in a parent of this process.
    static BEGUN: Cell<bool> = const { Cell::new(false) };
    static DRAWS: Cell<u64> = const { Cell::new(0) };
}

/// Begin a block on the calling thread; false, and nothing has changed, if it is in one.
pub fn begin(key: [u8; 32]) -> bool {
    if is_on() {
        return false;
    }
    SEEDED.with(|seeded| seeded.replace(Some(Box::new(ThreadEntropy::seeded(key)))));
    BEGUN.set(true);
    true
}

/// End the block of the calling thread, if it is in one.
pub fn end() {
    BEGUN.set(false);
    SEEDED.with(|seeded| seeded.replace(None));
}

/// Whether the calling thread is in a block that this process began.
#[inline]
pub fn is_on() -> bool {
    BEGUN.get() && is_of_this_process()
}

/// How many calls on this thread were answered with known bits, ever.
pub fn draws() -> u64 {
    DRAWS.get()
}

#[cold]
fn is_of_this_process() -> bool {
    // A draw of this thread that is under way holds it, so the block is of this process.
    SEEDED.with(|seeded| {
        seeded.try_borrow().map_or(true, |held| held.as_ref().is_some_and(|stream| stream.is_of_this_process()))
    })
}

#[cold]
#[inline(never)]
pub(super) fn draw(draw: &mut Draw<'_>) -> Result<(), SelectError> {
    DRAWS.set(DRAWS.get() + 1);
    SEEDED.with(|seeded| match seeded.try_borrow_mut() {
        Ok(mut held) => match held.as_mut() {
            Some(stream) => draw(stream),
            None => draw_unseeded(draw),
        },
        // A signal's handler draws in the middle of a draw.
        Err(_) => draw_unseeded(draw),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Entropy, with_thread_entropy};
    use super::*;

    fn words() -> [u64; 3] {
        with_thread_entropy(|entropy| Ok([entropy.next_u64(), entropy.next_u64(), entropy.next_u64()])).unwrap()
    }

    #[test]
    fn a_block_repeats_its_bits_and_counts_its_draws() {
        let before = draws();
        assert!(begin([7; 32]));
        let first = [words(), words()];
        end();
        assert_eq!(draws(), before + 2);
        let outside = words();
        assert_eq!(draws(), before + 2, "only draws within count");
        assert!(begin([7; 32]));
        let again = [words(), words()];
        end();
        assert_eq!(first, again);
        assert!(begin([8; 32]));
        let other = words();
        end();
        assert!(other != first[0] && outside != first[0] && words() != first[0]);
    }

    #[test]
    fn a_block_within_a_block_is_refused_and_changes_nothing() {
        assert!(begin([1; 32]));
        let first = words();
        assert!(!begin([1; 32]));
        assert_ne!(words(), first, "the outer stream goes on");
        end();
        assert!(!is_on());
    }

    #[test]
    fn no_reseeding_breaks_a_long_block() {
        let long = || {
            assert!(begin([3; 32]));
            (0..400_000).for_each(|_| _ = words());
            let last = words();
            end();
            last
        };
        assert_eq!(long(), long());
    }

    #[test]
    fn other_threads_do_not_see_it() {
        assert!(begin([7; 32]));
        let here = words();
        let (elsewhere, on) = std::thread::spawn(|| (words(), is_on())).join().unwrap();
        end();
        assert!(!on && elsewhere != here);
    }

    #[cfg(all(unix, not(miri)))]
    #[test]
    fn a_child_of_a_fork_is_out_of_the_block() {
        assert!(begin([7; 32]));
        // SAFETY: the child computes without allocating, and exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends this process.
            unsafe { libc::_exit(i32::from(is_on())) };
        }
        let mut status = 0;
        // SAFETY: writes to `status`.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert!(is_on());
        end();
        assert_eq!(status, 0, "the child was in the block");
    }
}
