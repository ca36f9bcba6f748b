//! Work that threads share: each takes the next turn until nothing is left.
//!
//! Starting a thread takes tens of microseconds, and a busy machine starts it late; a pass over a million scores takes a hundred. So helping
//! threads are kept between calls. The caller works from the first moment on and never waits for a helper that has not joined. A
//! helper stays awake for a moment after its last work: waking one takes about as long as a whole pass.
//!
//! After a fork the child has none of its parent's threads, and locks may be held by threads that no longer exist. So a pool
//! belongs to one process: a child leaves its parent's pool alone and makes its own.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
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

/// How many threads may run at once: as many as the calling thread has processors, or fewer if its container does.
pub fn available_threads() -> usize {
    // The container's share is in files that take long to read: again only when the processors are others than before.
    static KNOWN: AtomicU64 = AtomicU64::new(0);
    let processors = processors();
    let known = KNOWN.load(Ordering::Relaxed);
    if known >> 32 == processors {
        return known as u32 as usize;
    }
    let threads = thread::available_parallelism().map_or(1, usize::from).min(u32::MAX as usize);
    KNOWN.store(processors << 32 | threads as u64, Ordering::Relaxed);
    threads
}

/// Processors that the calling thread may run on, or 1 where the system does not tell.
fn processors() -> u64 {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: a set of bits, which may all be zero; the call writes no more than its size, for the calling thread.
        let count = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let failed = libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) != 0;
            if failed { 1 } else { libc::CPU_COUNT(&set) }
        };
        count.max(1) as u64
    }
    #[cfg(not(target_os = "linux"))]
    1
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
    if helpers == 0 { work() } else { Pool::of_this_process().share(helpers, work) }
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
        if state.joined == 0 {
            self.all_left.notify_all();
        }
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

/// The helping threads of a process, and the work that waits for one.
struct Pool {
    owner: u32,
    queue: Mutex<Queue>,
    /// As much as the queue holds, for a look without the lock.
    waiting: AtomicUsize,
    news: Condvar,
}

#[derive(Default)]
struct Queue {
    lent: VecDeque<Arc<Lent>>,
    threads: usize,
}

impl Pool {
    fn new() -> Self {
        let (queue, waiting, news) = (Mutex::default(), AtomicUsize::new(0), Condvar::new());
        Self { owner: std::process::id(), queue, waiting, news }
    }

    fn of_this_process() -> &'static Self {
        static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());
        let mut known = POOL.load(Ordering::Acquire);
        loop {
            // SAFETY: what is stored there is never freed.
            if let Some(pool) = unsafe { known.as_ref() }
                && pool.owner == std::process::id()
            {
                return pool;
            }
            // Leaked on purpose, once a process: the threads refer to it for as long as they live.
            let new = Box::leak(Box::new(Self::new()));
            match POOL.compare_exchange(known, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return new,
                Err(other) => known = other,
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// [`with_helpers`], with at least one.
    fn share(&'static self, helpers: usize, work: &(dyn Fn() + Sync)) {
        let cancelled = Cancelled::default();
        let run = || with_standard_floats(|| helping(&cancelled, work)).is_ok();
        let run: &(dyn Fn() -> bool + Sync) = &run;
        let lent = Arc::new(Lent {
            // SAFETY: only the lifetime changes. A helper calls it between joining and leaving, and `Close` below does not let this
            // function end before all that joined have left and none can join any more.
            run: unsafe { std::mem::transmute::<&(dyn Fn() -> bool + Sync), &'static (dyn Fn() -> bool + Sync)>(run) },
            state: Mutex::default(),
            all_left: Condvar::new(),
            owner: std::process::id(),
        });
        let close = Close(&lent);
        self.lend(&lent, helpers);
        with_cancelled(&cancelled, work);
        drop(close);
        assert!(!lent.state().has_failed, "a helping thread panicked");
    }

    fn lend(&'static self, lent: &Arc<Lent>, helpers: usize) {
        let mut queue = self.queue();
        while queue.threads < helpers {
            let thread = thread::Builder::new().name("dpselect".into()).stack_size(256 << 10);
            if thread.spawn(|| self.serve()).is_err() {
                break; // then the caller does it all
            }
            queue.threads += 1;
        }
        let lent_to = helpers.min(queue.threads);
        queue.lent.extend(std::iter::repeat_n(lent, lent_to).cloned());
        self.waiting.store(queue.lent.len(), Ordering::Release);
        drop(queue);
        self.news.notify_all();
    }

    fn serve(&self) {
        let mut awake_until = Instant::now() + AWAKE;
        loop {
            let is_asleep = Instant::now() >= awake_until;
            if is_asleep || self.waiting.load(Ordering::Acquire) > 0 {
                let mut queue = self.queue();
                while is_asleep && queue.lent.is_empty() {
                    queue = self.news.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
                let lent = queue.lent.pop_front();
                self.waiting.store(queue.lent.len(), Ordering::Release);
                drop(queue);
                if let Some(lent) = lent {
                    lent.join();
                    awake_until = Instant::now() + AWAKE;
                }
            }
            thread::yield_now();
        }
    }
}

#[cfg(test)]
#[path = "threads_tests.rs"]
mod tests;
