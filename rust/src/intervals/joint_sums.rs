//! Sums over all later gaps of a message times exp(-cost), where the cost grows linearly to both sides of the gap that
//! has the ranks wanted: two running sums, so that all of them together take as long as there are gaps.

use std::ops::Range as Span;

use crate::error::SelectError;
use crate::error::reserved;
use crate::intervals::joint_steps::Steps;
use crate::numbers::extended_float::Wide;

/// Running sums of one level's messages.
pub struct Sums<'a> {
    steps: &'a Steps<'a>,
    index: usize,
    span: Span<usize>,
    /// From here on, the costs of ranks too many.
    after: Vec<Wide>,
    /// Blocks as wide as the whole ranks wanted: from a block's start up to here, the costs of ranks missing here ...
    start_to: Vec<Wide>,
    /// ... and from here to the block's end, the costs of ranks missing there.
    to_end: Vec<Wide>,
    width: usize,
    /// exp(-cost) of 0, 1, 2, ... ranks.
    powers: Vec<Wide>,
}

impl<'a> Sums<'a> {
    /// Of messages for the gaps of `span`, reached by step `index`.
    ///
    /// # Errors
    /// `Memory`.
    pub fn new(messages: &[Wide], span: Span<usize>, index: usize, steps: &'a Steps<'a>) -> Result<Self, SelectError> {
        let count = messages.len();
        let width = usize::try_from(steps.each[index].whole).unwrap_or(usize::MAX).clamp(1, count.max(1));
        let mut powers = reserved(width + 1)?;
        powers.extend((0..=width).map(|ranks| steps.factor_of(ranks as f64)));
        let (mut after, mut start_to, mut to_end) = (reserved(count)?, reserved(count)?, reserved(count)?);
        after.resize(count, Wide::ZERO);
        start_to.resize(count, Wide::ZERO);
        to_end.resize(count, Wide::ZERO);
        let one = powers[1];
        for at in 0..count {
            start_to[at] = messages[at];
            if at % width > 0 {
                start_to[at] = messages[at].plus(one.times(start_to[at - 1]));
            }
        }
        for at in (0..count).rev() {
            let end = (at - at % width + width).min(count) - 1;
            after[at] = messages[at];
            to_end[at] = messages[at].times(powers[end - at]);
            if at < end {
                to_end[at] = to_end[at].plus(to_end[at + 1]);
            }
            if at + 1 < count {
                after[at] = messages[at].plus(one.times(after[at + 1]));
            }
        }
        Ok(Self { steps, index, span, after, start_to, to_end, width, powers })
    }

    /// The sum over all gaps of the span that come after `gap`.
    #[must_use]
    pub fn beyond(&self, gap: usize) -> Wide {
        let step = &self.steps.each[self.index];
        let whole = usize::try_from(step.whole).unwrap_or(usize::MAX);
        let (low, high) = (self.span.start, self.span.end);
        let mut sum = Wide::ZERO;
        let first = gap.saturating_add(whole).saturating_add(1);
        if first < high {
            let missed = low.saturating_sub(first);
            sum = self.steps.factor_of(missed as f64 + step.complement).times(self.after[first.max(low) - low]);
        }
        let wanted = gap.saturating_add(whole);
        let (start, end) = ((gap + 1).max(low), wanted.min(high.saturating_sub(1)));
        if start <= end {
            let near = self.window(start - low, end - low);
            sum = sum.plus(self.steps.factor_of((wanted - end) as f64 + step.fraction).times(near));
        }
        sum
    }

    /// The sum of the messages from `start` to `end`, with the costs of the ranks missing at `end`. A window is as wide
    /// as a block, unless it is cut off at an end of the span.
    fn window(&self, start: usize, end: usize) -> Wide {
        if start.is_multiple_of(self.width) && end - start < self.width {
            return self.start_to[end];
        }
        if start / self.width == end / self.width {
            return self.to_end[start]; // cut off at the end of the span, the end of the last block
        }
        let block_end = start - start % self.width + self.width - 1;
        self.start_to[end].plus(self.to_end[start].times(self.powers[end - block_end]))
    }
}
