//! The ranks of a few stretches of values among all, and the values between two of them: one pass, nothing is sorted.

use crate::error::SelectError;
use crate::numbers::grid::ValueInterval;
use crate::numbers::value_turns::{CHUNK, in_turns, threads_for};
use crate::scores::kernels::Instructions;
use crate::scores::score_view::View;

/// How many of all values lie below a stretch, and how many not above it.
pub type Ranks = (u64, u64);

/// The ranks of each of `stretches`.
///
/// # Errors
/// `NotFinite` if there is a NaN.
pub fn ranks_of(values: &View<'_>, stretches: &[ValueInterval]) -> Result<Vec<Ranks>, SelectError> {
    Ok(pass(values, stretches, None, threads_for(values))?.0)
}

/// The same of two stretches, alike or the first below the second, and the values strictly between them in any order.
///
/// # Errors
/// As [`ranks_of`]; `Changed` if the counts are not those of the values.
pub fn ranks_and_between(
    values: &View<'_>,
    stretches: [ValueInterval; 2],
) -> Result<([Ranks; 2], Vec<f64>), SelectError> {
    let open = (stretches[0].high, stretches[1].low);
    let (ranks, between) = pass(values, &stretches, Some(open), threads_for(values))?;
    let [first, second] = [ranks[0], ranks[1]];
    // Other threads may write to foreign memory.
    let is_whole = second.0.saturating_sub(first.1) == between.len() as u64;
    if is_whole { Ok(([first, second], between)) } else { Err(SelectError::Changed) }
}

/// Ranks, and the values that were collected.
type Found = (Vec<Ranks>, Vec<f64>);

fn pass(
    values: &View<'_>,
    stretches: &[ValueInterval],
    open: Option<(f64, f64)>,
    threads: usize,
) -> Result<Found, SelectError> {
    let level = Instructions::detect();
    // The last one counts whatever is a number.
    let nothing = || Ok((vec![(0, 0); stretches.len() + 1], Vec::new()));
    let results = in_turns(values, threads, nothing, |(counts, between): &mut Found, chunk| {
        for row in chunk.chunks(CHUNK) {
            let all = [ValueInterval { low: f64::NEG_INFINITY, high: f64::INFINITY }];
            let before = open.map(|open| (open, counts[0].1, counts[1].0));
            for (sum, stretch) in counts.iter_mut().zip(stretches.iter().chain(&all)) {
                let (below, up_to) = count_row(level, row, *stretch);
                *sum = (sum.0 + below, sum.1 + up_to);
            }
            if let Some((open, first, second)) = before
                && counts[0].1 - first < counts[1].0 - second
            {
                collect(row, open, between)?;
            }
        }
        Ok(())
    })?;
    let (mut sums, mut between) = nothing()?;
    for (counts, mut collected) in results {
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum = (sum.0 + count.0, sum.1 + count.1);
        }
        between.try_reserve(collected.len()).map_err(|_| SelectError::Memory)?;
        between.append(&mut collected);
    }
    if sums.pop().is_none_or(|(_, numbers)| numbers != values.len() as u64) {
        return Err(SelectError::NotFinite);
    }
    Ok((sums, between))
}

/// Append what lies between two numbers. Without a branch: whether a value is kept decides where the next one goes.
fn collect(row: &[f64], (low, high): (f64, f64), between: &mut Vec<f64>) -> Result<(), SelectError> {
    let mut kept = [0.0; CHUNK];
    let mut count = 0;
    for &value in row {
        kept[count % CHUNK] = value;
        count += usize::from(value > low) & usize::from(value < high);
    }
    between.try_reserve(count).map_err(|_| SelectError::Memory)?;
    between.extend_from_slice(&kept[..count]);
    Ok(())
}

/// The ranks of a stretch among `values`.
pub fn count(values: &[f64], stretch: ValueInterval) -> Ranks {
    count_row(Instructions::detect(), values, stretch)
}

