//! Long calls end when the person who made them asks for it: every loop without a short bound asks here in between.
//!
//! Only the thread that was called asks; a helper's loop ends when the caller's does, by whatever they share.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::error::SelectError;

/// Between two questions, so that asking costs nothing and an answer still comes at once for a person.
const PAUSE: Duration = Duration::from_millis(50);

static ASK: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    /// When the running call was last asked; `None` on threads that no call began on.
    static ASKED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Let `wants_to_end` answer from now on, on the thread of the call; the first one given stays.
#[cfg_attr(not(feature = "python"), allow(dead_code))]
pub(crate) fn answer_by(wants_to_end: fn() -> bool) {
    ASK.get_or_init(|| wants_to_end);
}

/// Run a call that may be ended.
pub fn interruptible<R>(call: impl FnOnce() -> R) -> R {
    let outer = ASKED.replace(Some(Instant::now()));
    let result = call();
    ASKED.set(outer);
    result
}

/// Ask, unless that was done a moment ago. It takes some 30 ns: ask after microseconds of work, not after each step.
///
/// # Errors
/// `Interrupted` if the call is to end.
#[inline]
pub fn check() -> Result<(), SelectError> {
    match ASKED.get() {
        Some(asked) if asked.elapsed() >= PAUSE => ask(),
        _ => Ok(()),
    }
}

#[cold]
#[inline(never)]
fn ask() -> Result<(), SelectError> {
    ASKED.set(Some(Instant::now()));
    if ASK.get().is_some_and(|wants_to_end| wants_to_end()) { Err(SelectError::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    thread_local! {
        static ENDS: Cell<bool> = const { Cell::new(false) };
    }

    /// Run a call that is asked to end from its first question on.
    pub fn ended<R>(call: impl FnOnce() -> R) -> R {
        answer_by(|| ENDS.get());
        ENDS.set(true);
        let result = interruptible(call);
        ENDS.set(false);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::testing::ended;
    use super::*;

    fn first_error() -> Result<(), SelectError> {
        let start = Instant::now();
        while start.elapsed() < 4 * PAUSE {
            check()?;
        }
        Ok(())
    }

    #[test]
    fn a_call_that_is_asked_to_end_does() {
        assert_eq!(ended(first_error), Err(SelectError::Interrupted));
        assert_eq!(interruptible(first_error), Ok(()), "nobody asks this one to end");
    }

    #[test]
    fn threads_without_a_call_are_not_asked() {
        assert_eq!(ended(|| std::thread::spawn(first_error).join().unwrap()), Ok(()));
    }
}
