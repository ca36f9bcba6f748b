//! Failed tries in a row: what keeps rejection sampling from going on for ever.
//!
//! A try at scores that stay as they are succeeds with probability 1/512 or more, so long runs of failures hardly happen. If
//! the scores are overwritten meanwhile, tries at the old index may never succeed. So a long run looks at the scores again.
//! If they are as they were it goes on, which leaves the law as it is. Proof: `proofs/exact_sampling.md`, "Draws that end".

use crate::error::SelectError;
use crate::interrupt;

/// Failures between two checks for Ctrl-C.
const CHECK_EVERY: u32 = 1 << 8;
/// Failures in a row before the index is compared with the scores.
const MOST_IN_A_ROW: u32 = 1 << 16;

/// How many tries have failed since the last success.
#[derive(Default)]
pub struct Tries {
    in_a_row: u32,
}

impl Tries {
    /// A try failed. `still_holds` says whether the index is that of the scores as they are now; it may be slow.
    ///
    /// # Errors
    /// `Changed` after many failures in a row if it is not, `Interrupted`.
    #[inline]
    pub fn failed(&mut self, still_holds: impl FnOnce() -> Result<bool, SelectError>) -> Result<(), SelectError> {
        self.in_a_row += 1;
        if self.in_a_row.is_multiple_of(CHECK_EVERY) { self.ask(still_holds) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn ask(&mut self, still_holds: impl FnOnce() -> Result<bool, SelectError>) -> Result<(), SelectError> {
        interrupt::check()?;
        if self.in_a_row < MOST_IN_A_ROW {
            return Ok(());
        }
        self.in_a_row = 0;
        if still_holds()? { Ok(()) } else { Err(SelectError::Changed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::testing::ended;

    fn failures_until_the_end(still_holds: impl Fn() -> bool) -> (u32, SelectError) {
        let mut tries = Tries::default();
        let mut failures = 1;
        loop {
            if let Err(error) = tries.failed(|| Ok(still_holds())) {
                return (failures, error);
            }
            failures += 1;
        }
    }

    #[test]
    fn a_long_run_ends_where_the_scores_changed_and_only_there() {
        assert_eq!(failures_until_the_end(|| false), (MOST_IN_A_ROW, SelectError::Changed));
        let looks = std::cell::Cell::new(0);
        let third_look = || {
            looks.set(looks.get() + 1);
            looks.get() < 3
        };
        assert_eq!(failures_until_the_end(third_look), (3 * MOST_IN_A_ROW, SelectError::Changed));
    }

    #[test]
    fn a_run_without_an_end_can_be_interrupted() {
        let call = || Err::<(), _>(failures_until_the_end(|| true).1);
        assert_eq!(ended(call), Err(SelectError::Interrupted));
    }
}
