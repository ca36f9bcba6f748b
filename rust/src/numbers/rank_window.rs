//! The sorted values around a rank, found without sorting the others.
//!
//! Two pivots from a random sample enclose the ranks wanted; one pass counts what lies outside and collects what lies
//! between; only that is ordered, and only the ranks wanted are sorted. A sample that misses costs time and nothing
//! else: the window is checked against the counts, which are exact.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt;
use crate::numbers::answer_range::Answers;
use crate::numbers::grid::ValueInterval;
use crate::numbers::pivot_pass::{Pivots, pass};
use crate::numbers::rank_counts::ranks_of;
use crate::numbers::sorting::{order, sort};
use crate::numbers::value_turns::append;
use crate::scores::score_view::View;

/// Values between two checks for Ctrl-C.
const CHECK_EVERY: usize = 1 << 12;

/// Neighbouring values in increasing order, each once, with their ranks: as the places of the range that they count as.
#[derive(Debug, PartialEq)]
pub struct Window {
    /// Different values, increasing.
    pub values: Vec<f64>,
    /// `below[i]`: how many of all values are below `values[i]`.
    pub below: Vec<u64>,
    /// `up_to[i]`: how many of all values are not above `values[i]`.
    pub up_to: Vec<u64>,
    /// How many values there are.
    pub total: u64,
}

impl Window {
    fn empty(total: u64) -> Self {
        Self { values: Vec::new(), below: Vec::new(), up_to: Vec::new(), total }
    }

    /// The least and the largest rank of a point between value `gap - 1` and value `gap`: where they differ, values that
    /// are not here lie between.
    pub fn ranks_of_gap(&self, gap: usize) -> (u64, u64) {
        let least = if gap == 0 { 0 } else { self.up_to[gap - 1] };
        (least, self.below.get(gap).copied().unwrap_or(self.total))
    }

    /// Append a value that comes `count` times, above so many others; it must not be below the last one.
    fn push(&mut self, value: f64, below: u64, count: u64) {
        if self.values.last() == Some(&value) {
            if let Some(last) = self.up_to.last_mut() {
                *last += count;
            }
        } else {
            self.values.push(value);
            self.below.push(below);
            self.up_to.push(below + count);
        }
    }

    /// Add a value of known ranks, unless it is here.
    pub fn insert(&mut self, value: f64, (below, up_to): (u64, u64)) {
        let at = self.values.partition_point(|other| *other < value);
        if self.values.get(at) != Some(&value) {
            self.values.insert(at, value);
            self.below.insert(at, below);
            self.up_to.insert(at, up_to);
        }
    }

    /// All values.
    ///
    /// # Errors
    /// `NotFinite` if there is a NaN, `Memory`.
    pub fn of_all(values: &View<'_>, range: Answers<'_>) -> Result<Self, SelectError> {
        let total = values.len();
        let mut sorted: Vec<f64> = Vec::new();
        append(values, &mut sorted, |value| value)?;
        sort(&mut sorted, order);
        let mut window =
            Self { values: Vec::new(), below: reserved(total)?, up_to: reserved(total)?, total: total as u64 };
        // The different values are written over the sorted ones.
        let mut different = 0;
        for index in 0..sorted.len() {
            if index.is_multiple_of(CHECK_EVERY) {
                interrupt::check()?;
            }
            let value = range.place(sorted[index]);
            if different > 0 && sorted[different - 1] == value {
                window.up_to[different - 1] += 1;
            } else {
                sorted[different] = value;
                different += 1;
                window.below.push(index as u64);
                window.up_to.push(index as u64 + 1);
            }
        }
        sorted.truncate(different);
        window.values = sorted;
        Ok(window)
    }

    /// All values, from how many there are at each place 0, 1, ...
    ///
    /// # Errors
    /// `Memory`.
    pub fn of_tally(tally: &[u64]) -> Result<Self, SelectError> {
        let taken = tally.iter().filter(|count| **count > 0).count();
        let (values, below, up_to) = (reserved(taken)?, reserved(taken)?, reserved(taken)?);
        let mut window = Self { values, below, up_to, total: 0 };
        for (place, &count) in tally.iter().enumerate().filter(|(_, count)| **count > 0) {
            window.push(place as f64, window.total, count);
            window.total += count;
        }
        Ok(window)
    }

