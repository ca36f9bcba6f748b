//! Idle threads that may help with a large pass, without anybody ever waiting for one that has not begun.
//!
//! Starting a thread takes tens of microseconds and a busy machine may start it late; a pass over a million scores takes
//! about a hundred. So the threads are kept, the caller works from the first moment on, and when nothing is left to do
//! it only waits for helpers that are in the middle of something: an offer that nobody took up is withdrawn.
//!
//! After a fork the child has none of its parent's threads, and locks may be held by threads that no longer exist. So a
//! crew belongs to one process; a child that finds another's crew leaves it alone and hires its own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::entropy::ProcessMark;
use crate::float_control::with_standard_floats;
use crate::interrupt::{Bell, helping, with_bell};

/// Run `work` here, and meanwhile on up to `helpers` other threads as far as they are free. Returns when every run that
/// began has ended. `work` has to share its load out itself, and to come out complete however many runs there are.
///
/// # Panics
/// If a helper's run did.
pub fn with_helpers(helpers: usize, work: &(dyn Fn() + Sync)) {
    if helpers == 0 {
        return work();
    }
    let offer = Arc::new(Offer {
        // SAFETY: only the lifetime changes. A helper calls it between joining and leaving, and `Withdraw` below does
        // not let this function end before all that joined have left and nobody can join any more.
        work: unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) },
        joined: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        caller: thread::current(),
        processor: processor(),
        bell: Bell::default(),
    });
    let withdraw = Withdraw(&offer);
    Crew::of_this_process().offer(&offer, helpers);
    with_bell(&offer.bell, work);
    drop(withdraw);
    assert!(!offer.failed.load(Ordering::Relaxed), "a helping thread panicked");
}

/// Set in `Offer::joined` when nobody may join any more.
const WITHDRAWN: usize = 1 << (usize::BITS - 1);
/// How often the caller looks before it goes to sleep.
const LOOKS: usize = 2000;

struct Offer {
    work: &'static (dyn Fn() + Sync),
    /// Helpers at work, and `WITHDRAWN`.
    joined: AtomicUsize,
    failed: AtomicBool,
    caller: thread::Thread,
    /// Where the caller ran.
    processor: i32,
    /// Rings if the caller ends early.
    bell: Bell,
}

impl Offer {
    fn take_up(&self) {
        let join = |joined: usize| (joined & WITHDRAWN == 0).then_some(joined + 1);
        if self.joined.fetch_update(Ordering::Acquire, Ordering::Relaxed, join).is_err() {
            return;
        }
        if with_standard_floats(|| helping(&self.bell, self.work)).is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        // After this the caller may be gone, and with it what `work` refers to; the offer itself is shared.
        if self.joined.fetch_sub(1, Ordering::Release) == WITHDRAWN + 1 {
            self.caller.unpark();
        }
    }
}

/// Withdraws an offer and waits for those who took it up, also while the caller's own work unwinds.
struct Withdraw<'o>(&'o Offer);

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.0.joined.fetch_or(WITHDRAWN, Ordering::Relaxed);
        let mut looks = 0;
        while self.0.joined.load(Ordering::Acquire) != WITHDRAWN {
            looks += 1;
            if looks < LOOKS { std::hint::spin_loop() } else { thread::park() }
        }
    }
}

/// How long a helper stays awake after its last offer: waking a sleeping one can take longer than a whole pass. While
/// awake it yields to whoever else wants the processor.
const AWAKE: Duration = Duration::from_micros(300);

/// The processor the calling thread runs on; negative where the system does not tell.
fn processor() -> i32 {
    #[cfg(target_os = "linux")]
    // SAFETY: takes no arguments and reads nothing of ours.
    unsafe {
        libc::sched_getcpu()
    }
    #[cfg(not(target_os = "linux"))]
    -1
}

struct Crew {
    owner: ProcessMark,
    offers: Mutex<Offers>,
    /// As many as `offers` holds, for a look without the lock.
    waiting: AtomicUsize,
    news: Condvar,
}

#[derive(Default)]
struct Offers {
    waiting: VecDeque<Arc<Offer>>,
    threads: usize,
    asleep: usize,
}

