//! An upper bound of what all paths weigh together that leave some windows of gaps, but not some wider ones.
//!
//! Messages as in `joint_paths`, of a larger law: answers in any order, and no share of the volume lost for several of
//! them in one gap. Then one level follows from the next by a sum to the left and one to the right, each a running one,
//! in plain doubles if no two gaps have very many values between them. Every rounding is made up for by a factor of 2 at
//! the end, and what is too small for doubles by adding more than it. Proof: `proofs/joint_quantiles.md`, "Drawing".

use std::ops::Range as Span;

use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt;
use crate::intervals::joint_costs::{Factors, RankCosts};
use crate::intervals::joint_gaps::{Gaps, mostly_once};
use crate::intervals::joint_weights::Weight;
use crate::numbers::coin::power_of_two;
use crate::numbers::extended_float::Extended;

/// What the sums are made of.
trait Number: Copy + PartialOrd {
    const NOTHING: Self;
    /// Added to every message once the largest is near 1, and the least of all lengths and factors: keeps doubles normal.
    const FLOOR: Self;
    /// Added to every term and every sum: far more than a product loses that is too small for doubles.
    const LEAST_TERM: Self;

    /// `weight * 2^exponent`, or more if that is too small.
    fn of(weight: Weight, exponent: i64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// As a weight, unless it overflowed.
    fn weight(self) -> Option<Weight>;
}

impl Number for f64 {
    const NOTHING: Self = 0.0;
    const FLOOR: Self = f64::from_bits((1023 - 900) << 52);
    const LEAST_TERM: Self = f64::from_bits((1023 - 960) << 52);

    fn of(weight: Weight, exponent: i64) -> Self {
        weight.times_power_of_two(exponent).max(Self::FLOOR)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self * other
    }

    fn weight(self) -> Option<Weight> {
        self.is_finite().then(|| Weight::of(self))
    }
}

impl Number for Weight {
    const NOTHING: Self = Self::ZERO;
    const FLOOR: Self = Self::ZERO;
    const LEAST_TERM: Self = Self::ZERO;

    fn of(weight: Weight, exponent: i64) -> Self {
        Self::from(Extended::from(weight).scaled(exponent))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.plus(other)
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.times(other)
    }

    fn weight(self) -> Option<Weight> {
        Some(self)
    }
}

/// Steps up to this cost leave room enough in doubles.
const LARGEST_STEP: f64 = 200.0;

/// The bound, or `None` if doubles cannot make one: of paths within `wide` that leave `narrow`, windows of each level.
///
/// # Errors
/// `Memory`, `Interrupted`.
pub fn bound_of_leaving(
    gaps: &Gaps<'_>,
    costs: &RankCosts<'_>,
    wide: &[Span<usize>],
    narrow: &[Span<usize>],
) -> Result<Option<Extended>, SelectError> {
    let widest = wide.iter().map(Span::len).max().unwrap_or(0);
    // Each level adds the relative errors of a power of exp(-cost) per gap, and a few of its own.
    let values = (gaps.values as f64).min(widest as f64 * gaps.largest_step as f64);
    if (wide.len() + 1) as f64 * (widest as f64 + values * costs.exponent(1.0) + 64.0) * power_of_two(-47) > 0.25 {
        return Ok(None);
    }
    if costs.exponent(gaps.largest_step as f64) <= LARGEST_STEP {
        Levels::<f64>::new(gaps, costs, widest, wide)?.bound(wide, narrow)
    } else {
        Levels::<Weight>::new(gaps, costs, widest, wide)?.bound(wide, narrow)
    }
}

/// What all levels need.
struct Levels<'a, N> {
    gaps: &'a Gaps<'a>,
    factors: Factors<'a>,
    widest: usize,
    /// exp(-cost) of the ranks from the gap before to each gap of a window and the one after it, and where a window's
    /// begin.
    steps: Vec<N>,
    step_places: Vec<usize>,
}

