//! A range of answers, cut by the sorted values: gap i lies between value i - 1 and value i.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::numbers::answer_range::Answers;
use crate::numbers::grid::Grid;
use crate::numbers::point::Point;
use crate::numbers::sorting::{order, sort};
use crate::numbers::stretch::Stretch;
use crate::numbers::value_turns::append;
use crate::scores::score_view::View;

/// The cuts, with both ends of the range among them.
pub enum Cuts<'a> {
    Reals(Vec<f64>),
    /// Every point of a grid is a cell of `2^bits` parts, over which the values there are spread at random; ends are
    /// counted in parts.
    Parts {
        ends: Vec<u64>,
        bits: u32,
        grid: &'a Grid,
    },
}

/// A cell has so many parts, as powers of two, unless there are very many cells.
const PART_BITS: u32 = 32;
/// All positions stay below two to this power.
const POSITION_BITS: u32 = 62;

impl<'a> Cuts<'a> {
    /// Values beyond the range are moved onto its ends, and on a grid to the nearest point.
    ///
    /// # Errors
    /// `NotFinite` if there is a NaN, `Memory`.
    pub fn new(values: &View<'_>, range: Answers<'a>, entropy: &mut Entropy) -> Result<Self, SelectError> {
        match range {
            Answers::Interval { lower, upper } => {
                let mut ends = collected(values, |value| value.clamp(lower, upper), lower, upper)?;
                sort(&mut ends, order);
                Ok(Self::Reals(ends))
            }
            Answers::Grid(grid) => {
                let count_bits = u64::BITS - grid.count().leading_zeros();
                Self::spread(values, grid, PART_BITS.min(POSITION_BITS.saturating_sub(count_bits)), entropy)
            }
        }
    }

    /// Each value goes to one of the `2^bits` parts of its cell, whatever the other values do.
    pub(crate) fn spread(
        values: &View<'_>,
        grid: &'a Grid,
        bits: u32,
        entropy: &mut Entropy,
    ) -> Result<Self, SelectError> {
        let place = |value: f64| {
            let part = if bits == 0 { 0 } else { u64::from(entropy.next_u32() >> (u32::BITS - bits)) };
            (grid.nearest(value) << bits) + part
        };
        let mut ends = collected(values, place, 0, grid.count() << bits)?;
        sort(&mut ends, |end| end);
        Ok(Self::Parts { ends, bits, grid })
    }

    /// How many gaps: one more than values.
    pub fn gaps(&self) -> usize {
        match self {
            Self::Reals(ends) => ends.len() - 1,
            Self::Parts { ends, .. } => ends.len() - 1,
        }
    }

    /// Whether every gap has length.
    pub fn all_differ(&self) -> bool {
        match self {
            Self::Reals(ends) => ends.windows(2).all(|pair| pair[0] < pair[1]),
            Self::Parts { ends, .. } => ends.windows(2).all(|pair| pair[0] < pair[1]),
        }
    }

    #[inline]
    pub fn gap(&self, gap: usize) -> Stretch {
        match self {
            Self::Reals(ends) => Stretch::Reals { low: ends[gap], high: ends[gap + 1] },
            Self::Parts { ends, .. } => Stretch::Places { first: ends[gap], count: ends[gap + 1] - ends[gap] },
        }
    }

    /// A uniform point of a gap: the nearest double, or its point of the grid.
    pub fn point(&self, gap: usize, entropy: &mut Entropy) -> f64 {
        match self {
            Self::Reals(ends) => Point::draw(ends[gap], ends[gap + 1], entropy).rounded(entropy),
            Self::Parts { ends, bits, grid } => {
                grid.point((ends[gap] + entropy.below(ends[gap + 1] - ends[gap])) >> bits)
            }
        }
    }
}

/// Every value as `place` has it, and both ends of the range.
fn collected<P: Copy>(
    values: &View<'_>,
    place: impl FnMut(f64) -> P,
    lower: P,
    upper: P,
) -> Result<Vec<P>, SelectError> {
    let mut ends: Vec<P> = reserved(values.len() + 2)?;
    ends.push(lower);
    append(values, &mut ends, place)?;
    ends.push(upper);
    Ok(ends)
}
