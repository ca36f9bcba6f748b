//! Places of known ranks: all values, those around a rank, or a few pivots, found without sorting the others.
//!
//! Two pivots from a random sample enclose the ranks wanted; one pass counts what lies outside and collects what lies
//! between; only the ranks wanted are sorted. A sample that misses costs time and nothing else: all ranks are counted.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::numbers::answer_range::Answers;
use crate::numbers::grid::ValueInterval;
use crate::numbers::rank_counts::{count, ranks_and_between, ranks_of};
use crate::numbers::value_turns::append;
use crate::scores::score_view::View;

/// A place of the range: how many of all values count as less, and how many as no more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    pub place: f64,
    pub below: u64,
    pub up_to: u64,
}

impl Known {
    pub fn ranks(self) -> (u64, u64) {
        (self.below, self.up_to)
    }
}

/// Different places, increasing.
#[derive(Debug, PartialEq)]
pub struct Window {
    pub places: Vec<Known>,
    /// How many values there are.
    pub total: u64,
}

impl Window {
    /// The least and the largest rank of a point between place `gap - 1` and place `gap`: where they differ, values that
    /// are not here lie between.
    pub fn ranks_of_gap(&self, gap: usize) -> (u64, u64) {
        let least = if gap == 0 { 0 } else { self.places[gap - 1].up_to };
        (least, self.places.get(gap).map_or(self.total, |known| known.below))
    }

    /// Append a place, or say of the last one how far up it goes.
    fn push(&mut self, place: f64, (below, up_to): (u64, u64)) {
        match self.places.last_mut() {
            Some(last) if last.place == place => last.up_to = up_to,
            _ => self.places.push(Known { place, below, up_to }),
        }
    }

    /// Add a place of known ranks, unless it is here.
    pub fn insert(&mut self, place: f64, (below, up_to): (u64, u64)) {
        let at = self.places.partition_point(|other| other.place < place);
        if self.places.get(at).is_none_or(|other| other.place != place) {
            self.places.insert(at, Known { place, below, up_to });
        }
    }

    /// All values.
    pub fn of_all(values: &View<'_>, range: Answers<'_>) -> Result<Self, SelectError> {
        let mut sorted: Vec<f64> = Vec::new();
        append(values, &mut sorted, |value| range.place(value))?;
        sorted.sort_unstable_by(f64::total_cmp);
        let mut window = Self { places: reserved(sorted.len())?, total: sorted.len() as u64 };
        for (rank, place) in (0..).zip(sorted) {
            window.push(place, (rank, rank + 1));
        }
        Ok(window)
    }

    /// A window with the values of the sorted positions `first..last` (not empty, within the values), as far as the
    /// sample's pivots enclose them.
    pub fn around(
        values: &View<'_>,
        range: Answers<'_>,
        first: u64,
        last: u64,
        entropy: &mut Entropy,
    ) -> Result<Self, SelectError> {
        let total = values.len() as u64;
        debug_assert!(first < last && last <= total);
        let (low, high) = pivots(values, range, first as f64 / total as f64, last as f64 / total as f64, entropy)?;
        let ([of_low, of_high], mut between) = ranks_and_between(values, [low, high].map(|at| range.values_at(at)))?;
        let (start, end) = (of_low.1, of_high.0);
        let mut window = Self { places: Vec::new(), total };
        if first < start {
            window.push(low, of_low);
        }
        let (wanted_first, wanted_last) = (first.max(start), last.min(end));
        if wanted_first < wanted_last {
            let (skipped, kept) = ((wanted_first - start) as usize, (wanted_last - wanted_first) as usize);
            bring_smallest(&mut between, skipped);
            bring_smallest(&mut between[skipped..], kept);
            let wanted = &mut between[skipped..skipped + kept];
            wanted.sort_unstable_by(f64::total_cmp);
            window.places.try_reserve(kept + 1).map_err(|_| SelectError::Memory)?;
            let at = window.places.len();
            for (rank, &value) in (wanted_first..).zip(&*wanted) {
                window.push(range.place(value), (rank, rank + 1));
            }
            // Values that count as the outermost ones do may lie outside, where they were cut.
            for outermost in [at, window.places.len() - 1] {
                let place = window.places[outermost].place;
                let (below, up_to) = count(&between, range.values_at(place));
                window.places[outermost] = Known { place, below: start + below, up_to: start + up_to };
            }
        }
        if last > end {
            window.push(high, of_high);
        }
        Ok(window)
    }

