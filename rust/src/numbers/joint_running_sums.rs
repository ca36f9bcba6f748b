//! Sums over all later gaps of a message times exp(-cost), where the cost grows linearly to both sides of the gap that
//! has the ranks wanted: running sums, so that all of them together take as long as there are gaps.

use crate::error::SelectError;
use crate::error::reserved;
use crate::exact::extended_float::Extended;
use crate::numbers::joint_costs::Factors;
use crate::numbers::joint_gaps::Gaps;

/// Running sums of one level's messages.
#[derive(Default)]
pub struct RunningSums {
    /// Of each gap, from here on, the costs of ranks too many.
    from_here: Vec<Extended>,
    /// Blocks as wide as the whole ranks wanted, each with the number of its first gap: from a block's start up to here,
    /// the costs of ranks missing here ...
    start_to: Vec<Extended>,
    first: Vec<usize>,
    /// ... and from here to the block's end, the costs of ranks missing there.
    to_end: Vec<Extended>,
    /// The costs from the end of the block before.
    across: Vec<Extended>,
}

impl RunningSums {
    /// With room for so many messages.
    ///
    /// # Errors
    /// `Memory`.
    pub fn new(count: usize) -> Result<Self, SelectError> {
        let room = || reserved::<Extended>(count);
        let first = reserved(count)?;
        Ok(Self { from_here: room()?, start_to: room()?, first, to_end: room()?, across: room()? })
    }

    /// Sum up `messages` of answer `index`.
    fn fill(&mut self, messages: &[Extended], gaps: &Gaps<'_>, index: usize, factors: &Factors<'_>) {
        let (count, width) = (messages.len(), factors.whole(index).max(1));
        let rank = |at: usize| gaps.rank(at);
        for sums in [&mut self.from_here, &mut self.start_to, &mut self.to_end, &mut self.across] {
            sums.resize(count, Extended::ZERO);
        }
        self.first.resize(count, 0);
        let (mut first, mut end) = (0, rank(0).saturating_add(width));
        let (mut to_here, mut across) = (messages[0], factors.power(0));
        (self.start_to[0], self.first[0], self.across[0]) = (to_here, 0, across);
        for at in 1..count {
            let step = factors.power(rank(at) - rank(at - 1));
            if rank(at) >= end {
                (first, end) = (at, end.saturating_add((rank(at) - end) / width * width).saturating_add(width));
                (to_here, across) = (messages[at], step);
            } else {
                to_here = messages[at].plus(step.times(to_here));
                across = across.times(step);
            }
            (self.start_to[at], self.first[at], self.across[at]) = (to_here, first, across);
        }
        let (mut from_here, mut to_end, mut power) = (Extended::ZERO, Extended::ZERO, factors.power(0));
        for at in (0..count).rev() {
            let is_last = at + 1 == count || self.first[at + 1] == at + 1;
            let step = if at + 1 == count { power } else { factors.power(rank(at + 1) - rank(at)) };
            from_here = messages[at].plus(step.times(from_here));
            power = if is_last { factors.power(0) } else { power.times(step) };
            to_end = if is_last { messages[at] } else { messages[at].times(power).plus(to_end) };
            (self.from_here[at], self.to_end[at]) = (from_here, to_end);
        }
    }

    /// For each gap, the sum over all later ones, which have these `messages` of answer `index`.
    pub fn after(
        &mut self,
        messages: &[Extended],
        gaps: &Gaps<'_>,
        index: usize,
        factors: &Factors<'_>,
        mut take: impl FnMut(Extended),
    ) {
        self.fill(messages, gaps, index, factors);
        let whole = factors.whole(index);
        // The first gap with more ranks than wanted.
        let mut beyond = 0;
        let count = messages.len();
        for gap in 0..count {
            let wanted = gaps.rank(gap).saturating_add(whole);
            while beyond < count && gaps.rank(beyond) <= wanted {
                beyond += 1;
            }
            let mut sum = Extended::ZERO;
            if beyond < count {
                sum = factors.excess(index, gaps.rank(beyond) - wanted - 1).times(self.from_here[beyond]);
            }
            if gap + 1 < beyond {
                let missing = factors.missing(index, wanted - gaps.rank(beyond - 1));
                sum = sum.plus(missing.times(self.between(gap + 1, beyond - 1)));
            }
            take(sum);
        }
    }

    /// The sum of the messages from `start` to `end`, with the costs of the ranks missing at `end`. These are all gaps in
    /// as many ranks as a block has, but for those cut off at an end of all.
    fn between(&self, start: usize, end: usize) -> Extended {
        let block = self.first[end];
        if block == start {
            self.start_to[end]
        } else if self.first[start] == block {
            self.to_end[start]
        } else {
            self.start_to[end].plus(self.to_end[start].times(self.across[end]))
        }
    }
}
