//! All values as doubles, in turns that threads take.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::SelectError;
use crate::interrupt::check_deep;
use crate::scores::score_view::View;
use crate::scores::threads::Turns;
use crate::scores::threads::{available_threads, with_helpers};

/// Values that one more thread is worth its start.
const VALUES_PER_THREAD: usize = 1 << 18;
/// Values a thread takes at a time.
const VALUES_PER_TURN: usize = 1 << 15;
/// Values copied at a time: they stay in the nearest cache.
pub const CHUNK: usize = 1024;

/// As many threads as are worth their start.
pub fn threads_for(values: &View<'_>) -> usize {
    (values.len() / VALUES_PER_THREAD).clamp(1, available_threads())
}

/// Let each thread make a result of its own from chunks of the values, which no other thread sees, until all are read.
///
/// # Errors
/// The first error of any thread.
pub fn in_turns<R: Send>(
    values: &View<'_>,
    threads: usize,
    start: impl Fn() -> Result<R, SelectError> + Sync,
    each: impl Fn(&mut R, &[f64]) -> Result<(), SelectError> + Sync,
) -> Result<Vec<R>, SelectError> {
    let turns = Turns::new(values.len(), VALUES_PER_TURN);
    let results: Mutex<Vec<R>> = Mutex::new(Vec::new());
    with_helpers(threads - 1, &|| {
        let run = || {
            let mut result = start()?;
            while let Some(turn) = turns.take() {
                let mut outcome = Ok(());
                for_chunks_of_turn(values, turn, |chunk| {
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
            Err(error) => turns.fail(error),
        }
    });
    turns.outcome()?;
    Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Add every value to `to`, as `place` has it.
///
/// # Errors
/// `NotFinite` if there is a NaN.
pub fn append<P>(values: &View<'_>, to: &mut Vec<P>, mut place: impl FnMut(f64) -> P) -> Result<(), SelectError> {
    to.try_reserve_exact(values.len()).map_err(|_| SelectError::Memory)?;
    let mut has_nan = false;
    for start in (0..values.len()).step_by(VALUES_PER_TURN) {
        check_deep();
        for_copies(values, start..values.len().min(start + VALUES_PER_TURN), &mut |chunk| {
            has_nan |= chunk.iter().any(|value| value.is_nan());
            to.extend(chunk.iter().map(|&value| place(value)));
        });
    }
    if has_nan { Err(SelectError::NotFinite) } else { Ok(()) }
}

/// The values of a turn: in place if they are doubles in a row, since a copy takes a fifth to a half longer. Each look
/// may see another number.
fn for_chunks_of_turn(values: &View<'_>, turn: Range<usize>, mut each: impl FnMut(&[f64])) {
    check_deep();
    match values.in_place::<f64>() {
        Some(doubles) => each(&doubles[turn]),
        None => for_copies(values, turn, &mut each),
    }
}

/// The values of a turn, each of them a copy: other threads may write to foreign memory, and what is looked at twice has to
/// be the same number both times.
fn for_copies(values: &View<'_>, turn: Range<usize>, each: &mut impl FnMut(&[f64])) {
    let mut buffer = [0.0; CHUNK];
    for start in turn.clone().step_by(CHUNK) {
        let chunk = &mut buffer[..CHUNK.min(turn.end - start)];
        values.copy_doubles_to(start, chunk);
        each(chunk);
    }
}
