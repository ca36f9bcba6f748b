//! Work that is offered to other threads, and how those who sleep learn of it.
//!
//! What is offered is borrowed from a caller who may be gone a moment later. So whoever takes an offer up joins it first; the
//! caller withdraws its offer before it goes, so that nobody can join any more, and goes only when all who joined have left.
//! `offers_model.rs` tries every order in which threads can do this.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use crate::scan::concurrency::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::scan::concurrency::{Condvar, Mutex, MutexGuard, Thread, current, park, spin_loop};

/// A helper's part; says whether it ended well.
pub type Help<'w> = dyn Fn() -> bool + Sync + 'w;

/// Set in `Offer::joined` when nobody may join any more.
const WITHDRAWN: usize = 1 << (usize::BITS - 1);
/// How often the caller looks before it goes to sleep.
const LOOKS: usize = if cfg!(all(test, loom)) { 1 } else { 2000 };

pub struct Offer {
    help: &'static Help<'static>,
    /// Helpers at work, and `WITHDRAWN`.
    joined: AtomicUsize,
    failed: AtomicBool,
    caller: Thread,
    owner: u32,
}

impl Offer {
    /// Help, unless it is too late.
    pub fn take_up(&self) {
        let join = |joined: usize| (joined & WITHDRAWN == 0).then_some(joined + 1);
        if self.joined.fetch_update(Ordering::Acquire, Ordering::Relaxed, join).is_err() {
            return;
        }
        if !(self.help)() {
            self.failed.store(true, Ordering::Relaxed);
        }
        // After this the caller may be gone, and with it what `help` refers to; the offer itself is shared.
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
            if looks < LOOKS {
                spin_loop();
            } else if self.0.owner == std::process::id() {
                park();
            } else {
                return; // a child that a signal's handler forked: those who joined are threads of its parent
            }
        }
    }
}

/// The offers that nobody has taken yet, and how many there are to take them.
pub struct Offers {
    queue: Mutex<Queue>,
    /// As many as `queue` holds, for a look without the lock.
    waiting: AtomicUsize,
    news: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Arc<Offer>>,
    threads: usize,
    asleep: usize,
    /// Threads whose processor somebody else wants.
    away: usize,
}

impl Offers {
    pub fn new() -> Self {
        Self { queue: Mutex::new(Queue::default()), waiting: AtomicUsize::new(0), news: Condvar::new() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Do `own` here, and `help` on up to `helpers` other threads as far as they are free; `hire` starts one more, or says
    /// that it cannot. Returns when every run that began has ended: whether all of `help` ended well.
    pub fn share(&self, helpers: usize, hire: impl FnMut() -> bool, help: &Help<'_>, own: impl FnOnce()) -> bool {
        let offer = Arc::new(Offer {
            // SAFETY: only the lifetime changes. A helper calls it between joining and leaving, and `Withdraw` below
            // does not let this function end before all that joined have left and nobody can join any more.
            help: unsafe { std::mem::transmute::<&Help<'_>, &'static Help<'static>>(help) },
            joined: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            caller: current(),
            owner: std::process::id(),
        });
        let withdraw = Withdraw(&offer);
        self.offer(&offer, helpers, hire);
        own();
        drop(withdraw);
        !offer.failed.load(Ordering::Relaxed)
    }

    fn offer(&self, offer: &Arc<Offer>, helpers: usize, mut hire: impl FnMut() -> bool) {
        let mut queue = self.queue();
        while queue.threads < helpers && hire() {
            queue.threads += 1;
        }
        // Perhaps none: then the caller does it all.
        let offered = helpers.min(queue.threads - queue.away);
        for _ in 0..offered {
            queue.waiting.push_back(Arc::clone(offer));
        }
        self.waiting.store(queue.waiting.len(), Ordering::Release);
        for _ in 0..offered.min(queue.asleep) {
            self.news.notify_one();
        }
    }

    /// A look without the lock.
    pub fn are_waiting(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// The offer that has waited longest, for a thread that was hired.
    pub fn take(&self) -> Option<Arc<Offer>> {
        let mut queue = self.queue();
        let offer = queue.waiting.pop_front();
        self.waiting.store(queue.waiting.len(), Ordering::Release);
        offer
    }

    /// Sleep until an offer waits.
    pub fn wait(&self) {
        let mut queue = self.queue();
        while queue.waiting.is_empty() {
            queue.asleep += 1;
            queue = self.news.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.asleep -= 1;
        }
    }

    /// Be away for as long as `pause` takes: nothing is offered to this thread meanwhile.
    pub fn stay_away(&self, pause: impl FnOnce()) {
        self.queue().away += 1;
        pause();
        self.queue().away -= 1;
    }
}

#[cfg(all(test, loom))]
#[path = "offers_model.rs"]
mod model;