    /// A window with at least the values of the sorted positions `first..last` (not empty, within the values), or
    /// `None` if the sample's pivots missed them.
    ///
    /// # Errors
    /// `NotFinite` if there is a NaN, `Memory`.
    pub fn around(
        values: &View<'_>,
        range: Answers<'_>,
        first: u64,
        last: u64,
        entropy: &mut Entropy,
    ) -> Result<Option<Self>, SelectError> {
        let total = values.len() as u64;
        debug_assert!(first < last && last <= total);
        let (low, high) = pivots(values, range, first as f64 / total as f64, last as f64 / total as f64, entropy)?;
        let pivots = Pivots { first: range.values_at(low), second: range.values_at(high) };
        let (counts, mut between) = pass(values, pivots)?;
        let (start, end) = (counts.up_to_first, total - counts.from_second);
        if first < counts.below_first || last > total - counts.above_second {
            return Ok(None);
        }
        let mut window = Self::empty(total);
        if low == high || first < start {
            window.push(low, counts.below_first, start - counts.below_first);
        }
        if low == high {
            return Ok(Some(window));
        }
        let (wanted_first, wanted_last) = (first.max(start).min(end), last.min(end).max(start));
        if wanted_first < wanted_last {
            let mut wanted = &mut between[..];
            let (skipped, kept) = ((wanted_first - start) as usize, (wanted_last - wanted_first) as usize);
            let mut left: &mut [f64] = &mut [];
            let mut right: &mut [f64] = &mut [];
            if skipped > 0 {
                wanted.select_nth_unstable_by(skipped, f64::total_cmp);
                (left, wanted) = wanted.split_at_mut(skipped);
            }
            if kept < wanted.len() {
                wanted.select_nth_unstable_by(kept, f64::total_cmp);
                (wanted, right) = wanted.split_at_mut(kept);
            }
            wanted.sort_unstable_by(f64::total_cmp);
            // Values that count as the outermost ones do may lie outside, where they were cut.
            let (least, largest) = (range.place(wanted[0]), range.place(wanted[kept - 1]));
            let also = |part: &[f64], place: f64| {
                let alike: ValueInterval = range.values_at(place);
                part.iter().filter(|other| alike.contains(**other)).count() as u64
            };
            window.push(least, wanted_first - also(left, least), also(left, least));
            for (rank, &value) in (wanted_first..).zip(&*wanted) {
                window.push(range.place(value), rank, 1);
            }
            window.push(largest, wanted_last, also(right, largest));
        }
        if last > end {
            window.push(high, end, total - counts.above_second - end);
        }
        Ok(Some(window))
    }

    /// A few values with their ranks: those of a random sample that are nearest to the `wanted` ranks, increasing, and
    /// the sample's ends.
    ///
    /// # Errors
    /// `NotFinite` if there is a NaN, `Memory`, `Interrupted`.
    pub fn of_pivots(
        values: &View<'_>,
        range: Answers<'_>,
        wanted: &[f64],
        entropy: &mut Entropy,
    ) -> Result<Self, SelectError> {
        let total = values.len();
        let sample = sample(values, range, LARGEST_SAMPLE.min(total / 64 + 64), entropy)?;
        let last = sample.len() - 1;
        let at = |rank: &f64| sample[((rank / total as f64 * sample.len() as f64) as usize).min(last)];
        let mut places: Vec<f64> = [sample[0]].into_iter().chain(wanted.iter().map(at)).chain([sample[last]]).collect();
        places.dedup();
        let stretches: Vec<ValueInterval> = places.iter().map(|&place| range.values_at(place)).collect();
        let (below, up_to) = ranks_of(values, &stretches)?.into_iter().unzip();
        Ok(Self { values: places, below, up_to, total: total as u64 })
    }
}

/// Enough to find a rank up to about a 250th of all.
const LARGEST_SAMPLE: usize = 1 << 14;

/// The places of random values, in increasing order.
fn sample(values: &View<'_>, range: Answers<'_>, size: usize, entropy: &mut Entropy) -> Result<Vec<f64>, SelectError> {
    let mut sample: Vec<f64> = reserved(size)?;
    for _ in 0..size {
        let mut value = [0.0];
        values.copy_doubles_to(entropy.below(values.len() as u64) as usize, &mut value);
        let [value] = value;
        sample.push(range.place(value)); // of a NaN, anything; the pass will find it
    }
    sample.sort_unstable_by(f64::total_cmp);
    Ok(sample)
}

