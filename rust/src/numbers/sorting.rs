//! Sorting that may take seconds and can be ended.

use crate::interrupt::check_deep;

/// Fewer values than this are sorted at once, in some 20 milliseconds.
const FEW: usize = 1 << 20;
/// Values between two checks for Ctrl-C.
const CHECK_EVERY: usize = 1 << 16;
/// Places that a pivot is taken from.
const SAMPLE: usize = 513;
/// So many halvings are more than enough for any memory, unless the pivots are bad; then the library's sort takes over.
const MOST_DEPTHS: u32 = 64;

/// Sort `values` as `f64::total_cmp` orders them.
pub fn sort(values: &mut [f64]) {
    sort_deep(values, FEW, MOST_DEPTHS);
}

fn sort_deep(mut values: &mut [f64], few: usize, depths: u32) {
    let mut left_depths = depths;
    while values.len() > few && left_depths > 0 {
        left_depths -= 1;
        let mut sample: Vec<f64> = (0..SAMPLE).map(|place| values[place * (values.len() / SAMPLE)]).collect();
        let (_, &mut pivot, _) = sample.select_nth_unstable_by(SAMPLE / 2, f64::total_cmp);
        let count = partition(values, |value| value.total_cmp(&pivot).is_lt());
        let (below, rest) = values.split_at_mut(count);
        sort_deep(below, few, left_depths);
        let equal = partition(rest, |value| value.total_cmp(&pivot).is_eq());
        values = &mut rest[equal..];
    }
    check_deep();
    values.sort_unstable_by(f64::total_cmp);
}

/// Those values first for which `comes_first`, without a branch; how many there are.
pub fn partition(values: &mut [f64], comes_first: impl Fn(f64) -> bool) -> usize {
    let mut count = 0;
    let mut start = 0;
    while start < values.len() {
        check_deep();
        let end = values.len().min(start + CHECK_EVERY);
        for index in start..end {
            let value = values[index];
            values.swap(index, count);
            count += usize::from(comes_first(value));
        }
        start = end;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;

    #[test]
    fn sorts_as_the_library_does() {
        let mut entropy = seeded(91);
        for (distinct, count) in [(1_u64, 3000), (2, 3000), (1 << 40, 3000), (50, 20_000), (5, 0)] {
            let mut values: Vec<f64> = (0..count).map(|_| entropy.below(distinct) as f64 - 20.0).collect();
            values.extend([-0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, -5e-324]);
            let mut expected = values.clone();
            expected.sort_unstable_by(f64::total_cmp);
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            for few in [SAMPLE, 1 << 20] {
                let mut sorted = values.clone();
                sort_deep(&mut sorted, few, MOST_DEPTHS);
                assert_eq!(bits(&sorted), bits(&expected));
            }
        }
    }
}
