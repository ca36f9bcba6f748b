//! Where the answers of a quantile may lie, and which values count as which of them.

use crate::numbers::grid::{Grid, ValueInterval};

/// Where an answer may lie.
#[derive(Clone, Copy, Debug)]
pub enum Answers<'a> {
    /// Any real number between two finite doubles, the first below the second.
    Interval { lower: f64, upper: f64 },
    /// A point of a grid.
    Grid(&'a Grid),
}

impl Answers<'_> {
    /// What a value counts as, never decreasing with it: itself, moved into the interval, or the index of the nearest
    /// point of the grid. A NaN goes anywhere.
    pub fn place(self, value: f64) -> f64 {
        match self {
            Self::Interval { lower, upper } => value.max(lower).min(upper) + 0.0, // no negative zero
            Self::Grid(grid) => grid.nearest(value) as f64, // exact: a grid has at most 2^53 points
        }
    }

    /// The answer at a place.
    pub fn answer(self, place: f64) -> f64 {
        match self {
            Self::Interval { .. } => place,
            Self::Grid(grid) => grid.point(place as u64),
        }
    }

    /// The values that count as `place`.
    pub fn values_at(self, place: f64) -> ValueInterval {
        match self {
            Self::Interval { lower, upper } => ValueInterval {
                low: if place <= lower { f64::NEG_INFINITY } else { place },
                high: if place >= upper { f64::INFINITY } else { place },
            },
            Self::Grid(grid) => grid.cell(place as u64),
        }
    }

    /// The smallest and the largest place.
    pub fn ends(self) -> (f64, f64) {
        match self {
            Self::Interval { lower, upper } => (lower, upper),
            Self::Grid(grid) => (0.0, (grid.count() - 1) as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use dashu_int::{IBig, UBig};

    #[test]
    fn a_value_lies_where_it_counts() {
        let mut entropy = seeded(161);
        let tenths = Grid::new(IBig::from(-3), UBig::ONE, UBig::from(10_u8), 12).unwrap();
        for range in [Answers::Interval { lower: -0.3, upper: 0.8 }, Answers::Grid(&tenths)] {
            let mut values = vec![f64::NEG_INFINITY, -0.3, -0.25, 0.0, -0.0, 0.05, 0.8, 0.75, 7.0, f64::INFINITY];
            values.extend((0..500).map(|_| entropy.below(1600) as f64 / 1000.0 - 0.5));
            for &value in &values {
                let place = range.place(value);
                for other in [value, value.next_up(), value.next_down()].into_iter().chain(values.iter().copied()) {
                    assert_eq!(range.values_at(place).contains(other), range.place(other) == place, "{value} {other}");
                }
                assert!(range.ends().0 <= place && place <= range.ends().1);
            }
        }
    }
}
