//! What can go wrong in a draw. No variant carries a score, so no message can.

use std::alloc::{Layout, alloc_zeroed};
use std::fmt;

/// Why nothing was drawn. `Memory`, `Changed` and `Interrupted` may come out of anything that fails, and are not named there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectError {
    /// There is no score at all (a public fact: the number of candidates is public).
    NoCandidates,
    /// A score is NaN or infinite.
    NotFinite,
    /// `k` is zero or larger than the number of candidates.
    InvalidCount,
    /// A scale was asked for from numbers that are not finite and positive.
    InvalidScale,
    /// The operating system's source of randomness failed.
    Entropy,
    /// There is no memory for the index or for the answers.
    Memory,
    /// The scores were overwritten while they were drawn from.
    Changed,
    /// The caller was asked to stop.
    Interrupted,
}

impl fmt::Display for SelectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoCandidates => "no scores",
            Self::NotFinite => "NaN or infinite scores",
            Self::InvalidCount => "a count outside 1..=number of candidates",
            Self::InvalidScale => "epsilon or sensitivity not finite and positive",
            Self::Entropy => "the operating system's source of randomness failed",
            Self::Memory => "not enough memory for the index or the answers",
            Self::Changed => "the scores were changed while they were drawn from",
            Self::Interrupted => "interrupted",
        })
    }
}

impl std::error::Error for SelectError {}

/// An empty vector with room for `capacity` values, or `Memory`.
pub(crate) fn reserved<T>(capacity: usize) -> Result<Vec<T>, SelectError> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(capacity).map_err(|_| SelectError::Memory)?;
    Ok(vector)
}

/// `len` zeros, or `Memory`. The operating system gives each page when it is first written to: no time is spent on them here,
/// where the call could not be ended, and threads that fill the pages share that work.
#[expect(clippy::cast_ptr_alignment, reason = "the layout is that of the numbers")]
pub(crate) fn zeros(len: usize) -> Result<Vec<usize>, SelectError> {
    let layout = Layout::array::<usize>(len).map_err(|_| SelectError::Memory)?;
    if len == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout is not of size zero.
    let memory = unsafe { alloc_zeroed(layout) }.cast::<usize>();
    if memory.is_null() {
        return Err(SelectError::Memory);
    }
    // SAFETY: from the global allocator, by the layout of a slice of that length, and its zeros are that many integers.
    Ok(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(memory, len)) }.into_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_as_many_as_asked_for_or_there_is_no_memory() {
        assert_eq!((zeros(0), zeros(3)), (Ok(vec![]), Ok(vec![0; 3])));
        for len in [usize::MAX, usize::MAX / 8, isize::MAX as usize / 8 + 1] {
            assert_eq!(zeros(len), Err(SelectError::Memory), "{len}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    #[cfg_attr(miri, ignore)]
    fn no_time_is_spent_on_zeros_before_they_are_written_to() {
        let pages_given = || {
            // SAFETY: a structure of integers, for which zeros are a value, and a call that writes to it.
            unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
                usage.ru_minflt
            }
        };
        let before = pages_given();
        let mut numbers = zeros(1 << 25).unwrap();
        assert!(pages_given() - before < 64, "of 65536 small or 128 large pages");
        std::hint::black_box(&mut numbers).fill(1); // or an optimizer would leave it out
        assert!(pages_given() - before >= 64);
    }
}