fn count_row(level: Instructions, row: &[f64], stretch: ValueInterval) -> Ranks {
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
fn count_row_baseline(row: &[f64], stretch: ValueInterval) -> Ranks {
    row.iter().fold((0, 0), |(below, up_to), &value| {
        (below + u64::from(value < stretch.low), up_to + u64::from(value <= stretch.high))
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn count_row_avx2(row: &[f64], stretch: ValueInterval) -> Ranks {
    count_row_baseline(row, stretch)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn count_row_avx512(row: &[f64], stretch: ValueInterval) -> Ranks {
    count_row_baseline(row, stretch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::scores::score::Kind;

    fn stretch((low, high): (f64, f64)) -> ValueInterval {
        ValueInterval { low, high }
    }

    #[test]
    fn ranks_are_counted_for_all_stretches_at_once() {
        let mut entropy = seeded(102);
        for count in [0, 1, 1023, 1025, 600_001] {
            let values: Vec<f64> = (0..count).map(|_| entropy.below(50) as f64 - 5.0).collect();
            let ends = [(10.0, 10.0), (9.5, 9.5), (-f64::INFINITY, 3.0), (40.0, f64::INFINITY), (-9.0, 99.0)];
            let stretches = ends.map(stretch);
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
        assert!(ranks_of(&View::of(&[f64::INFINITY, -f64::INFINITY]), &[]).unwrap().is_empty());
    }

    #[test]
    fn what_lies_between_is_collected_by_any_number_of_threads() {
        let mut entropy = seeded(101);
        let ends = f64::INFINITY;
        for count in [0, 1, 1024, 70_001] {
            let values: Vec<f64> = (0..count).map(|_| entropy.below(50) as f64 - 5.0).collect();
            for pair in [
                [(10.0, 10.0), (20.0, 20.0)],
                [(10.0, 10.0), (10.0, 10.0)],
                [(-ends, -3.0), (40.0, ends)],
                [(-ends, -9.0), (90.0, ends)],
                [(9.0, 12.0), (9.0, 12.0)],
                [(10.5, 10.25), (10.5, 10.25)],
            ] {
                let open = (pair[0].1, pair[1].0);
                let mut inside: Vec<f64> = values.iter().copied().filter(|v| *v > open.0 && *v < open.1).collect();
                inside.sort_by(f64::total_cmp);
                let (ranks, mut between) = ranks_and_between(&View::of(&values), pair.map(stretch)).unwrap();
                let (again, mut of_three) = pass(&View::of(&values), &pair.map(stretch), Some(open), 3).unwrap();
                between.sort_by(f64::total_cmp);
                of_three.sort_by(f64::total_cmp);
                assert_eq!((&ranks[..], &between, &of_three), (&again[..], &inside, &inside), "{count}, {pair:?}");
            }
        }
    }

    #[test]
    fn a_nan_is_found_wherever_it_is() {
        for position in [0, 8, 4999, 5000] {
            let mut values = vec![1.0; 5001];
            values[position] = f64::NAN;
            for (first, second) in [(0.0, 2.0), (1.0, 1.0), (2.0, 3.0)] {
                let pair = [(first, first), (second, second)].map(stretch);
                assert_eq!(ranks_and_between(&View::of(&values), pair).err(), Some(SelectError::NotFinite));
            }
        }
        assert_eq!(ranks_of(&View::of(&[1.0, f64::NAN]), &[]).err(), Some(SelectError::NotFinite));
    }

    #[test]
    fn other_types_and_strides_are_read_as_doubles() {
        let integers: Vec<i32> = (0..5000).collect();
        let (ranks, between) =
            ranks_and_between(&View::of(&integers), [(9.5, 9.5), (4000.0, 4000.0)].map(stretch)).unwrap();
        assert_eq!((ranks, between.len()), ([(10, 10), (4000, 4001)], 3990));
        // Every other value of 64-bit integers.
        let values: Vec<i64> = (0..2000).collect();
        // SAFETY: 1000 values, 16 bytes apart, lie within the vector.
        let view = unsafe { View::new(values.as_ptr().cast(), Kind::I64, 1000, 16) };
        assert_eq!(ranks_of(&view, &[(99.0, 200.0)].map(stretch)).unwrap(), [(50, 101)]);
    }
}
