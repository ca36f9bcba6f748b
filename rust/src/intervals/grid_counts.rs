//! Values counted by the point of a grid that they count as: all that a quantile on the grid depends on.

use std::sync::{Mutex, PoisonError};

use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt;
use crate::intervals::grid::Grid;
use crate::intervals::pivot_pass::for_chunks;
use crate::numbers::score::Score;
use crate::scan::block_index::available_threads;
use crate::scan::helper_threads::with_helpers;
use crate::scan::pile::Pile;
use crate::scan::score_view::View;

/// Values that one more thread is worth its start.
const VALUES_PER_THREAD: usize = 1 << 18;
/// Values a thread takes from the common pile at a time.
const VALUES_PER_TURN: usize = 1 << 15;

/// A grid of few points, as the last value of each.
pub struct Places {
    /// `cuts[j]` is the last value that counts as point j; the last point has none.
    cuts: Vec<f64>,
    first: f64,
    per_unit: f64,
}

impl Places {
    /// # Errors
    /// `Memory`.
    pub fn new(grid: &Grid) -> Result<Self, SelectError> {
        let last = grid.count() - 1;
        let mut cuts = reserved(last as usize)?;
        for index in 0..last {
            interrupt::check()?;
            cuts.push(grid.cut(index));
        }
        let span = grid.point(last) / 2.0 - grid.point(0) / 2.0;
        // Zero for a single point, and whatever it is, it only says where to look first.
        let per_unit = if span > 0.0 { last as f64 / span / 2.0 } else { 0.0 };
        Ok(Self { cuts, first: grid.point(0), per_unit })
    }

    /// The index of the point that `value` counts as. Not for NaN.
    #[inline(always)]
    fn place(&self, value: f64) -> usize {
        let last = self.cuts.len();
        // `as` saturates.
        let mut index = (((value - self.first) * self.per_unit + 0.5) as usize).min(last);
        while index > 0 && self.cuts[index - 1] >= value {
            index -= 1;
        }
        while index < last && self.cuts[index] < value {
            index += 1;
        }
        index
    }

    /// How many values count as each point.
    ///
    /// # Errors
    /// `NotFinite` if there is a NaN, `Memory`, `Interrupted`.
    pub fn tally<T: Score>(&self, values: &View<'_, T>) -> Result<Vec<u64>, SelectError> {
        let places = self.cuts.len() + 1;
        let threads = (values.len() / VALUES_PER_THREAD).clamp(1, available_threads());
        let pile = Pile::new(values.len(), VALUES_PER_TURN);
        let results: Mutex<Vec<Result<Vec<u64>, SelectError>>> = Mutex::new(Vec::new());
        with_helpers(threads - 1, &|| {
            let result = reserved(places).and_then(|mut counts: Vec<u64>| {
                counts.resize(places, 0);
                let mut has_nan = false;
                while let Some(turn) = pile.take() {
                    for_chunks(values, turn, |chunk| {
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
        pile.outcome()?;
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
    fn places_agree_with_the_grids_own() {
        let mut entropy = seeded(131);
        let grids = [(0_i64, 1_u64, 10_u64, 101), (-7, 3, 1, 20), (5, 1, 1, 1), (0, 1, 3, 2), (1 << 53, 1, 2, 9)];
        for (start, step, denominator, count) in grids {
            let grid = Grid::new(IBig::from(start), step.into(), denominator.into(), count).unwrap();
            let places = Places::new(&grid).unwrap();
            for _ in 0..3000 {
                let near = grid.point(entropy.below(count));
                for value in [near, near.next_up(), near.next_down(), near + 0.05, -1e300, f64::INFINITY, f64::MIN] {
                    assert_eq!(places.place(value) as u64, grid.nearest(value), "{value}");
                }
            }
        }
    }

    #[test]
    fn every_value_is_counted_once() {
        let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::from(2_u8), 5).unwrap();
        let places = Places::new(&grid).unwrap();
        let values: Vec<f64> = (0..900_000).map(|index| f64::from(index % 9) * 0.25).collect();
        // 0, 1/4, ..., 2, of which every other one is midway between two points.
        let tally = places.tally(&View::of(&values)).unwrap();
        assert_eq!(tally, [200_000, 200_000, 200_000, 200_000, 100_000]);
        assert!(places.tally(&View::of(&[0.5, f64::NAN])).is_err());
    }
}
