//! One pass over all values: how many lie below, at and above two pivots, and a copy of those strictly between.

use crate::error::SelectError;
use crate::numbers::grid::ValueInterval;
use crate::numbers::value_turns::{in_turns, threads_for};
use crate::scores::kernels::Instructions;
use crate::scores::score_view::View;

/// What a pass found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PivotCounts {
    pub below_first: u64,
    pub up_to_first: u64,
    pub from_second: u64,
    pub above_second: u64,
}

impl PivotCounts {
    fn add(&mut self, other: Self) {
        self.below_first += other.below_first;
        self.up_to_first += other.up_to_first;
        self.from_second += other.from_second;
        self.above_second += other.above_second;
    }
}

/// Two stretches of values, each of which counts as one: the same, or the first below the second.
#[derive(Clone, Copy, Debug)]
pub struct Pivots {
    pub first: ValueInterval,
    pub second: ValueInterval,
}

/// What one pass found: the counts, and the values strictly between the pivots.
type Found = (PivotCounts, Vec<f64>);

/// Run the pass: the counts, and the values strictly between the pivots in any order.
///
/// # Errors
/// `NotFinite` if there is a NaN, `Memory` if what lies between the pivots does not fit, `Interrupted`.
pub fn pass(values: &View<'_>, pivots: Pivots) -> Result<Found, SelectError> {
    pass_with(values, pivots, threads_for(values), Instructions::detect())
}

fn pass_with(values: &View<'_>, pivots: Pivots, threads: usize, level: Instructions) -> Result<Found, SelectError> {
    let nothing = || Ok((PivotCounts::default(), Vec::new()));
    let mut results = in_turns(values, threads, nothing, |(counts, between): &mut Found, chunk| {
        // Eight more than needed: the fastest kernel stores whole vectors.
        between.try_reserve(chunk.len() + 8).map_err(|_| SelectError::Memory)?;
        counts.add(sort_out(level, chunk, pivots, between));
        Ok(())
    })?;
    let (mut counts, mut between) = results.pop().unwrap_or_default();
    for (part, mut found) in results {
        counts.add(part);
        between.try_reserve_exact(found.len()).map_err(|_| SelectError::Memory)?;
        between.append(&mut found);
    }
    // Every comparison with NaN is false, so a NaN is missing from the sum.
    let beyond = if pivots.first.high < pivots.second.low { counts.from_second } else { counts.above_second };
    if counts.up_to_first + between.len() as u64 + beyond != values.len() as u64 {
        return Err(SelectError::NotFinite);
    }
    Ok((counts, between))
}

/// Count, and append what lies between to `between`, which must have room for 8 more than the values.
fn sort_out(level: Instructions, values: &[f64], pivots: Pivots, between: &mut Vec<f64>) -> PivotCounts {
    debug_assert!(between.capacity() - between.len() >= values.len() + 8);
    // SAFETY: a level is only handed out where the processor has its features; the room was reserved.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => sort_out_avx512(values, pivots, between),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => sort_out_avx2(values, pivots, between),
            Instructions::Baseline => sort_out_baseline(values, pivots, between),
        }
    }
}

