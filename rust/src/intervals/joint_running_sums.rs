//! Sums over all later gaps of a message times exp(-cost), where the cost grows linearly to both sides of the gap that
//! has the ranks wanted: running sums, so that all of them together take as long as there are gaps.

use std::ops::Range as Span;

use crate::error::SelectError;
use crate::error::reserved;
use crate::intervals::joint_costs::RankCosts;
use crate::numbers::extended_float::Wide;

/// Running sums of one level's messages.
pub struct RunningSums<'a> {
    costs: &'a RankCosts<'a>,
    /// The ranks wanted on the way to this level.
    whole: usize,
    fraction: f64,
    complement: f64,
    /// exp(-cost) of the fraction missing, and of the complement too many.
    least_missing: Wide,
    least_excess: Wide,
    span: Span<usize>,
    /// From here on, the costs of ranks too many.
    from_here: Vec<Wide>,
    /// Blocks as wide as the whole ranks wanted: from a block's start up to here, the costs of ranks missing here ...
    start_to: Vec<Wide>,
    /// ... and from here to the block's end, the costs of ranks missing there.
    to_end: Vec<Wide>,
    width: usize,
    /// exp(-cost) of 0, 1, 2, ... ranks.
    powers: Vec<Wide>,
}

impl<'a> RunningSums<'a> {
    /// Of messages for the gaps of `span`, for answers of level `index`.
    ///
    /// # Errors
    /// `Memory`.
    pub fn new(
        messages: &[Wide],
        span: Span<usize>,
        index: usize,
        costs: &'a RankCosts<'a>,
    ) -> Result<Self, SelectError> {
        let count = messages.len();
        let wanted = &costs.wanted[index];
        let whole = usize::try_from(wanted.whole).unwrap_or(usize::MAX);
        let width = whole.clamp(1, count.max(1));
        let mut powers = reserved(width + 1)?;
        powers.extend((0..=width).map(|ranks| costs.factor_of(ranks as f64)));
        let (mut from_here, mut start_to, mut to_end) = (reserved(count)?, reserved(count)?, reserved(count)?);
        from_here.resize(count, Wide::ZERO);
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
            from_here[at] = messages[at];
            to_end[at] = messages[at].times(powers[end - at]);
            if at < end {
                to_end[at] = to_end[at].plus(to_end[at + 1]);
            }
            if at + 1 < count {
                from_here[at] = messages[at].plus(one.times(from_here[at + 1]));
            }
        }
        let (fraction, complement) = (wanted.fraction, wanted.complement);
        let (least_missing, least_excess) = (costs.factor_of(fraction), costs.factor_of(complement));
        let (powers, width) = (powers, width);
        Ok(Self {
            costs,
            whole,
            fraction,
            complement,
            least_missing,
            least_excess,
            span,
            from_here,
            start_to,
            to_end,
            width,
            powers,
        })
    }

    /// The sum over all gaps of the span that come after `gap`.
    #[must_use]
    pub fn after(&self, gap: usize) -> Wide {
        let (low, high) = (self.span.start, self.span.end);
        let mut sum = Wide::ZERO;
        let wanted = gap.saturating_add(self.whole);
        let first = wanted.saturating_add(1);
        if first < high {
            let missed = low.saturating_sub(first);
            let factor = self.factor(missed, self.complement, self.least_excess);
            sum = factor.times(self.from_here[first.max(low) - low]);
        }
        let (start, end) = ((gap + 1).max(low), wanted.min(high.saturating_sub(1)));
        if start <= end {
            let factor = self.factor(wanted - end, self.fraction, self.least_missing);
            sum = sum.plus(factor.times(self.window(start - low, end - low)));
        }
        sum
    }

    /// exp(-cost) of so many whole ranks and a part, of which the latter's is known.
    fn factor(&self, whole: usize, part: f64, of_part: Wide) -> Wide {
        if whole == 0 { of_part } else { self.costs.factor_of(whole as f64 + part) }
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
