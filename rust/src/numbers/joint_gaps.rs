//! The gaps between values that have length: only these can hold an answer.

use crate::error::{SelectError, reserved};
use crate::exact::extended_float::Extended;
use crate::numbers::cuts::Cuts;

/// The gaps that have length, from the lowest on; between them lie values that are equal.
pub struct Gaps<'a> {
    pub cuts: &'a Cuts<'a>,
    /// How many values lie below each, unless no values are equal: then as many as there are gaps.
    ranks: Option<Vec<usize>>,
    /// How many values there are.
    pub values: usize,
}

impl<'a> Gaps<'a> {
    /// # Errors
    /// `Memory`.
    pub fn new(cuts: &'a Cuts<'a>) -> Result<Self, SelectError> {
        let values = cuts.gaps() - 1;
        if cuts.all_differ() {
            return Ok(Self { cuts, ranks: None, values });
        }
        let mut ranks = reserved(cuts.gaps())?;
        ranks.extend((0..cuts.gaps()).filter(|&gap| !cuts.gap(gap).is_empty()));
        Ok(Self { cuts, ranks: Some(ranks), values })
    }

    pub fn count(&self) -> usize {
        self.ranks.as_ref().map_or(self.values + 1, Vec::len)
    }

    /// How many values lie below a gap.
    #[inline(always)]
    pub fn rank(&self, gap: usize) -> usize {
        if let Some(ranks) = &self.ranks { ranks[gap] } else { gap }
    }

    /// Their lengths.
    ///
    /// # Errors
    /// `Memory`.
    pub fn lengths(&self) -> Result<Vec<Extended>, SelectError> {
        let mut lengths = reserved(self.count())?;
        lengths.extend((0..self.count()).map(|gap| self.cuts.gap(self.rank(gap)).length()));
        Ok(lengths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::numbers::answer_range::Answers;
    use crate::scores::score_view::View;

    #[test]
    fn gaps_are_as_their_ranks_have_it() {
        let some_equal = [1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.5, 10.0];
        let all_differ: Vec<f64> = (1..10).map(f64::from).collect();
        for values in [&some_equal[..], &all_differ, &[]] {
            let range = Answers::Interval { lower: 0.0, upper: 10.0 };
            let cuts = Cuts::new(&View::of(values), range, &mut seeded(0)).unwrap();
            let gaps = Gaps::new(&cuts).unwrap();
            let count = gaps.count();
            let ranks: Vec<usize> = (0..count).map(|gap| gaps.rank(gap)).collect();
            let ends = [&[0.0], values, &[10.0]].concat();
            let have_length = (0..=values.len()).filter(|&gap| ends[gap] < ends[gap + 1]);
            assert_eq!(ranks, have_length.collect::<Vec<_>>());
            let lengths: Vec<f64> = gaps.lengths().unwrap().iter().map(|length| length.times_power_of_two(0)).collect();
            assert_eq!(lengths, ranks.iter().map(|&rank| ends[rank + 1] - ends[rank]).collect::<Vec<_>>());
        }
    }
}
