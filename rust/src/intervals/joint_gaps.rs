//! The gaps between values that have length: only these can hold an answer.

use std::ops::Range as Span;

use crate::error::{SelectError, reserved};
use crate::intervals::cuts::Cuts;
use crate::intervals::joint_weights::Weight;

/// The gaps that have length, from the lowest on; between them lie values that are equal.
pub struct Gaps<'a> {
    pub cuts: &'a Cuts<'a>,
    /// How many values lie below each, unless no values are equal: then as many as there are gaps.
    ranks: Option<Vec<usize>>,
    /// How many values there are.
    pub values: usize,
    /// The most values between two gaps, or beyond the outermost ones.
    pub largest_step: usize,
}

impl<'a> Gaps<'a> {
    /// # Errors
    /// `Memory`.
    pub fn new(cuts: &'a Cuts<'a>) -> Result<Self, SelectError> {
        let values = cuts.gaps() - 1;
        if cuts.all_differ() {
            return Ok(Self { cuts, ranks: None, values, largest_step: 1 });
        }
        let mut ranks = reserved(cuts.gaps())?;
        ranks.extend((0..cuts.gaps()).filter(|&gap| !cuts.gap(gap).is_empty()));
        let steps = ranks.windows(2).map(|pair| pair[1] - pair[0]);
        let ends = ranks.first().copied().into_iter().chain(ranks.last().map(|last| values - last));
        let largest_step = steps.chain(ends).max().unwrap_or(0);
        Ok(Self { cuts, ranks: Some(ranks), values, largest_step })
    }

    pub fn count(&self) -> usize {
        self.ranks.as_ref().map_or(self.values + 1, Vec::len)
    }

    /// How many values lie below a gap.
    #[inline(always)]
    pub fn rank(&self, gap: usize) -> usize {
        if let Some(ranks) = &self.ranks { ranks[gap] } else { gap }
    }

    /// The first gap of `window` with more values below it than `rank`, or its end.
    pub fn first_above(&self, rank: usize, window: &Span<usize>) -> usize {
        match &self.ranks {
            Some(ranks) => window.start + ranks[window.clone()].partition_point(|&other| other <= rank),
            None => rank.saturating_add(1).clamp(window.start, window.end),
        }
    }

    /// The lengths of the gaps of all windows, mostly each once, and where a window's begin among them.
    ///
    /// # Errors
    /// `Memory`.
    pub fn lengths(&self, windows: &[Span<usize>]) -> Result<(Vec<Weight>, Vec<usize>), SelectError> {
        mostly_once(windows.iter().cloned(), |gap| Weight::from(self.cuts.gap(self.rank(gap)).length()))
    }

    /// Where the gaps end that follow `gap` with one value more each, `end` at the latest.
    #[inline]
    pub fn run_end(&self, gap: usize, end: usize) -> usize {
        if self.ranks.is_none() {
            return end;
        }
        let is_in_run = |other: usize| self.rank(other) - self.rank(gap) == other - gap;
        let mut width = 1;
        while gap + width < end && is_in_run(gap + width) {
            width *= 2;
        }
        let (mut inside, mut beyond) = (gap + width / 2, end.min(gap + width));
        while beyond - inside > 1 {
            let middle = inside.midpoint(beyond);
            if is_in_run(middle) { inside = middle } else { beyond = middle }
        }
        beyond
    }

    /// Those within `radius` ranks of the gaps on either side of rank `target`.
    pub fn around(&self, target: u64, radius: u64) -> Span<usize> {
        let saturated = |ranks: u64| usize::try_from(ranks).unwrap_or(usize::MAX);
        let (target, radius) = (saturated(target), saturated(radius));
        let all = 0..self.count();
        let above = self.first_above(target, &all);
        let low = self.rank(above.saturating_sub(1)).saturating_sub(radius);
        let high = self.rank(above.min(all.end - 1)).saturating_add(radius);
        low.checked_sub(1).map_or(0, |below| self.first_above(below, &all))..self.first_above(high, &all)
    }

    /// Whether gaps of such `ranks`, one of each level, lie within the levels' windows.
    pub fn are_within(&self, ranks: &[usize], windows: &[Span<usize>]) -> bool {
        let is_within = |(&rank, window): (&usize, &Span<usize>)| {
            !window.is_empty() && (self.rank(window.start)..=self.rank(window.end - 1)).contains(&rank)
        };
        ranks.iter().zip(windows).all(is_within)
    }
}

/// What `of` says of each gap of all windows, mostly each once, and where a window's begin.
///
/// # Errors
/// `Memory`.
pub fn mostly_once<N>(
    windows: impl ExactSizeIterator<Item = Span<usize>>,
    of: impl Fn(usize) -> N,
) -> Result<(Vec<N>, Vec<usize>), SelectError> {
    let (mut all, mut places) = (Vec::new(), reserved(windows.len())?);
    let mut run = 0..0;
    for window in windows {
        if window.start < run.start || window.start > run.end {
            run = window.start..window.start;
        }
        places.push(all.len() - (run.end - window.start));
        let new = run.end..window.end.max(run.end);
        all.try_reserve(new.len()).map_err(|_| SelectError::Memory)?;
        all.extend(new.map(&of));
        run.end = run.end.max(window.end);
    }
    Ok((all, places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::intervals::answer_range::Range;
    use crate::scan::score_view::View;

    #[test]
    fn gaps_are_as_their_ranks_have_it() {
        let some_equal = [1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.5, 10.0];
        let all_differ: Vec<f64> = (1..10).map(f64::from).collect();
        for values in [&some_equal[..], &all_differ, &[]] {
            let range = Range::Interval { lower: 0.0, upper: 10.0 };
            let cuts = Cuts::new(&View::of(values), range, &mut seeded(0)).unwrap();
            let gaps = Gaps::new(&cuts).unwrap();
            let count = gaps.count();
            let ranks: Vec<usize> = (0..count).map(|gap| gaps.rank(gap)).collect();
            let ends = [&[0.0], values, &[10.0]].concat();
            let have_length = (0..=values.len()).filter(|&gap| ends[gap] < ends[gap + 1]);
            assert_eq!(ranks, have_length.collect::<Vec<_>>());
            for (start, end) in (0..count).flat_map(|start| (start + 1..=count).map(move |end| (start, end))) {
                let run = (start..end).take_while(|gap| ranks[*gap] - ranks[start] == gap - start);
                assert_eq!(gaps.run_end(start, end), start + run.count());
                for rank in 0..values.len() + 2 {
                    let first = (start..end).find(|gap| ranks[*gap] > rank).unwrap_or(end);
                    assert_eq!(gaps.first_above(rank, &(start..end)), first);
                }
            }
            for (target, radius) in (0..=values.len()).flat_map(|target| (0..5).map(move |radius| (target, radius))) {
                let above = ranks.iter().copied().find(|&rank| rank > target).unwrap_or(ranks[count - 1]);
                let below = ranks.iter().copied().rfind(|&rank| rank <= target).unwrap_or(ranks[0]);
                let is_near = |gap: &usize| ranks[*gap] + radius >= below && ranks[*gap] <= above + radius;
                assert!(gaps.around(target as u64, radius as u64).eq((0..count).filter(is_near)));
            }
        }
    }
}