/// Without a branch: whether a value is kept decides where the next one goes.
///
/// # Safety
/// `between` must have room for all values and one more.
#[inline(always)]
unsafe fn sort_out_baseline(values: &[f64], pivots: Pivots, between: &mut Vec<f64>) -> PivotCounts {
    let mut counts = PivotCounts::default();
    let mut len = between.len();
    for &value in values {
        counts.below_first += u64::from(value < pivots.first.low);
        counts.up_to_first += u64::from(value <= pivots.first.high);
        counts.from_second += u64::from(value >= pivots.second.low);
        counts.above_second += u64::from(value > pivots.second.high);
    }
    let target = between.as_mut_ptr();
    for &value in values {
        // SAFETY: at most one place per value is used, and the caller made room.
        unsafe { target.add(len).write(value) };
        len += usize::from(value > pivots.first.high) & usize::from(value < pivots.second.low);
    }
    // SAFETY: all places up to `len` were written.
    unsafe { between.set_len(len) };
    counts
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn sort_out_avx2(values: &[f64], pivots: Pivots, between: &mut Vec<f64>) -> PivotCounts {
    // SAFETY: the caller's.
    unsafe { sort_out_baseline(values, pivots, between) }
}

/// # Safety
/// `between` must have room for all values and 8 more.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
unsafe fn sort_out_avx512(values: &[f64], pivots: Pivots, between: &mut Vec<f64>) -> PivotCounts {
    use std::arch::x86_64::{
        _CMP_GE_OQ, _CMP_GT_OQ, _CMP_LE_OQ, _CMP_LT_OQ, _mm512_cmp_pd_mask, _mm512_loadu_pd, _mm512_mask_sub_epi64,
        _mm512_maskz_compress_pd, _mm512_reduce_add_epi64, _mm512_set1_epi64, _mm512_set1_pd, _mm512_setzero_si512,
        _mm512_storeu_pd,
    };
    let (first_low, first_high) = (_mm512_set1_pd(pivots.first.low), _mm512_set1_pd(pivots.first.high));
    let (second_low, second_high) = (_mm512_set1_pd(pivots.second.low), _mm512_set1_pd(pivots.second.high));
    let minus_one = _mm512_set1_epi64(-1);
    let zero = _mm512_setzero_si512();
    let (mut below, mut up_to, mut from, mut above) = (zero, zero, zero, zero);
    let mut len = between.len();
    let target = between.as_mut_ptr();
    let (rows, rest) = values.as_chunks::<8>();
    for row in rows {
        // SAFETY: a row is 8 readable doubles.
        let value = unsafe { _mm512_loadu_pd(row.as_ptr()) };
        let is_up_to = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(value, first_high);
        let is_from = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(value, second_low);
        below = _mm512_mask_sub_epi64(below, _mm512_cmp_pd_mask::<_CMP_LT_OQ>(value, first_low), below, minus_one);
        up_to = _mm512_mask_sub_epi64(up_to, is_up_to, up_to, minus_one);
        from = _mm512_mask_sub_epi64(from, is_from, from, minus_one);
        above = _mm512_mask_sub_epi64(above, _mm512_cmp_pd_mask::<_CMP_GT_OQ>(value, second_high), above, minus_one);
        let kept =
            _mm512_cmp_pd_mask::<_CMP_GT_OQ>(value, first_high) & _mm512_cmp_pd_mask::<_CMP_LT_OQ>(value, second_low);
        // SAFETY: the caller made room for 8 more than all values.
        unsafe { _mm512_storeu_pd(target.add(len), _mm512_maskz_compress_pd(kept, value)) };
        len += kept.count_ones() as usize;
    }
    // SAFETY: all places up to `len` were written.
    unsafe { between.set_len(len) };
    let sum = |lanes| _mm512_reduce_add_epi64(lanes) as u64;
    let mut counts = PivotCounts {
        below_first: sum(below),
        up_to_first: sum(up_to),
        from_second: sum(from),
        above_second: sum(above),
    };
    // SAFETY: as the caller's.
    counts.add(unsafe { sort_out_baseline(rest, pivots, between) });
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::scores::score::Kind;

    #[test]
    fn every_kernel_counts_and_collects_alike() {
        let mut entropy = seeded(101);
        for count in [0, 1, 7, 8, 9, 1000, 70_001] {
            let values: Vec<f64> = (0..count).map(|_| entropy.below(50) as f64 - 5.0).collect();
            let ends = f64::INFINITY;
            for (a, b, c, d) in [
                (10.0, 10.0, 20.0, 20.0),
                (10.0, 10.0, 10.0, 10.0),
                (-ends, -3.0, 40.0, ends),
                (9.5, 12.0, 12.5, 19.0),
                (9.0, 12.0, 9.0, 12.0),
                (-ends, 7.0, -ends, 7.0),
                (10.5, 10.25, 10.5, 10.25),
            ] {
                let of = |keep: &dyn Fn(f64) -> bool| values.iter().filter(|value| keep(**value)).count() as u64;
                let expected = PivotCounts {
                    below_first: of(&|value| value < a),
                    up_to_first: of(&|value| value <= b),
                    from_second: of(&|value| value >= c),
                    above_second: of(&|value| value > d),
                };
                let mut inside: Vec<f64> = values.iter().copied().filter(|v| *v > b && *v < c).collect();
                inside.sort_by(f64::total_cmp);
                for level in Instructions::available() {
                    for threads in [1, 3] {
                        let pivots = Pivots {
                            first: ValueInterval { low: a, high: b },
                            second: ValueInterval { low: c, high: d },
                        };
                        let (counts, mut between) = pass_with(&View::of(&values), pivots, threads, level).unwrap();
                        between.sort_by(f64::total_cmp);
                        assert_eq!((counts, &between), (expected, &inside), "{count}, {a}..{d}, {level:?}");
                    }
                }
            }
        }
    }

    fn at(first: f64, second: f64) -> Pivots {
        Pivots { first: ValueInterval { low: first, high: first }, second: ValueInterval { low: second, high: second } }
    }

    #[test]
    fn a_nan_is_found_wherever_it_is() {
        for position in [0, 8, 4999, 5000] {
            let mut values = vec![1.0; 5001];
            values[position] = f64::NAN;
            for (first, second) in [(0.0, 2.0), (1.0, 1.0), (2.0, 3.0)] {
                let found = pass(&View::of(&values), at(first, second));
                assert_eq!(found.err(), Some(SelectError::NotFinite));
            }
        }
        let values = [f64::INFINITY, f64::NEG_INFINITY];
        assert!(pass(&View::of(&values), at(0.0, 1.0)).is_ok());
    }

    #[test]
    fn other_types_and_strides_are_read_as_doubles() {
        let integers: Vec<i32> = (0..5000).collect();
        let pivots = at(9.5, 4000.0);
        let (counts, between) = pass(&View::of(&integers), pivots).unwrap();
        assert_eq!((counts.up_to_first, between.len(), counts.from_second), (10, 3990, 1000));
        // Every other value of 64-bit integers.
        let values: Vec<i64> = (0..2000).collect();
        // SAFETY: 1000 values, 16 bytes apart, lie within the vector.
        let view = unsafe { View::new(values.as_ptr().cast(), Kind::I64, 1000, 16) };
        let (counts, between) = pass(&view, at(99.0, 200.0)).unwrap();
        assert_eq!((counts.up_to_first, between.len(), counts.from_second), (50, 50, 900));
    }
}