/// Two places that have the shares `first..last` of the sorted values between them, as far as a sample tells.
fn pivots(
    values: &View<'_>,
    range: Answers<'_>,
    first: f64,
    last: f64,
    entropy: &mut Entropy,
) -> Result<(f64, f64), SelectError> {
    let total = values.len();
    // Balances the sample's own cost against that of collecting too much.
    let root = libm::cbrt(total as f64);
    let size = (root * root / 3.0) as usize + 64;
    let sample = sample(values, range, size, entropy)?;
    // Five standard deviations of a sample's rank, and a few places.
    let place = |share: f64, sign: f64| {
        let spread = 5.0 * (size as f64 * share * (1.0 - share)).max(0.0).sqrt() + 4.0;
        share * size as f64 + sign * spread
    };
    let (low, high) = (place(first, -1.0).floor(), place(last, 1.0).ceil());
    let (lower, upper) = range.ends();
    let first = if low < 0.0 { lower } else { sample[(low as usize).min(size - 1)] };
    Ok((first, if high >= size as f64 { upper } else { sample[high as usize] }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::numbers::grid::Grid;
    use dashu_int::{IBig, UBig};

    fn within(lower: f64, upper: f64) -> Answers<'static> {
        Answers::Interval { lower, upper }
    }

    /// The window that `around` should contain, from all values.
    fn assert_is_part_of(window: &Window, all: &Window, first: u64, last: u64) {
        assert_eq!(window.total, all.total);
        let offset = all.values.iter().position(|value| *value == window.values[0]).unwrap();
        let range = offset..offset + window.values.len();
        assert_eq!(window.values, all.values[range.clone()]);
        assert_eq!(window.below, all.below[range.clone()]);
        assert_eq!(window.up_to, all.up_to[range]);
        assert!(window.below[0] <= first && window.up_to[window.values.len() - 1] >= last);
    }

    #[test]
    fn all_values_are_clipped_counted_and_sorted() {
        let window =
            Window::of_all(&View::of(&[3.0, -7.0, 1.0, 3.0, 99.0, -0.0, 0.0, f64::INFINITY]), within(-2.0, 9.0));
        let window = window.unwrap();
        assert_eq!(window.values, [-2.0, 0.0, 1.0, 3.0, 9.0]);
        assert_eq!((window.below, window.up_to), (vec![0, 1, 3, 4, 6], vec![1, 3, 4, 6, 8]));
        assert!(window.values[1].is_sign_positive());
        let empty = Window::of_all(&View::of(&[0.0; 0]), within(0.0, 1.0)).unwrap();
        assert_eq!((empty.values.len(), empty.ranks_of_gap(0), empty.total), (0, (0, 0), 0));
        assert!(Window::of_all(&View::of(&[1.0, f64::NAN]), within(0.0, 1.0)).is_err());
    }

    #[test]
    fn values_count_as_their_grid_points() {
        let thirds = Grid::new(IBig::ZERO, UBig::ONE, UBig::from(3_u8), 4).unwrap();
        let window = Window::of_all(&View::of(&[0.9, 0.4, -8.0, 0.35, 0.3, 0.84]), Answers::Grid(&thirds)).unwrap();
        assert_eq!((window.values, window.up_to), (vec![0.0, 1.0, 3.0], vec![1, 4, 6]));
    }

    #[test]
    fn what_is_found_around_a_rank_is_what_sorting_finds() {
        let mut entropy = seeded(111);
        let mut found = 0;
        for (distinct, count) in
            [(1_u64 << 60, 20_000_u64), (1000, 20_000), (5, 3000), (1, 1000), (40, 700), (1 << 60, 700)]
        {
            let values: Vec<f64> =
                (0..count).map(|_| (entropy.below(distinct) as f64 / distinct as f64 * 1.2 - 0.1) * 100.0).collect();
            let thirds = Grid::new(IBig::ZERO, UBig::ONE, UBig::from(3_u8), 301).unwrap();
            for range in [within(0.0, 100.0), Answers::Grid(&thirds)] {
                let all = Window::of_all(&View::of(&values), range).unwrap();
                for center in [0, 1, count / 100, count / 3, count / 2, count - 1_u64] {
                    for radius in [1, 7, 60] {
                        let (first, last) = (center.saturating_sub(radius), (center + radius).min(count));
                        let window = Window::around(&View::of(&values), range, first, last, &mut entropy).unwrap();
                        if let Some(window) = window {
                            assert_is_part_of(&window, &all, first, last);
                            found += 1;
                        }
                    }
                }
            }
        }
        assert!(found >= 200, "{found} of 216 found");
    }

    #[test]
    fn pivots_have_the_ranks_that_sorting_finds() {
        let mut entropy = seeded(113);
        let thirds = Grid::new(IBig::ZERO, UBig::ONE, UBig::from(3_u8), 301).unwrap();
        for distinct in [1_u64 << 60, 40, 1] {
            let values: Vec<f64> =
                (0..9000).map(|_| (entropy.below(distinct) as f64 / distinct as f64 * 1.2 - 0.1) * 100.0).collect();
            for range in [within(0.0, 100.0), Answers::Grid(&thirds)] {
                let all = Window::of_all(&View::of(&values), range).unwrap();
                let wanted: Vec<f64> = (0..9).map(|part| f64::from(part) * 1000.0).collect();
                let mut pivots = Window::of_pivots(&View::of(&values), range, &wanted, &mut entropy).unwrap();
                assert!(pivots.values.len() > 6.min(all.values.len() / 2));
                let count = pivots.values.len();
                pivots.insert(pivots.values[0], (7, 7)); // is here
                assert_eq!(pivots.values.len(), count);
                for other in [all.values.len() / 3, all.values.len() - 1] {
                    pivots.insert(all.values[other], (all.below[other], all.up_to[other]));
                }
                assert!(pivots.values.is_sorted_by(|a, b| a < b));
                for gap in 0..pivots.values.len() {
                    let at = all.values.iter().position(|value| *value == pivots.values[gap]).unwrap();
                    assert_eq!((pivots.below[gap], pivots.up_to[gap]), (all.below[at], all.up_to[at]));
                    let before = if gap == 0 { 0 } else { pivots.up_to[gap - 1] };
                    assert_eq!(pivots.ranks_of_gap(gap), (before, all.below[at]));
                }
            }
        }
    }

    #[test]
    fn a_nan_is_found_also_here() {
        let mut values = vec![1.0; 5000];
        values[4321] = f64::NAN;
        let found = Window::around(&View::of(&values), within(0.0, 2.0), 10, 20, &mut seeded(112));
        assert_eq!(found, Err(SelectError::NotFinite));
    }
}