impl<'a, N: Number> Levels<'a, N> {
    fn new(
        gaps: &'a Gaps<'a>,
        costs: &'a RankCosts<'a>,
        widest: usize,
        wide: &[Span<usize>],
    ) -> Result<Self, SelectError> {
        // Ranks that cost this much are as good as none.
        let enough = (700.0 / costs.exponent(1.0)) as usize;
        let factors = Factors::new(costs, enough.min(widest) + 2)?;
        let one = N::of(factors.power(1), 0);
        let windows = wide.iter().map(|window| window.start..window.end + 1);
        // Nothing comes from below the first gap or from above the last.
        let (steps, step_places) = mostly_once(windows, |gap| match gap {
            0 => N::NOTHING,
            gap if gap == gaps.count() => N::NOTHING,
            gap => match gaps.rank(gap) - gaps.rank(gap - 1) {
                1 => one,
                ranks => N::of(factors.power(ranks), 0),
            },
        })?;
        Ok(Self { gaps, factors, widest, steps, step_places })
    }

    /// The first gap of `window` with more ranks than wanted before answer `index`, from `rank` on.
    fn beyond(&self, rank: usize, index: usize, window: &Span<usize>) -> usize {
        self.gaps.first_above(rank.saturating_add(self.factors.whole(index)), window)
    }

    fn bound(&self, wide: &[Span<usize>], narrow: &[Span<usize>]) -> Result<Option<Extended>, SelectError> {
        let (levels, gaps) = (wide.len(), self.gaps);
        let (lengths, places) = gaps.lengths(wide)?;
        let most = lengths.iter().copied().fold(Weight::ZERO, Weight::max);
        let unit = Extended::from(most).exponent;
        let mut scaled: Vec<N> = reserved(lengths.len())?;
        scaled.extend(lengths.iter().map(|&length| N::of(length, -unit)));

        let last = |gap: usize| N::of(self.factors.between(levels, gaps.values - gaps.rank(gap)), 0);
        let mut any: Vec<N> = reserved(self.widest)?;
        any.extend(wide[levels - 1].clone().map(last));
        // Of those that leave the narrow windows; after the last answer none does any more.
        let mut leaving: Vec<N> = reserved(self.widest)?;
        leaving.resize(narrow[levels - 1].len(), N::FLOOR);
        let (mut all_sums, mut leaving_sums) = (Sums::new(self.widest)?, Sums::new(self.widest)?);
        let mut exponent = levels as i64 * unit;
        for level in (0..levels).rev() {
            interrupt::check()?;
            let (outer, inner) = (wide[level].clone(), narrow[level].clone());
            let length = &scaled[places[level]..places[level] + outer.len()];
            let term = |message: &N, length: &N| message.times(*length).plus(N::LEAST_TERM);
            all_sums.start = outer.start;
            all_sums.terms.clear();
            all_sums.terms.extend(any.iter().zip(length).map(|(message, length)| term(message, length)));
            let steps = &self.steps[self.step_places[level]..];
            all_sums.run(N::NOTHING, N::NOTHING, steps);
            // Where an answer before it may look: the window of `level - 1`, or the lower end before the first answer.
            let first = if level == 0 { 0 } else { gaps.rank(narrow[level - 1].start) };
            let final_one = if level == 0 { 0 } else { gaps.rank(narrow[level - 1].end - 1) };
            let (from, to) = (self.beyond(first, level, &outer), self.beyond(final_one, level, &outer));
            let low = inner.start.min(from.max(outer.start + 1) - 1);
            let high = inner.end.max((to + 1).min(outer.end));
            leaving_sums.start = low;
            leaving_sums.terms.clear();
            leaving_sums.terms.extend_from_slice(&all_sums.terms[low - outer.start..high - outer.start]);
            for (gap, message) in inner.clone().zip(&leaving) {
                leaving_sums.terms[gap - low] = term(message, &length[gap - outer.start]);
            }
            let before = if low > outer.start { all_sums.up_to[low - 1 - outer.start] } else { N::NOTHING };
            let after = if high < outer.end { all_sums.from[high - outer.start] } else { N::NOTHING };
            leaving_sums.run(before, after, &steps[low - outer.start..]);
            if level == 0 {
                let weight = self.all_after(&leaving_sums, from, 0, level).weight();
                return Ok(weight.map(|weight| Extended::from(weight).scaled(exponent + 1)));
            }
            self.messages(&all_sums, &mut any, wide[level - 1].clone(), level);
            self.messages(&leaving_sums, &mut leaving, narrow[level - 1].clone(), level);
            let top = any.iter().copied().fold(N::NOTHING, |a, b| if a < b { b } else { a });
            let Some(top) = top.weight() else { return Ok(None) };
            let shift = Extended::from(top).exponent;
            exponent += shift;
            let scale = N::of(Weight::from(Extended::from_f64(1.0).scaled(-shift)), 0);
            for message in any.iter_mut().chain(&mut leaving) {
                *message = message.times(scale).plus(N::FLOOR);
            }
        }
        Ok(None)
    }