impl Crew {
    fn of_this_process() -> &'static Self {
        static CREW: AtomicPtr<Crew> = AtomicPtr::new(std::ptr::null_mut());
        let owner = ProcessMark::now();
        let mut known = CREW.load(Ordering::Acquire);
        loop {
            // SAFETY: what is stored there is never freed.
            if let Some(crew) = unsafe { known.as_ref() }
                && crew.owner == owner
            {
                return crew;
            }
            // Leaked on purpose, once a process: the threads refer to it for as long as they live.
            let hired = Box::leak(Box::new(Self {
                owner,
                offers: Mutex::default(),
                waiting: AtomicUsize::new(0),
                news: Condvar::new(),
            }));
            match CREW.compare_exchange(known, hired, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return hired,
                Err(other) => known = other,
            }
        }
    }

    fn offers(&self) -> MutexGuard<'_, Offers> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&'static self, offer: &Arc<Offer>, helpers: usize) {
        let mut offers = self.offers();
        while offers.threads < helpers {
            let hired = thread::Builder::new().name("dpselect".into()).stack_size(256 << 10).spawn(|| self.serve());
            if hired.is_err() {
                break; // the caller does it all
            }
            offers.threads += 1;
        }
        let offered = helpers.min(offers.threads);
        for _ in 0..offered {
            offers.waiting.push_back(Arc::clone(offer));
        }
        self.waiting.store(offers.waiting.len(), Ordering::Release);
        for _ in 0..offered.min(offers.asleep) {
            self.news.notify_one();
        }
    }

    fn serve(&self) {
        let mut awake_until = Instant::now() + AWAKE;
        loop {
            while self.waiting.load(Ordering::Acquire) == 0 && Instant::now() < awake_until {
                thread::yield_now();
            }
            let mut offers = self.offers();
            while offers.waiting.is_empty() && Instant::now() >= awake_until {
                offers.asleep += 1;
                offers = self.news.wait(offers).unwrap_or_else(PoisonError::into_inner);
                offers.asleep -= 1;
            }
            let offer = offers.waiting.pop_front();
            self.waiting.store(offers.waiting.len(), Ordering::Release);
            drop(offers);
            if let Some(offer) = offer {
                offer.take_up();
                // On the caller's own processor staying awake would only be in its way; asleep, the next call finds it
                // a free one.
                let is_in_the_way = offer.processor >= 0 && offer.processor == processor();
                awake_until = Instant::now() + if is_in_the_way { Duration::ZERO } else { AWAKE };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Share 1000 pieces out; every piece has to be done exactly once, whoever does it.
    fn share(helpers: usize, pieces: usize) {
        let next = AtomicUsize::new(0);
        let done: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
        with_helpers(helpers, &|| {
            while let Some(piece) = done.get(next.fetch_add(1, Ordering::Relaxed)) {
                piece.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert!(done.iter().all(|piece| piece.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn all_is_done_once_with_any_number_of_helpers() {
        for helpers in 0..4 {
            for pieces in [0, 1, 1000] {
                (0..50).for_each(|_| share(helpers, pieces));
            }
        }
    }

    #[test]
    fn callers_do_not_disturb_each_other() {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..100).for_each(|_| share(2, 300)));
            }
        });
    }

    #[test]
    fn helpers_do_take_part() {
        let others = Mutex::new(0);
        let caller = thread::current().id();
        for _ in 0..50 {
            with_helpers(2, &|| {
                if thread::current().id() != caller {
                    *others.lock().unwrap() += 1;
                }
                thread::sleep(std::time::Duration::from_millis(1));
            });
        }
        assert!(*others.lock().unwrap() > 10);
    }

    #[test]
    fn a_panic_anywhere_reaches_the_caller_and_the_crew_goes_on() {
        for caller_too in [false, true] {
            let caller = thread::current().id();
            let began = AtomicBool::new(false);
            let run = catch_unwind(AssertUnwindSafe(|| {
                with_helpers(1, &|| {
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
        share(1, 1000);
    }
}
