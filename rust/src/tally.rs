//! Values counted by where they lie on a grid of few points: all that a quantile on the grid depends on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::blocks::{available_threads, reserved};
use crate::crew::with_helpers;
use crate::error::SelectError;
use crate::grid::Grid;
use crate::score::{Score, View};
use crate::sieve::for_chunks;

/// Values that one more thread is worth its start.
const VALUES_PER_THREAD: usize = 1 << 18;
/// Values a thread takes from the common pile at a time.
const VALUES_PER_TURN: usize = 1 << 15;

/// A grid's points in memory.
pub struct Places {
    points: Vec<f64>,
    per_unit: f64,
}

impl Places {
    /// `None` if two points are the same double.
    ///
    /// # Errors
    /// `Memory`.
    pub fn new(grid: &Grid) -> Result<Option<Self>, SelectError> {
        let mut points = reserved(grid.count() as usize)?;
        points.extend((0..grid.count()).map(|index| grid.point(index)));
        if points.windows(2).any(|pair| pair[0] == pair[1]) {
            return Ok(None);
        }
        let span = points[points.len() - 1] / 2.0 - points[0] / 2.0;
        // Zero for a single point, and whatever it is, it only says where to look first.
        let per_unit = if span > 0.0 { (points.len() - 1) as f64 / span / 2.0 } else { 0.0 };
        Ok(Some(Self { points, per_unit }))
    }

    /// `2 j + 1` for a value at point j, `2 j` for one between points j - 1 and j; a value beyond the ends is moved
    /// onto them. Not for NaN.
    #[inline(always)]
    fn place(&self, value: f64) -> usize {
        let last = self.points.len() - 1;
        // `as` saturates.
        let mut index = (((value - self.points[0]) * self.per_unit) as usize).min(last);
        while index > 0 && self.points[index] > value {
            index -= 1;
        }
        while index < last && self.points[index + 1] <= value {
            index += 1;
        }
        let point = self.points[index];
        // At point `index`, or above it and below the next.
        if value <= point || index == last { 2 * index + 1 } else { 2 * index + 2 }
    }

    /// How many values lie at each place, `2 n + 1` places for n points.
    ///
    /// # Errors
    /// `NotFinite` if there is a NaN, `Memory`.
    pub fn tally<T: Score>(&self, values: &View<'_, T>) -> Result<Vec<u64>, SelectError> {
        let places = 2 * self.points.len() + 1;
        let threads = (values.len() / VALUES_PER_THREAD).clamp(1, available_threads());
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<Result<Vec<u64>, SelectError>>> = Mutex::new(Vec::new());
        with_helpers(threads - 1, &|| {
            let result = reserved(places).and_then(|mut counts: Vec<u64>| {
                counts.resize(places, 0);
                let mut has_nan = false;
                loop {
                    let start = next.fetch_add(VALUES_PER_TURN, Ordering::Relaxed);
                    if start >= values.len() {
                        break;
                    }
                    for_chunks(values, start..(start + VALUES_PER_TURN).min(values.len()), |chunk| {
                        for &value in chunk {
                            has_nan |= value.is_nan();
                            counts[self.place(value)] += 1;
                        }
                    });
                }
                if has_nan { Err(SelectError::NotFinite) } else { Ok(counts) }
            });
            results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        });
        let mut sums = reserved(places)?;
        sums.resize(places, 0_u64);
        for result in results.into_inner().unwrap_or_else(PoisonError::into_inner) {
            for (sum, count) in sums.iter_mut().zip(result?) {
                *sum += count;
            }
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::Entropy;
    use crate::entropy::testing::seeded;
    use dashu_int::{IBig, UBig};

    #[test]
    fn places_agree_with_the_grids_own_counts() {
        let mut entropy = seeded(131);
        for (start, step, denominator, count) in [(0, 1_u64, 10_u64, 101), (-7, 3, 1, 20), (5, 1, 1, 1), (0, 1, 3, 2)] {
            let grid = Grid::new(IBig::from(start), step.into(), denominator.into(), count).unwrap();
            let places = Places::new(&grid).unwrap().unwrap();
            let (first, last) = (grid.point(0), grid.point(count - 1));
            for _ in 0..3000 {
                let near = grid.point(entropy.below(count));
                for value in [near, near.next_up(), near.next_down(), near + 0.05, -1e300, f64::INFINITY, f64::MIN] {
                    let moved = value.clamp(first, last);
                    assert_eq!(places.place(value) as u64, grid.below(moved) + grid.up_to(moved), "{value}");
                }
            }
        }
    }

    #[test]
    fn every_value_is_counted_once() {
        let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::from(2_u8), 5).unwrap();
        let places = Places::new(&grid).unwrap().unwrap();
        let values: Vec<f64> = (0..900_000).map(|index| f64::from(index % 9) * 0.25).collect();
        // 0, 1/4, ..., 2 are all the places between the first and the last.
        let tally = places.tally(&View::of(&values)).unwrap();
        assert_eq!(tally, [0, 100_000, 100_000, 100_000, 100_000, 100_000, 100_000, 100_000, 100_000, 100_000, 0]);
        assert!(places.tally(&View::of(&[0.5, f64::NAN])).is_err());
    }

    #[test]
    fn points_that_coincide_are_left_to_the_grid() {
        let grid = Grid::new(IBig::from(1_i64 << 53), UBig::ONE, UBig::from(2_u8), 9).unwrap();
        assert!(Places::new(&grid).unwrap().is_none());
    }
}
