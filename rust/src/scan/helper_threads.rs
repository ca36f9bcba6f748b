//! Idle threads that may help with a large pass, without anybody ever waiting for one that has not begun.
//!
//! Starting a thread takes tens of microseconds and a busy machine may start it late; a pass over a million scores takes
//! about a hundred. So the threads are kept, the caller works from the first moment on, and when nothing is left to do
//! it only waits for helpers that are in the middle of something: an offer that nobody took up is withdrawn.
//!
//! A helper that is put aside in the middle of something holds the caller up for milliseconds. So before a helper takes
//! anything up it gives way, and if it does not get its processor back at once, somebody else wants that: it goes away
//! for a while, and nothing is offered to it.
//!
//! After a fork the child has none of its parent's threads, and locks may be held by threads that no longer exist. So
//! helpers belong to one process; a child that finds another's leaves them alone and hires its own.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::float_control::with_standard_floats;
use crate::interrupt::{Bell, helping, with_bell};
use crate::scan::offers::Offers;

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

/// Run `work` here, and meanwhile on up to `helpers` other threads as far as they are free. Returns when every run that
/// began has ended. `work` has to share its load out itself, and to come out complete however many runs there are.
///
/// # Panics
/// If a helper's run did.
pub fn with_helpers(helpers: usize, work: &(dyn Fn() + Sync)) {
    if helpers == 0 { work() } else { Helpers::of_this_process().share(helpers, work) }
}

/// How long a helper stays awake after its last offer: waking a sleeping one can take longer than a whole pass. While
/// awake it yields to whoever else wants the processor.
const AWAKE: Duration = Duration::from_micros(300);
/// Giving way takes about a microsecond where nobody else wants the processor, and milliseconds where somebody does.
const SHORT: Duration = Duration::from_micros(200);
/// How long a helper is away when somebody else wants its processor; twice as long each time until nobody does.
const AWAY: Duration = Duration::from_millis(1);
const LONGEST_AWAY: Duration = Duration::from_millis(16);

struct Helpers {
    owner: u32,
    offers: Offers,
    /// How long giving way takes at most where nobody else wants the processor.
    short: Duration,
}

