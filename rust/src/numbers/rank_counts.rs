//! The ranks of a few stretches of values among all: counted in one pass, without sorting.

use crate::error::SelectError;
use crate::numbers::grid::ValueInterval;
use crate::numbers::value_turns::{CHUNK, in_turns, threads_for};
use crate::scores::kernels::Instructions;
use crate::scores::score_view::View;

/// How many of all values lie below each of `stretches`, and how many not above it.
///
/// # Errors
/// `NotFinite` if there is a NaN, `Memory`, `Interrupted`.
pub fn ranks_of(values: &View<'_>, stretches: &[ValueInterval]) -> Result<Vec<(u64, u64)>, SelectError> {
    let (threads, level) = (threads_for(values), Instructions::detect());
    // The last one counts whatever is a number.
    let zeros = || Ok(vec![(0, 0); stretches.len() + 1]);
    let results = in_turns(values, threads, zeros, |counts: &mut Vec<(u64, u64)>, chunk| {
        for row in chunk.chunks(CHUNK) {
            for (count, stretch) in counts.iter_mut().zip(stretches) {
                let (below, up_to) = count_row(level, row, *stretch);
                *count = (count.0 + below, count.1 + up_to);
            }
            let all = ValueInterval { low: f64::NEG_INFINITY, high: f64::INFINITY };
            counts[stretches.len()].1 += count_row(level, row, all).1;
        }
        Ok(())
    })?;
    let mut sums = zeros()?;
    for counts in results {
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum = (sum.0 + count.0, sum.1 + count.1);
        }
    }
    if sums.pop().is_none_or(|(_, numbers)| numbers != values.len() as u64) {
        return Err(SelectError::NotFinite);
    }
    Ok(sums)
}

fn count_row(level: Instructions, row: &[f64], stretch: ValueInterval) -> (u64, u64) {
    match level {
        // SAFETY: a level is only handed out where the processor has its features.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => unsafe { count_row_avx512(row, stretch) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { count_row_avx2(row, stretch) },
        Instructions::Baseline => count_row_baseline(row, stretch),
    }
}

#[inline(always)]
fn count_row_baseline(row: &[f64], stretch: ValueInterval) -> (u64, u64) {
    row.iter().fold((0, 0), |(below, up_to), &value| {
        (below + u64::from(value < stretch.low), up_to + u64::from(value <= stretch.high))
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn count_row_avx2(row: &[f64], stretch: ValueInterval) -> (u64, u64) {
    count_row_baseline(row, stretch)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn count_row_avx512(row: &[f64], stretch: ValueInterval) -> (u64, u64) {
    count_row_baseline(row, stretch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;

    #[test]
    fn ranks_are_counted_for_all_stretches_at_once() {
        let mut entropy = seeded(102);
        for count in [0, 1, 1023, 1025, 600_001] {
            let values: Vec<f64> = (0..count).map(|_| entropy.below(50) as f64 - 5.0).collect();
            let ends = [(10.0, 10.0), (9.5, 9.5), (-f64::INFINITY, 3.0), (40.0, f64::INFINITY), (-9.0, 99.0)];
            let stretches = ends.map(|(low, high)| ValueInterval { low, high });
            let ranks = |low: f64, high: f64| {
                let below = values.iter().filter(|value| **value < low).count() as u64;
                (below, values.iter().filter(|value| **value <= high).count() as u64)
            };
            let expected = ends.map(|(low, high)| ranks(low, high));
            assert_eq!(ranks_of(&View::of(&values), &stretches).unwrap(), expected);
            for level in Instructions::available() {
                for (end, expected) in stretches.iter().zip(expected) {
                    assert_eq!(count_row(level, &values, *end), expected);
                }
            }
        }
        assert_eq!(ranks_of(&View::of(&[1.0, f64::NAN]), &[]).err(), Some(SelectError::NotFinite));
        assert!(ranks_of(&View::of(&[f64::INFINITY, -f64::INFINITY]), &[]).unwrap().is_empty());
    }
}
