//! Long calls end when the caller asks for it: every loop without a short bound asks here in between.
//!
//! Only the thread that was called asks; its helpers are told by a flag.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::SelectError;

/// Between two questions, so that asking costs nothing and an answer still comes at once for a person.
const PAUSE: Duration = Duration::from_millis(50);

static ASK: OnceLock<fn() -> bool> = OnceLock::new();

#[derive(Clone, Copy)]
enum Call {
    /// No call began on this thread: nothing is asked.
    None,
    /// It has not come to a question yet, and most never do.
    Begun,
    Asked(Instant),
    /// On a helper's thread: the flag of the call that it helps, which lives until the help ends.
    Helping(*const Cancelled),
}

thread_local! {
    static CALL: Cell<Call> = const { Cell::new(Call::None) };
    /// What the helpers of the running call listen to, as long as it has any.
    static CANCELLED: Cell<*const Cancelled> = const { Cell::new(std::ptr::null()) };
}

/// Let `wants_to_end` answer from now on, on the thread of the call; the first one given stays.
#[cfg_attr(not(feature = "python"), allow(dead_code))]
pub(crate) fn answer_by(wants_to_end: fn() -> bool) {
    ASK.get_or_init(|| wants_to_end);
}

/// What [`check_deep`] unwinds with.
struct Ended(SelectError);

/// Run a call that may be ended.
///
/// # Errors
/// Those of `call`, and `Interrupted`.
#[inline]
pub fn interruptible<R>(call: impl FnOnce() -> Result<R, SelectError>) -> Result<R, SelectError> {
    // A signal's handler may call in the middle of a call.
    let (outer, cancelled) = (CALL.replace(Call::Begun), CANCELLED.replace(std::ptr::null()));
    // Whatever `call` leaves half done was its own, as its random bits are.
    let result = catch_unwind(AssertUnwindSafe(call));
    CALL.set(outer);
    CANCELLED.set(cancelled);
    result.unwrap_or_else(|reason| match reason.downcast::<Ended>() {
        Ok(ended) => Err(ended.0),
        Err(reason) => resume_unwind(reason),
    })
}

/// Ask, unless that was done a moment ago. It takes some 30 ns: ask after microseconds of work, not after each step.
///
/// # Errors
/// `Interrupted` if the call is to end; `Entropy` in a child that a signal's handler forked off in the middle of it.
#[inline]
pub fn check() -> Result<(), SelectError> {
    match CALL.get() {
        Call::Begun => {
            CALL.set(Call::Asked(Instant::now()));
            Ok(())
        }
        Call::Asked(asked) if asked.elapsed() < PAUSE => Ok(()),
        Call::Asked(_) => ask(),
        // SAFETY: it lives as long as the helper says so, see `helping`.
        Call::Helping(cancelled) if unsafe { (*cancelled).0.load(Ordering::Relaxed) } => Err(SelectError::Interrupted),
        Call::None | Call::Helping(_) => Ok(()),
    }
}

/// Tells the helpers of a call that it ends.
#[derive(Default)]
pub(crate) struct Cancelled(AtomicBool);

/// Do a call's own part of work that others help with; if the call is to end, they are told.
pub(crate) fn with_cancelled(cancelled: &Cancelled, work: impl FnOnce()) {
    struct Restore(*const Cancelled);
    impl Drop for Restore {
        fn drop(&mut self) {
            CANCELLED.set(self.0);
        }
    }
    let _restore = Restore(CANCELLED.replace(cancelled));
    work();
}

/// Help with work until it is done or cancelled.
///
/// # Errors
/// What a panic carried.
pub(crate) fn helping(cancelled: &Cancelled, work: impl FnOnce()) -> Result<(), Box<dyn Any + Send>> {
    let outer = CALL.replace(Call::Helping(cancelled));
    let result = catch_unwind(AssertUnwindSafe(work));
    CALL.set(outer);
    result.or_else(|reason| if reason.is::<Ended>() { Ok(()) } else { Err(reason) })
}

/// The same where a comparison of numbers goes on and nothing can fail: the call's stack is unwound to its beginning.
#[inline]
pub fn check_deep() {
    if let Err(error) = check() {
        resume_unwind(Box::new(Ended(error)));
    }
}

#[cold]
#[inline(never)]
fn ask() -> Result<(), SelectError> {
    CALL.set(Call::Asked(Instant::now()));
    let process = std::process::id();
    let is_to_end = ASK.get().is_some_and(|wants_to_end| wants_to_end());
    if process != std::process::id() {
        // A signal's handler forked, and its parent goes on with the stream of random bits of which this is a copy.
        return Err(SelectError::Entropy);
    }
    if !is_to_end {
        return Ok(());
    }
    // SAFETY: null, or a flag that lives until `with_cancelled` ends.
    if let Some(cancelled) = unsafe { CANCELLED.get().as_ref() } {
        cancelled.0.store(true, Ordering::Relaxed);
    }
    Err(SelectError::Interrupted)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    thread_local! {
        static ENDS: Cell<bool> = const { Cell::new(false) };
    }

    /// Run a call that is asked to end from its first question on.
    pub fn ended<R>(call: impl FnOnce() -> Result<R, SelectError>) -> Result<R, SelectError> {
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
    fn a_question_deep_within_ends_the_whole_call() {
        let endless = || loop {
            check_deep();
        };
        assert_eq!(ended::<()>(endless), Err(SelectError::Interrupted));
        let panics = || interruptible::<()>(|| panic!("its own"));
        assert!(catch_unwind(panics).is_err(), "what is no interruption goes on");
        assert_eq!(interruptible(first_error), Ok(()), "the next call starts afresh");
    }

    #[test]
    fn a_call_that_is_asked_to_end_does() {
        assert_eq!(ended(first_error), Err(SelectError::Interrupted));
        assert_eq!(interruptible(first_error), Ok(()), "nothing asks this one to end");
    }

    #[test]
    fn threads_without_a_call_are_not_asked() {
        assert_eq!(ended(|| std::thread::spawn(first_error).join().unwrap()), Ok(()));
    }
}
