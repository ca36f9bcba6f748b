//! Values counted by the point of a grid that they count as: all that a quantile on the grid depends on.

use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt;
use crate::numbers::grid::Grid;
use crate::numbers::value_turns::{in_turns, threads_for};
use crate::scores::score_view::View;

/// A grid of few points, as the last value of each.
pub struct GridCounter {
    /// `cuts[j]` is the last value that counts as point j; the last point has none.
    cuts: Vec<f64>,
    first: f64,
    per_unit: f64,
}

impl GridCounter {
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
    pub fn tally(&self, values: &View<'_>) -> Result<Vec<u64>, SelectError> {
        let places = self.cuts.len() + 1;
        let zeros = || {
            let mut counts: Vec<u64> = reserved(places)?;
            counts.resize(places, 0);
            Ok(counts)
        };
        let results = in_turns(values, threads_for(values), zeros, |counts: &mut Vec<u64>, chunk| {
            let mut has_nan = false;
            for &value in chunk {
                has_nan |= value.is_nan();
                counts[self.place(value)] += 1;
            }
            if has_nan { Err(SelectError::NotFinite) } else { Ok(()) }
        })?;
        let mut sums = zeros()?;
        for counts in results {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use dashu_int::{IBig, UBig};

    #[test]
    fn places_agree_with_the_grids_own() {
        let mut entropy = seeded(131);
        let grids = [(0_i64, 1_u64, 10_u64, 101), (-7, 3, 1, 20), (5, 1, 1, 1), (0, 1, 3, 2), (1 << 53, 1, 2, 9)];
        for (start, step, denominator, count) in grids {
            let grid = Grid::new(IBig::from(start), step.into(), denominator.into(), count).unwrap();
            let places = GridCounter::new(&grid).unwrap();
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
        let places = GridCounter::new(&grid).unwrap();
        let values: Vec<f64> = (0..900_000).map(|index| f64::from(index % 9) * 0.25).collect();
        // 0, 1/4, ..., 2, of which every other one is midway between two points.
        let tally = places.tally(&View::of(&values)).unwrap();
        assert_eq!(tally, [200_000, 200_000, 200_000, 200_000, 100_000]);
        assert!(places.tally(&View::of(&[0.5, f64::NAN])).is_err());
    }
}
