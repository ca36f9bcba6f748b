//! A range of answers, cut by the sorted values: gap i lies between value i - 1 and value i. Only gaps that have length
//! can hold an answer.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::exact::extended_float::Extended;
use crate::numbers::answer_range::Answers;
use crate::numbers::places::Places;
use crate::numbers::point::Point;
use crate::numbers::sorting::sort;
use crate::numbers::stretch::Stretch;
use crate::scores::score_view::View;

/// The cuts, and the gaps that have length.
pub struct Cuts<'a> {
    places: Places<'a>,
    /// The values' places, with both ends of the range among them.
    pub ends: Vec<f64>,
    /// How many values lie below each gap that has length, from the lowest on.
    ranks: Vec<usize>,
    /// How many values there are.
    pub values: usize,
}

impl<'a> Cuts<'a> {
    /// Values beyond the range are moved onto its ends, and on a grid into the cell of the nearest point.
    pub fn new(values: &View<'_>, places: Places<'a>, entropy: &mut Entropy) -> Result<Self, SelectError> {
        let (lower, upper) = match places.range() {
            Answers::Interval { lower, upper } => (lower, upper),
            Answers::Grid(parts) => (0.0, parts.count() as f64),
        };
        let mut ends = reserved(values.len() + 2)?;
        ends.push(lower);
        places.append(values, &mut ends, entropy)?;
        ends.push(upper);
        sort(&mut ends);
        let mut ranks = reserved(ends.len() - 1)?;
        ranks.extend((0..ends.len() - 1).filter(|&rank| ends[rank] < ends[rank + 1]));
        Ok(Self { places, ends, ranks, values: values.len() })
    }

    /// How many gaps have length.
    pub fn count(&self) -> usize {
        self.ranks.len()
    }

    /// How many values lie below such a gap.
    #[inline(always)]
    pub fn rank(&self, gap: usize) -> usize {
        self.ranks[gap]
    }

    /// The gap with so many values below.
    pub fn gap_of_rank(&self, rank: usize) -> Stretch {
        let (low, high) = (self.ends[rank], self.ends[rank + 1]);
        match self.places {
            Places::Reals { .. } => Stretch::Reals { low, high },
            Places::Parts { .. } => Stretch::Places { first: low as u64, count: (high - low) as u64 },
        }
    }

    /// The lengths of those that have one.
    pub fn lengths(&self) -> Result<Vec<Extended>, SelectError> {
        let mut lengths = reserved(self.count())?;
        lengths.extend(self.ranks.iter().map(|&rank| self.gap_of_rank(rank).length()));
        Ok(lengths)
    }

    /// A uniform answer of the gap with so many values below: the nearest double, or a point of the grid.
    pub fn answer(&self, rank: usize, entropy: &mut Entropy) -> f64 {
        match self.gap_of_rank(rank) {
            Stretch::Reals { low, high } => Point::draw(low, high, entropy).rounded(entropy),
            Stretch::Places { first, count } => self.places.answer((first + entropy.below(count)) as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;

    #[test]
    fn gaps_are_as_their_ranks_have_it() {
        let some_equal = [1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.5, 10.0];
        let all_differ: Vec<f64> = (1..10).map(f64::from).collect();
        for values in [&some_equal[..], &all_differ, &[]] {
            let places = Places::Reals { lower: 0.0, upper: 10.0 };
            let cuts = Cuts::new(&View::of(values), places, &mut seeded(0)).unwrap();
            let ranks: Vec<usize> = (0..cuts.count()).map(|gap| cuts.rank(gap)).collect();
            let ends = [&[0.0], values, &[10.0]].concat();
            let have_length = (0..=values.len()).filter(|&gap| ends[gap] < ends[gap + 1]);
            assert_eq!(ranks, have_length.collect::<Vec<_>>());
            let lengths: Vec<f64> = cuts.lengths().unwrap().iter().map(|length| length.times_power_of_two(0)).collect();
            assert_eq!(lengths, ranks.iter().map(|&rank| ends[rank + 1] - ends[rank]).collect::<Vec<_>>());
        }
    }
}