    /// What may follow an answer with `rank` values below it, of which `beyond` is the first gap with more ranks than
    /// wanted.
    #[inline(always)]
    fn all_after(&self, sums: &Sums<N>, beyond: usize, rank: usize, index: usize) -> N {
        let (wanted, end) = (rank.saturating_add(self.factors.whole(index)), sums.start + sums.terms.len());
        let mut sum = N::LEAST_TERM;
        if beyond > sums.start {
            let nearest = beyond - 1;
            let missing = self.factors.missing(index, wanted - self.gaps.rank(nearest));
            sum = sum.plus(sums.up_to[nearest - sums.start].times(N::of(missing, 0)));
        }
        if beyond < end {
            let excess = self.factors.excess(index, self.gaps.rank(beyond) - wanted - 1);
            sum = sum.plus(sums.from[beyond - sums.start].times(N::of(excess, 0)));
        }
        sum
    }

    /// The same for all gaps of `window`.
    fn messages(&self, sums: &Sums<N>, into: &mut Vec<N>, window: Span<usize>, index: usize) {
        into.clear();
        let (gaps, end) = (self.gaps, sums.start + sums.terms.len());
        let (missing, excess) = (N::of(self.factors.missing(index, 0), 0), N::of(self.factors.excess(index, 0), 0));
        let mut beyond = self.beyond(gaps.rank(window.start), index, &(sums.start..end));
        let mut gap = window.start;
        while gap < window.end {
            let wanted = gaps.rank(gap).saturating_add(self.factors.whole(index));
            while beyond < end && gaps.rank(beyond) <= wanted {
                beyond += 1;
            }
            // As long as no values are equal, the gaps that follow do with those that follow the ranks wanted as this one.
            let is_inside = sums.start < beyond && beyond < end && gaps.rank(beyond - 1) == wanted;
            let beyond_run = if is_inside { gaps.run_end(beyond - 1, end) } else { beyond };
            if beyond_run > beyond {
                let alike = (gaps.run_end(gap, window.end) - gap).min(beyond_run - beyond);
                let at = beyond - sums.start;
                let pairs = sums.up_to[at - 1..at - 1 + alike].iter().zip(&sums.from[at..at + alike]);
                into.extend(
                    pairs.map(|(up_to, from)| up_to.times(missing).plus(from.times(excess)).plus(N::LEAST_TERM)),
                );
                (gap, beyond) = (gap + alike, beyond + alike - 1);
            } else {
                into.push(self.all_after(sums, beyond, gaps.rank(gap), index));
                gap += 1;
            }
        }
    }
}

/// Sums of terms with the costs of the ranks to them.
struct Sums<N> {
    /// The gap of the first term.
    start: usize,
    terms: Vec<N>,
    /// With the costs from here: all terms up to here, and all from here on.
    up_to: Vec<N>,
    from: Vec<N>,
}

impl<N: Number> Sums<N> {
    fn new(count: usize) -> Result<Self, SelectError> {
        Ok(Self { start: 0, terms: reserved(count)?, up_to: reserved(count)?, from: reserved(count)? })
    }

    /// The sums, of which what comes `before` the first term and `after` the last is known, with the costs from the gaps
    /// there; `steps` are those from the gap before the first term on.
    fn run(&mut self, before: N, after: N, steps: &[N]) {
        let count = self.terms.len();
        self.up_to.resize(count, N::NOTHING);
        self.from.resize(count, N::NOTHING);
        let (terms, up_to, from) = (&self.terms[..count], &mut self.up_to[..count], &mut self.from[..count]);
        let steps = &steps[..=count];
        let (mut left, mut right) = (before, after);
        // Both at once: each waits for its last step.
        for at in 0..count {
            left = left.times(steps[at]).plus(terms[at]);
            up_to[at] = left;
            right = right.times(steps[count - at]).plus(terms[count - 1 - at]);
            from[count - 1 - at] = right;
        }
    }
}
