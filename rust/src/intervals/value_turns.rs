//! All values as doubles, in turns that threads take from one pile.

use std::any::TypeId;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::SelectError;
use crate::interrupt::check_deep;
use crate::numbers::score::Score;
use crate::scan::helper_threads::{available_threads, with_helpers};
use crate::scan::pile::Pile;
use crate::scan::score_view::View;

/// Values that one more thread is worth its start.
const VALUES_PER_THREAD: usize = 1 << 18;
/// Values a thread takes from the common pile at a time.
const VALUES_PER_TURN: usize = 1 << 15;
/// Values converted at a time, where they are not doubles in a row.
pub const CHUNK: usize = 1024;

/// As many threads as are worth their start.
#[must_use]
pub fn threads_for<T: Score>(values: &View<'_, T>) -> usize {
    (values.len() / VALUES_PER_THREAD).clamp(1, available_threads())
}

/// Let each thread make a result of its own from chunks of the values, which no other thread sees, until all are read.
///
/// # Errors
/// The first error of any thread, `Interrupted`.
pub fn in_turns<T: Score, R: Send>(
    values: &View<'_, T>,
    threads: usize,
    start: impl Fn() -> Result<R, SelectError> + Sync,
    each: impl Fn(&mut R, &[f64]) -> Result<(), SelectError> + Sync,
) -> Result<Vec<R>, SelectError> {
    let pile = Pile::new(values.len(), VALUES_PER_TURN);
    let results: Mutex<Vec<R>> = Mutex::new(Vec::new());
    with_helpers(threads - 1, &|| {
        let run = || {
            let mut result = start()?;
            while let Some(turn) = pile.take() {
                let mut outcome = Ok(());
                for_chunks(values, turn, |chunk| {
                    if outcome.is_ok() {
                        outcome = each(&mut result, chunk);
                    }
                });
                outcome?;
            }
            Ok(result)
        };
        match run() {
            Ok(result) => results.lock().unwrap_or_else(PoisonError::into_inner).push(result),
            Err(error) => pile.fail(error),
        }
    });
    pile.outcome()?;
    Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Add every value to `to`, as `place` has it.
///
/// # Errors
/// `NotFinite` if there is a NaN, `Memory`.
pub fn append<T: Score, P>(
    values: &View<'_, T>,
    to: &mut Vec<P>,
    mut place: impl FnMut(f64) -> P,
) -> Result<(), SelectError> {
    to.try_reserve_exact(values.len()).map_err(|_| SelectError::Memory)?;
    let mut has_nan = false;
    for_chunks(values, 0..values.len(), |chunk| {
        has_nan |= chunk.iter().any(|value| value.is_nan());
        to.extend(chunk.iter().map(|&value| place(value)));
    });
    if has_nan { Err(SelectError::NotFinite) } else { Ok(()) }
}

/// The values of `range` as doubles, piece by piece: in place if they are doubles in a row. The call may be ended in between.
fn for_chunks<T: Score>(values: &View<'_, T>, range: Range<usize>, mut each: impl FnMut(&[f64])) {
    let mut start = range.start;
    while start < range.end {
        let end = range.end.min(start + VALUES_PER_TURN);
        check_deep();
        for_chunks_of_turn(values, start..end, &mut each);
        start = end;
    }
}

fn for_chunks_of_turn<T: Score>(values: &View<'_, T>, range: Range<usize>, each: &mut impl FnMut(&[f64])) {
    if TypeId::of::<T>() == TypeId::of::<f64>()
        && let Some(first) = values.contiguous()
        && first.cast::<f64>().is_aligned()
    {
        // SAFETY: T is f64, and the view's contract makes `len` of them readable from the aligned `first` on.
        each(unsafe { std::slice::from_raw_parts(first.cast::<f64>().add(range.start), range.len()) });
        return;
    }
    let mut buffer = [0.0; CHUNK];
    let mut start = range.start;
    while start < range.end {
        let count = CHUNK.min(range.end - start);
        for (offset, slot) in buffer[..count].iter_mut().enumerate() {
            *slot = values.get(start + offset).nearest_f64();
        }
        each(&buffer[..count]);
        start += count;
    }
}
