use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use super::*;
use crate::interrupt::testing::ended;

/// An interpreter takes a thousand times as long.
const OFTEN: usize = if cfg!(miri) { 2 } else { 100 };
const TURNS: usize = if cfg!(miri) { 20 } else { 1000 };

/// Share turns out; each has to be taken exactly once, by whichever thread.
fn share(helpers: usize, turns: usize) {
    let taken: Vec<AtomicUsize> = (0..turns).map(|_| AtomicUsize::new(0)).collect();
    let all = Turns::new(turns, 1);
    with_helpers(helpers, &|| {
        while let Some(turn) = all.take() {
            taken[turn.start].fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(taken.iter().all(|turn| turn.load(Ordering::Relaxed) == 1));
}

/// Run `helper` on another thread, which begins before the caller's own part does. Other tests may keep helpers busy.
fn on_a_helper(helper: &(dyn Fn() + Sync), own: &(dyn Fn() + Sync)) {
    let (caller, began) = (thread::current().id(), AtomicBool::new(false));
    while !began.load(Ordering::Relaxed) {
        with_helpers(1, &|| {
            if thread::current().id() != caller {
                began.store(true, Ordering::Relaxed);
                return helper();
            }
            let mut looks = 0..TURNS * TURNS;
            while looks.next().is_some() && !began.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            own();
        });
    }
}

#[test]
fn every_turn_is_taken_once_with_any_number_of_helpers() {
    for (helpers, turns) in (0..4).flat_map(|helpers| [0, 1, TURNS].map(|turns| (helpers, turns))) {
        (0..OFTEN).for_each(|_| share(helpers, turns));
    }
}

#[test]
fn callers_do_not_disturb_each_other() {
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..OFTEN).for_each(|_| share(2, TURNS / 3)));
        }
    });
}

#[test]
fn a_caller_waits_for_helpers_that_have_begun() {
    for pause in [Duration::ZERO, Duration::from_millis(20)] {
        let is_done = AtomicBool::new(false);
        let slow = || {
            thread::sleep(pause);
            is_done.store(true, Ordering::Relaxed);
        };
        on_a_helper(&slow, &|| ());
        assert!(is_done.into_inner());
        // Long enough for it to have gone to sleep: it is woken by the next call.
        thread::sleep(4 * AWAKE);
    }
}

#[test]
fn a_helper_that_is_too_late_leaves_the_work_alone() {
    let run = &|| panic!("what it refers to may be gone");
    let lent = Lent { run, state: Mutex::default(), all_left: Condvar::new(), owner: std::process::id() };
    drop(Close(&lent));
    lent.join();
}

#[test]
fn a_panic_anywhere_reaches_the_caller_and_the_helpers_go_on() {
    for caller_too in [false, true] {
        let own = || assert!(!caller_too, "the caller's own");
        let run = || on_a_helper(&|| panic!("a helper's"), &own);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
    share(1, TURNS);
}

#[test]
fn a_failure_ends_the_turns_of_all() {
    for fails_at in [0, 400] {
        let (turns, taken) = (Turns::new(1003, 4), AtomicUsize::new(0));
        with_helpers(2, &|| {
            while let Some(turn) = turns.take() {
                taken.fetch_add(turn.len(), Ordering::Relaxed);
                if turn.start >= fails_at {
                    turns.fail(SelectError::Memory);
                }
            }
        });
        assert!(taken.into_inner() <= fails_at + 12);
        assert_eq!(turns.outcome(), Err(SelectError::Memory));
    }
}

#[test]
fn the_callers_interruption_ends_the_helpers_turns() {
    let endless = || {
        let turns = Turns::new(usize::MAX, 1);
        with_helpers(1, &|| while turns.take().is_some() {});
        turns.outcome()
    };
    assert_eq!(ended(endless), Err(SelectError::Interrupted));
}

#[test]
fn helpers_in_the_middle_of_a_turn_are_told() {
    for _ in 0..3 {
        let endless = || {
            let turns = Turns::new(2, 1);
            with_helpers(1, &|| {
                let _guard = turns.ended_by_unwinding();
                let _turn = turns.take();
                loop {
                    interrupt::check_deep();
                }
            });
            turns.outcome()
        };
        assert_eq!(ended(endless), Err(SelectError::Interrupted));
    }
}

/// A number that threads write to without asking each other.
struct Raced(UnsafeCell<usize>);

// SAFETY: it is not, which is what it is for.
unsafe impl Sync for Raced {}

/// `make thread` runs this one first, alone: a sanitizer that does not report it would report nothing.
#[test]
#[ignore = "a race on purpose, which only a thread sanitizer may run"]
fn a_planted_race() {
    let raced = Raced(UnsafeCell::new(0));
    let shared = &raced;
    let write = || {
        // SAFETY: there is none; two threads get here at the same time.
        (0..TURNS).for_each(|turn| unsafe { shared.0.get().write_volatile(turn) });
    };
    on_a_helper(&write, &write);
}
