//! The callers and helpers of [`Offers`] in every order that threads can go and memory can be seen in, by `loom`. A thread
//! that would wait for ever is reported, and so is every use of a [`Loan`] that is not ordered before the end of its call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::thread::{self, JoinHandle};

use super::*;
use crate::scan::pile::Pile;

/// What a call lends to its helpers: stripes that are written without locks, each by whoever took it from the pile.
struct Loan {
    pile: Pile,
    times_done: [UnsafeCell<usize>; STRIPES],
    /// Read by whoever uses the loan and written by the caller when it is over.
    is_over: UnsafeCell<bool>,
}

const STRIPES: usize = 2;

// SAFETY: what threads do with the cells at the same time is what the model is there to find.
unsafe impl Sync for Loan {}

impl Loan {
    fn new() -> Self {
        let times_done = std::array::from_fn(|_| UnsafeCell::new(0));
        Self { pile: Pile::new(STRIPES, 1), times_done, is_over: UnsafeCell::new(false) }
    }

    fn work(&self) {
        // SAFETY: see above; likewise below.
        self.is_over.with(|is_over| assert!(!unsafe { *is_over }));
        while let Some(turn) = self.pile.take() {
            turn.for_each(|stripe| self.times_done[stripe].with_mut(|times| unsafe { *times += 1 }));
        }
    }

    /// The caller's next step after the call, which needs everything to be done and may free what was lent.
    fn end(&self) {
        for each in &self.times_done {
            each.with(|times| assert_eq!(unsafe { *times }, 1));
        }
        self.is_over.with_mut(|is_over| unsafe { *is_over = true });
    }
}

/// Offers, and the helpers that were hired for them.
struct Helpers {
    offers: Offers,
    /// After so many offers a helper goes home: a model has to end.
    offers_each: usize,
    hired: Mutex<Vec<JoinHandle<()>>>,
}

impl Helpers {
    fn new(offers_each: usize) -> Arc<Self> {
        Arc::new(Self { offers: Offers::new(), offers_each, hired: Mutex::default() })
    }

    fn serve(&self) {
        let mut taken = 0;
        while taken < self.offers_each {
            if !self.offers.are_waiting() {
                self.offers.wait();
            }
            if let Some(offer) = self.offers.take() {
                offer.take_up();
                taken += 1;
            }
        }
    }

    fn share(self: &Arc<Self>, helpers: usize, help: &Help<'_>, own: impl FnOnce()) -> bool {
        let hire = || {
            let all = Arc::clone(self);
            self.hired.lock().unwrap().push(thread::spawn(move || all.serve()));
            true
        };
        self.offers.share(helpers, hire, help, own)
    }

    /// A call whose every stripe has to be done once, and its loan, which is kept so that the model sees late uses of it.
    fn call(self: &Arc<Self>, helpers: usize) -> Kept {
        let loan = Arc::new(Loan::new());
        let (own, lent) = (Arc::clone(&loan), Arc::clone(&loan));
        let help: Kept = Box::new(move || {
            lent.work();
            true
        });
        assert!(self.share(helpers, &*help, || own.work()));
        loan.end();
        help
    }

    fn all_go_home(&self) {
        self.hired.lock().unwrap().drain(..).for_each(|helper| helper.join().unwrap());
    }
}

type Kept = Box<Help<'static>>;

/// In every order with at most so many places where a thread is put aside though it could go on.
fn model(preemptions: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(run);
}

#[test]
fn two_helpers_do_every_stripe_once_and_are_gone_when_the_call_ends() {
    model(3, || {
        let all = Helpers::new(1);
        let _kept = all.call(2);
        all.all_go_home();
    });
}

#[test]
fn a_helper_that_comes_late_leaves_finished_work_alone_and_helps_with_the_next() {
    model(3, || {
        let all = Helpers::new(2);
        let _kept = [all.call(1), all.call(1)];
        all.all_go_home();
    });
}

#[test]
fn callers_do_not_wait_for_each_others_helpers() {
    model(2, || {
        let all = Helpers::new(2);
        let other = Arc::clone(&all);
        let other = thread::spawn(move || other.call(1));
        let _kept = all.call(1);
        let _others = other.join().unwrap();
        all.all_go_home();
    });
}

#[test]
fn a_run_that_ended_badly_is_told_to_the_caller() {
    model(3, || {
        let all = Helpers::new(1);
        let ran = Arc::new(AtomicBool::new(false));
        let lent = Arc::clone(&ran);
        let help: Kept = Box::new(move || {
            lent.store(true, Ordering::Relaxed);
            false
        });
        let well = all.share(1, &*help, || ());
        assert_eq!(well, !ran.load(Ordering::Relaxed), "and after the call none begins");
        all.all_go_home();
    });
}

#[test]
fn a_caller_that_unwinds_waits_for_its_helpers_too() {
    model(3, || {
        let all = Helpers::new(1);
        let loan = Arc::new(Loan::new());
        let lent = Arc::clone(&loan);
        let help: Kept = Box::new(move || {
            lent.work();
            true
        });
        let call = || all.share(1, &*help, || panic!("the caller's own"));
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        loan.is_over.with_mut(|is_over| unsafe { *is_over = true });
        all.all_go_home();
    });
}

#[test]
fn nothing_is_offered_to_a_helper_that_is_away() {
    model(3, || {
        let all = Helpers::new(0);
        let _kept = all.call(1);
        let (is_away, away) = (Arc::new(AtomicBool::new(false)), Arc::clone(&all));
        let told = Arc::clone(&is_away);
        let helper = thread::spawn(move || {
            away.offers.stay_away(|| {
                told.store(true, Ordering::Relaxed);
                thread::yield_now();
                told.store(false, Ordering::Relaxed);
            });
        });
        drop(all.offers.take());
        let was_away = is_away.load(Ordering::Relaxed);
        let _next = all.call(1);
        assert!(!(was_away && is_away.load(Ordering::Relaxed) && all.offers.are_waiting()));
        helper.join().unwrap();
        all.all_go_home();
    });
}
