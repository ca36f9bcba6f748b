//! Work that threads share: each takes the next turn until nothing is left.
//!
//! Starting a thread takes tens of microseconds, a pass over a million scores a hundred. So helpers are kept between calls, and stay
//! awake for a moment after their last work. The caller works from the first moment on and never waits for a helper that
//! has not joined.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::SelectError;
use crate::float_control::with_standard_floats;
use crate::interrupt::{self, Cancelled, helping, with_cancelled};

/// How long a helper looks for work before it goes to sleep. It yields the processor to others.
const AWAKE: Duration = Duration::from_micros(300);
/// How often a caller looks whether the helpers are done before it goes to sleep.
const LOOKS: usize = 500;

/// How many threads may run at once. The system is asked once, as its answer stands in files that take long to read.
pub fn available_threads() -> usize {
    static KNOWN: OnceLock<usize> = OnceLock::new();
    *KNOWN.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// The turns `0..len`, `per_turn` at a time, until one thread that takes them fails.
pub struct Turns {
    next: AtomicUsize,
    len: usize,
    per_turn: usize,
    failure: OnceLock<SelectError>,
}

impl Turns {
    pub fn new(len: usize, per_turn: usize) -> Self {
        Self { next: AtomicUsize::new(0), len, per_turn, failure: OnceLock::new() }
    }

    /// The next turn; none after the last, after a failure, or if the call is to end.
    #[inline]
    pub fn take(&self) -> Option<Range<usize>> {
        if let Err(interrupted) = interrupt::check() {
            self.fail(interrupted);
        }
        if self.failure.get().is_some() {
            return None;
        }
        let start = self.next.fetch_add(self.per_turn, Ordering::Relaxed);
        (start < self.len).then(|| start..self.len.min(start + self.per_turn))
    }

    /// No further turns for any thread; the first failure counts.
    pub fn fail(&self, error: SelectError) {
        let _ = self.failure.set(error);
    }

    /// Ends the turns of all if its owner unwinds, which may happen in the middle of a turn.
    pub fn ended_by_unwinding(&self) -> impl Drop {
        struct Guard<'t>(&'t Turns);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                if thread::panicking() {
                    self.0.fail(SelectError::Interrupted);
                }
            }
        }
        Guard(self)
    }

    /// What became of the work, when all threads that took turns have ended.
    ///
    /// # Errors
    /// The first failure.
    pub fn outcome(self) -> Result<(), SelectError> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }
}

/// Run `work` here, and meanwhile on up to `helpers` other threads as far as they are free. Returns when every run that
/// began has ended. `work` has to share its load out itself, and to come out complete however many runs there are.
///
/// # Panics
/// If a helper's run did.
pub fn with_helpers(helpers: usize, work: &(dyn Fn() + Sync)) {
    if helpers == 0 {
        return work();
    }
    let cancelled = Cancelled::default();
    let run = || with_standard_floats(|| helping(&cancelled, work)).is_ok();
    let run: &(dyn Fn() -> bool + Sync) = &run;
    // SAFETY: only the lifetime changes. A helper calls it between joining and leaving, and `Close` does not let this function
    // end before all that joined have left and none can join any more.
    let run = unsafe { std::mem::transmute::<&(dyn Fn() -> bool + Sync), &'static (dyn Fn() -> bool + Sync)>(run) };
    let lent = Arc::new(Lent { run, state: Mutex::default(), all_left: Condvar::new(), owner: std::process::id() });
    let close = Close(&lent);
    lend(&lent, helpers);
    with_cancelled(&cancelled, work);
    drop(close);
    assert!(!lent.state().has_failed, "a helping thread panicked");
}

/// Work that a caller lends to helpers; `run` says whether it ended well.
struct Lent {
    run: &'static (dyn Fn() -> bool + Sync),
    state: Mutex<State>,
    all_left: Condvar,
    owner: u32,
}

#[derive(Default)]
struct State {
    joined: usize,
    is_closed: bool,
    has_failed: bool,
}

impl Lent {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Help, unless it is too late.
    fn join(&self) {
        let mut state = self.state();
        if state.is_closed {
            return;
        }
        state.joined += 1;
        drop(state);
        let ended_well = (self.run)();
        // When this lock is given back the caller may be gone, and with it what `run` refers to.
        let mut state = self.state();
        state.joined -= 1;
        state.has_failed |= !ended_well;
        self.all_left.notify_all();
    }
}

/// Lets no helper join any more and waits for those that did, also while the caller's own work unwinds.
struct Close<'l>(&'l Lent);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        // In a child that a signal's handler forked, those that joined are threads of its parent.
        if self.0.owner != std::process::id() {
            return;
        }
        self.0.state().is_closed = true;
        for _ in 0..LOOKS {
            if self.0.state().joined == 0 {
                return;
            }
            std::hint::spin_loop();
        }
        let mut state = self.0.state();
        while state.joined > 0 {
            state = self.0.all_left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The process that started helpers, and a line to each.
static HELPERS: Mutex<(u32, Vec<Sender<Arc<Lent>>>)> = Mutex::new((0, Vec::new()));

/// Tell helpers of work, unless another thread is doing so: after a fork the one that holds the lock may not exist.
fn lend(lent: &Arc<Lent>, wanted: usize) {
    let Ok(mut helpers) = HELPERS.try_lock() else { return };
    let (owner, lines) = &mut *helpers;
    if *owner != lent.owner {
        *owner = lent.owner;
        // Not dropped: the threads at the other ends of a parent's lines may have held their locks.
        std::mem::forget(std::mem::take(lines));
    }
    while lines.len() < wanted {
        let (line, work) = channel();
        let thread = thread::Builder::new().name("dpselect".into()).stack_size(256 << 10);
        if thread.spawn(move || serve(&work)).is_err() {
            break; // then the caller does it all
        }
        lines.push(line);
    }
    for line in lines.iter().take(wanted) {
        let _ = line.send(lent.clone()); // a helper never ends
    }
}

/// Help with whatever comes.
fn serve(work: &Receiver<Arc<Lent>>) {
    let mut awake_until = Instant::now() + AWAKE;
    loop {
        let mut lent = work.try_recv().ok();
        if lent.is_none() && Instant::now() >= awake_until {
            lent = work.recv().ok();
        }
        if let Some(lent) = lent {
            lent.join();
            awake_until = Instant::now() + AWAKE;
        }
        thread::yield_now();
    }
}

#[cfg(test)]
#[path = "threads_tests.rs"]
mod tests;
