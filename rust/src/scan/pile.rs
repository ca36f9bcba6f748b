//! Work that threads share out: each takes the next turn until nothing is left, or until one of them fails.

use std::ops::Range;
use std::sync::OnceLock;

use crate::error::SelectError;
use crate::interrupt;
use crate::scan::concurrency::atomic::{AtomicUsize, Ordering};

/// The turns `0..len`, `per_turn` at a time.
pub struct Pile {
    next: AtomicUsize,
    len: usize,
    per_turn: usize,
    failure: OnceLock<SelectError>,
}

impl Pile {
    pub fn new(len: usize, per_turn: usize) -> Self {
        Self { next: AtomicUsize::new(0), len, per_turn, failure: OnceLock::new() }
    }

    /// The next turn; none after the last, after a failure, or if the call is to end.
    #[inline]
    pub fn take(&self) -> Option<Range<usize>> {
        if let Err(interrupted) = interrupt::check() {
            self.fail(interrupted);
        }
        if self.is_over() {
            return None;
        }
        let start = self.next.fetch_add(self.per_turn, Ordering::Relaxed);
        (start < self.len).then(|| start..self.len.min(start + self.per_turn))
    }

    /// No further turns for anybody; the first failure counts.
    pub fn fail(&self, error: SelectError) {
        let _ = self.failure.set(error);
    }

    /// Ends the turns of all if its owner unwinds, who may be asked to end in the middle of a turn.
    pub fn ended_by_unwinding(&self) -> impl Drop {
        struct Guard<'p>(&'p Pile);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.fail(SelectError::Interrupted);
                }
            }
        }
        Guard(self)
    }

    #[inline]
    pub fn is_over(&self) -> bool {
        self.failure.get().is_some()
    }

    /// What became of the work, when all who took turns have ended.
    ///
    /// # Errors
    /// The first failure.
    pub fn outcome(self) -> Result<(), SelectError> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::interrupt::testing::ended;
    use crate::scan::helper_threads::with_helpers;

    #[test]
    fn every_turn_is_taken_once_and_a_failure_ends_them() {
        for fails_at in [None, Some(0), Some(400)] {
            let (pile, taken) = (Pile::new(1003, 4), AtomicUsize::new(0));
            with_helpers(2, &|| {
                while let Some(turn) = pile.take() {
                    taken.fetch_add(turn.len(), Ordering::Relaxed);
                    if fails_at.is_some_and(|place| turn.start >= place) {
                        pile.fail(SelectError::Memory);
                    }
                }
            });
            let taken = taken.into_inner();
            match fails_at {
                None => assert_eq!((taken, pile.outcome()), (1003, Ok(()))),
                Some(place) => {
                    assert!(taken <= place + 12, "{taken}");
                    assert_eq!(pile.outcome(), Err(SelectError::Memory));
                }
            }
        }
    }

    #[test]
    fn the_callers_interruption_ends_the_helpers_turns() {
        let endless = || {
            let pile = Pile::new(usize::MAX, 1);
            with_helpers(1, &|| while pile.take().is_some() {});
            pile.outcome()
        };
        assert_eq!(ended(endless), Err(SelectError::Interrupted));
    }

    #[test]
    fn helpers_in_the_middle_of_a_turn_are_told() {
        for _ in 0..3 {
            let endless = || {
                let pile = Pile::new(2, 1);
                with_helpers(1, &|| {
                    let _guard = pile.ended_by_unwinding();
                    let _turn = pile.take();
                    loop {
                        interrupt::check_deep();
                    }
                });
                pile.outcome()
            };
            assert_eq!(ended(endless), Err(SelectError::Interrupted));
        }
    }
}
