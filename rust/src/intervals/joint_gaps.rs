//! The gaps between values that have length: only these can hold an answer.

use std::ops::Range as Span;

use crate::error::SelectError;
use crate::error::reserved;
use crate::intervals::cuts::Cuts;
use crate::intervals::joint_weights::Weight;

/// The gaps that have length, from the lowest on; between them lie values that are equal.
pub struct Gaps<'a> {
    pub cuts: &'a Cuts<'a>,
    /// How many values lie below each.
    pub ranks: Vec<usize>,
    /// How many values there are.
    pub values: usize,
}

impl<'a> Gaps<'a> {
    /// # Errors
    /// `Memory`.
    pub fn new(cuts: &'a Cuts<'a>) -> Result<Self, SelectError> {
        let mut ranks = reserved(cuts.gaps())?;
        if cuts.all_differ() {
            ranks.extend(0..cuts.gaps());
        } else {
            ranks.extend((0..cuts.gaps()).filter(|&gap| !cuts.gap(gap).is_empty()));
        }
        Ok(Self { cuts, ranks, values: cuts.gaps() - 1 })
    }

    pub fn count(&self) -> usize {
        self.ranks.len()
    }

    /// The lengths of the gaps of all windows, mostly each once, and where a window's begin among them.
    ///
    /// # Errors
    /// `Memory`.
    pub fn lengths(&self, windows: &[Span<usize>]) -> Result<(Vec<Weight>, Vec<usize>), SelectError> {
        let (mut lengths, mut places) = (Vec::new(), reserved(windows.len())?);
        let mut run = 0..0;
        for window in windows {
            if window.start < run.start || window.start > run.end {
                run = window.start..window.start;
            }
            places.push(lengths.len() - (run.end - window.start));
            let new = run.end..window.end.max(run.end);
            lengths.try_reserve(new.len()).map_err(|_| SelectError::Memory)?;
            lengths.extend(new.map(|gap| Weight::from(self.cuts.gap(self.ranks[gap]).length())));
            run.end = run.end.max(window.end);
        }
        Ok((lengths, places))
    }

    /// For each gap, where the gaps end that follow it with one value more each.
    ///
    /// # Errors
    /// `Memory`.
    pub fn run_ends(&self) -> Result<Vec<usize>, SelectError> {
        let mut ends = reserved(self.count())?;
        ends.resize(self.count(), self.count());
        if self.count() == self.values + 1 {
            return Ok(ends);
        }
        for gap in (1..self.count()).rev() {
            ends[gap - 1] = if self.ranks[gap] - self.ranks[gap - 1] == 1 { ends[gap] } else { gap };
        }
        Ok(ends)
    }

    /// The most values between two gaps, or beyond the outermost ones.
    pub fn largest_step(&self) -> usize {
        if self.count() == self.values + 1 {
            return 1;
        }
        let steps = self.ranks.windows(2).map(|pair| pair[1] - pair[0]);
        let ends = self.ranks.first().copied().into_iter().chain(self.ranks.last().map(|last| self.values - last));
        steps.chain(ends).max().unwrap_or(0)
    }

    /// Those within `radius` ranks of the gaps on either side of rank `target`.
    pub fn around(&self, target: u64, radius: u64) -> Span<usize> {
        let rank = |index: usize| self.ranks[index] as u64;
        let last = self.count() - 1;
        let above = self.ranks.partition_point(|&rank| rank as u64 <= target);
        let low = rank(above.saturating_sub(1)).saturating_sub(radius);
        let high = rank(above.min(last)).saturating_add(radius);
        let end = self.ranks.partition_point(|&rank| rank as u64 <= high);
        self.ranks.partition_point(|&rank| (rank as u64) < low)..end
    }

    /// Whether gaps of such `ranks`, one of each level, lie within the levels' windows.
    pub fn are_within(&self, ranks: &[usize], windows: &[Span<usize>]) -> bool {
        let is_within = |(&rank, window): (&usize, &Span<usize>)| {
            !window.is_empty() && (self.ranks[window.start]..=self.ranks[window.end - 1]).contains(&rank)
        };
        ranks.iter().zip(windows).all(is_within)
    }
}
