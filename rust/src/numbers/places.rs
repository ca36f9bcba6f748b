//! Where values lie when equal ones are to be told apart: the parts of a grid's cells, or the real numbers.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::numbers::answer_range::Answers;
use crate::numbers::grid::Grid;
use crate::numbers::value_turns;
use crate::scores::score_view::View;

/// A cell has so many parts, as powers of two, unless there are very many cells: places are doubles.
pub const PART_BITS: u32 = 32;

/// Places of values and of answers.
pub enum Places<'a> {
    /// The real numbers between two doubles.
    Reals { lower: f64, upper: f64 },
    /// Every point of a grid is a cell of `2^bits` parts, and a value goes to any part of its cell, whatever the other
    /// values do. So an answer can lie among equal values, with some of them to each side.
    Parts {
        grid: &'a Grid,
        /// The parts of all cells, counted from 0.
        fine: Grid,
        bits: u32,
    },
}

impl<'a> Places<'a> {
    /// On a grid, cells of `2^most_bits` parts, or fewer.
    pub fn new(range: Answers<'a>, most_bits: u32) -> Self {
        match range {
            Answers::Interval { lower, upper } => Self::Reals { lower, upper },
            Answers::Grid(grid) => {
                let count_bits = u64::BITS - grid.count().leading_zeros();
                let bits = most_bits.min(f64::MANTISSA_DIGITS.saturating_sub(count_bits));
                Self::Parts { grid, fine: grid.of_parts(bits), bits }
            }
        }
    }

    /// The places as answers.
    pub fn range(&self) -> Answers<'_> {
        match self {
            Self::Reals { lower, upper } => Answers::Interval { lower: *lower, upper: *upper },
            Self::Parts { fine, .. } => Answers::Grid(fine),
        }
    }

    /// Add the place of every value to `to`.
    pub fn append(&self, values: &View<'_>, to: &mut Vec<f64>, entropy: &mut Entropy) -> Result<(), SelectError> {
        match self {
            Self::Reals { .. } => value_turns::append(values, to, |value| self.range().place(value)),
            Self::Parts { grid, bits, .. } => value_turns::append(values, to, |value| {
                let part = u64::from(entropy.next_u32()) >> (u32::BITS - bits);
                ((grid.nearest(value) << bits) + part) as f64
            }),
        }
    }

    /// The answer at a place.
    pub fn answer(&self, place: f64) -> f64 {
        match self {
            Self::Reals { .. } => place,
            Self::Parts { grid, bits, .. } => grid.point(place as u64 >> bits),
        }
    }
}