    /// A few places: those of a random sample that are nearest to ranks closer to `target` where more of the answers are,
    /// and the sample's ends.
    pub fn of_pivots(
        values: &View<'_>,
        range: Answers<'_>,
        target: f64,
        ranks_per_scale: f64,
        entropy: &mut Entropy,
    ) -> Result<Self, SelectError> {
        let total = values.len();
        let sample = sample(values, range, LARGEST_SAMPLE.min(total / 64 + 64), entropy)?;
        let last = sample.len() - 1;
        let at = |rank: f64| sample[((rank / total as f64 * sample.len() as f64) as usize).min(last)]; // `as` saturates
        let mut places = vec![sample[0], sample[last]];
        for step in 0..PIVOTS {
            let distance = 0.2 * 1.5_f64.powi(step) * ranks_per_scale;
            places.extend([at(target - distance), at(target + distance)]);
        }
        places.sort_unstable_by(f64::total_cmp);
        places.dedup();
        let stretches: Vec<ValueInterval> = places.iter().map(|&place| range.values_at(place)).collect();
        let mut window = Self { places: Vec::new(), total: total as u64 };
        for (place, ranks) in places.into_iter().zip(ranks_of(values, &stretches)?) {
            window.push(place, ranks);
        }
        Ok(window)
    }
}

/// The `count` smallest values first.
fn bring_smallest(values: &mut [f64], count: usize) {
    if count < values.len() {
        values.select_nth_unstable_by(count, f64::total_cmp);
    }
}

/// Enough to find a rank up to about a 250th of all.
const LARGEST_SAMPLE: usize = 1 << 14;
/// Pivots to each side, from a fifth of a scale to some sixty scales away.
const PIVOTS: i32 = 15;

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
    // Balances the sample's own cost against that of collecting too much.
    let root = libm::cbrt(values.len() as f64);
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

    fn known(places: &[(f64, u64, u64)]) -> Vec<Known> {
        places.iter().map(|&(place, below, up_to)| Known { place, below, up_to }).collect()
    }

    #[test]
    fn all_values_are_moved_counted_and_sorted() {
        let window =
            Window::of_all(&View::of(&[3.0, -7.0, 1.0, 3.0, 99.0, -0.0, 0.0, f64::INFINITY]), within(-2.0, 9.0));
        let window = window.unwrap();
        assert_eq!(window.places, known(&[(-2.0, 0, 1), (0.0, 1, 3), (1.0, 3, 4), (3.0, 4, 6), (9.0, 6, 8)]));
        assert!(window.places[1].place.is_sign_positive());
        let empty = Window::of_all(&View::of(&[0.0; 0]), within(0.0, 1.0)).unwrap();
        assert_eq!((empty.places.len(), empty.ranks_of_gap(0), empty.total), (0, (0, 0), 0));
        let thirds = Grid::new(IBig::ZERO, UBig::ONE, UBig::from(3_u8), 4).unwrap();
        let window = Window::of_all(&View::of(&[0.9, 0.4, -8.0, 0.35, 0.3, 0.84]), Answers::Grid(&thirds)).unwrap();
        assert_eq!(window.places, known(&[(0.0, 0, 1), (1.0, 1, 4), (3.0, 4, 6)]));
    }

    #[test]
    fn what_is_found_around_a_rank_is_what_sorting_finds() {
        let mut entropy = seeded(111);
        let (mut found, mut asked) = (0, 0);
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
                        let ends = (window.places[0], window.places[window.places.len() - 1]);
                        asked += 1;
                        if ends.0.below <= first && ends.1.up_to >= last {
                            let offset = all.places.partition_point(|known| known.place < ends.0.place);
                            let all = all.places[offset..].iter().filter(|known| known.below < known.up_to);
                            // An end of the range is known also where no value is.
                            let window = window.places.iter().filter(|known| known.below < known.up_to);
                            assert!(window.clone().eq(all.take(window.count())));
                            found += 1;
                        }
                    }
                }
            }
        }
        assert!(found >= 200 && asked == 216, "{found} of {asked} found");
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
                let mut pivots = Window::of_pivots(&View::of(&values), range, 4000.0, 1000.0, &mut entropy).unwrap();
                assert!(pivots.places.len() > 6.min(all.places.len() / 2));
                let count = pivots.places.len();
                pivots.insert(pivots.places[0].place, (7, 7)); // is here
                assert_eq!(pivots.places.len(), count);
                for other in [all.places.len() / 3, all.places.len() - 1] {
                    pivots.insert(all.places[other].place, all.places[other].ranks());
                }
                assert!(pivots.places.is_sorted_by(|a, b| a.place < b.place));
                for (gap, pivot) in pivots.places.iter().enumerate() {
                    assert!(all.places.contains(pivot));
                    let before = if gap == 0 { 0 } else { pivots.places[gap - 1].up_to };
                    assert_eq!(pivots.ranks_of_gap(gap), (before, pivot.below));
                }
            }
        }
    }
}