impl Helpers {
    fn of_this_process() -> &'static Self {
        static HELPERS: AtomicPtr<Helpers> = AtomicPtr::new(std::ptr::null_mut());
        let owner = std::process::id();
        let mut known = HELPERS.load(Ordering::Acquire);
        loop {
            // SAFETY: what is stored there is never freed.
            if let Some(helpers) = unsafe { known.as_ref() }
                && helpers.owner == owner
            {
                return helpers;
            }
            // Leaked on purpose, once a process: the threads refer to it for as long as they live.
            let hired = Box::leak(Box::new(Self::new(SHORT)));
            match HELPERS.compare_exchange(known, hired, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return hired,
                Err(other) => known = other,
            }
        }
    }

    fn new(short: Duration) -> Self {
        Self { owner: std::process::id(), offers: Offers::new(), short }
    }

    /// [`with_helpers`], with at least one.
    fn share(&'static self, helpers: usize, work: &(dyn Fn() + Sync)) {
        // Rings if the caller ends early.
        let bell = Bell::default();
        let help = || with_standard_floats(|| helping(&bell, work)).is_ok();
        let hire = || {
            let thread = thread::Builder::new().name("dpselect".into()).stack_size(256 << 10);
            thread.spawn(|| self.serve()).is_ok()
        };
        assert!(self.offers.share(helpers, hire, &help, || with_bell(&bell, work)), "a helping thread panicked");
    }

    fn serve(&self) {
        let mut awake_until = Instant::now() + AWAKE;
        let mut away = AWAY;
        loop {
            if self.look_out(awake_until) {
                self.offers.stay_away(|| thread::sleep(away));
                away = (2 * away).min(LONGEST_AWAY);
                // Whoever wants this processor shows up again while this thread looks out, or does not.
                self.offers.wait();
            } else if let Some(offer) = self.offers.take() {
                offer.take_up();
                away = AWAY;
            } else if Instant::now() >= awake_until {
                self.offers.wait();
            } else {
                continue;
            }
            awake_until = Instant::now() + AWAKE;
        }
    }

    /// Give way time and again until there is an offer or it is time to sleep; at least once. Whether somebody else
    /// wants the processor: then giving way takes long twice in a row, and not just while the system moves this thread.
    fn look_out(&self, awake_until: Instant) -> bool {
        let mut took_long = false;
        loop {
            let before = Instant::now();
            thread::yield_now();
            let now = Instant::now();
            let takes_long = now - before > self.short;
            if takes_long && took_long {
                return true;
            }
            if !takes_long && (self.offers.are_waiting() || now >= awake_until) {
                return false;
            }
            took_long = takes_long;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::*;

    /// Helpers of their own, who let nobody else's wishes keep them away (`MAX`) or always do (`ZERO`).
    fn helpers(short: Duration) -> &'static Helpers {
        Box::leak(Box::new(Helpers::new(short)))
    }

    /// An interpreter takes a thousand times as long.
    const OFTEN: usize = if cfg!(miri) { 2 } else { 100 };
    const PIECES: usize = if cfg!(miri) { 20 } else { 1000 };

    /// Share the pieces out; every piece has to be done exactly once, whoever does it.
    fn share(all: &'static Helpers, helpers: usize, pieces: usize) {
        let next = AtomicUsize::new(0);
        let done: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
        all.share(helpers, &|| {
            while let Some(piece) = done.get(next.fetch_add(1, Ordering::Relaxed)) {
                piece.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert!(done.iter().all(|piece| piece.load(Ordering::Relaxed) == 1));
    }

    /// How many runs were others' than the caller's, after as many calls, or as soon as there is one.
    fn runs_of_others(all: &'static Helpers, calls: usize) -> usize {
        let others = AtomicUsize::new(0);
        let caller = thread::current().id();
        for _ in 0..calls {
            all.share(2, &|| {
                others.fetch_add(usize::from(thread::current().id() != caller), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(2));
            });
            if others.load(Ordering::Relaxed) > 0 {
                break;
            }
        }
        others.into_inner()
    }

    #[test]
    fn all_is_done_once_with_any_number_of_helpers() {
        for short in [Duration::ZERO, SHORT, Duration::MAX] {
            let all = helpers(short);
            for count in 1..4 {
                for pieces in [0, 1, PIECES] {
                    (0..OFTEN / 2).for_each(|_| share(all, count, pieces));
                }
            }
        }
    }

    #[test]
    fn callers_do_not_disturb_each_other() {
        let all = helpers(Duration::MAX);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..OFTEN).for_each(|_| share(all, 2, PIECES / 3)));
            }
        });
    }

    #[test]
    fn helpers_take_part_unless_somebody_else_wants_their_processor() {
        assert!(runs_of_others(helpers(Duration::MAX), 10_000) > 0);
        assert_eq!(runs_of_others(helpers(Duration::ZERO), 50), 0);
    }

    #[test]
    fn one_processor_means_one_thread() {
        assert!(available_threads() >= 1);
        #[cfg(target_os = "linux")]
        thread::spawn(|| {
            // SAFETY: a set of one of the processors this thread may use, for this thread alone, which ends.
            unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &raw mut set), 0);
                let first = (0..libc::CPU_SETSIZE as usize).find(|&cpu| libc::CPU_ISSET(cpu, &set)).unwrap();
                libc::CPU_ZERO(&mut set);
                libc::CPU_SET(first, &mut set);
                assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &raw const set), 0);
            }
            assert_eq!(available_threads(), 1);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_panic_anywhere_reaches_the_caller_and_the_helpers_go_on() {
        let all = helpers(Duration::MAX);
        for caller_too in [false, true] {
            let caller = thread::current().id();
            let began = AtomicBool::new(false);
            let run = catch_unwind(AssertUnwindSafe(|| {
                all.share(1, &|| {
                    if thread::current().id() == caller {
                        while !began.load(Ordering::Relaxed) {
                            thread::yield_now();
                        }
                        assert!(!caller_too, "the caller's own");
                    } else {
                        began.store(true, Ordering::Relaxed);
                        panic!("a helper's");
                    }
                });
            }));
            assert!(run.is_err());
        }
        share(all, 1, PIECES);
    }
}
