//! An upper bound of what all paths weigh together that leave some windows of gaps, but not some wider ones.
//!
//! Messages as in `joint_paths`, of a larger law: answers in any order, and no share of the volume lost for several of
//! them in one gap. Then one level follows from the next by a sum to the left and one to the right, each a running one,
//! in plain doubles. Every rounding is made up for by a factor of 2 at the end, and what is too small for doubles by
//! adding more than it. Proof: `proofs/joint_quantiles.md`, "Drawing".

use std::ops::Range as Span;

use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt;
use crate::intervals::cuts::Cuts;
use crate::intervals::joint_costs::RankCosts;
use crate::numbers::coin::power_of_two;
use crate::numbers::extended_float::Wide;

/// Added to every message once the largest is near 1, and the least length that is not 0: keeps doubles normal.
const FLOOR: i32 = -900;
/// Added to every term and every sum: far more than a product loses that is too small for doubles.
const LEAST_TERM: i32 = -960;

/// The bound, or `None` if doubles cannot make one: of paths within `wide` that leave `narrow`, windows of each level.
///
/// # Errors
/// `Memory`, `Interrupted`.
pub fn bound_of_leaving(
    cuts: &Cuts<'_>,
    costs: &RankCosts<'_>,
    wide: &[Span<usize>],
    narrow: &[Span<usize>],
) -> Result<Option<Wide>, SelectError> {
    let (levels, gaps) = (wide.len(), cuts.gaps());
    let widest = wide.iter().map(Span::len).max().unwrap_or(0);
    // Each level adds the relative errors of a power of exp(-cost) per gap, and a few of its own.
    if (levels + 1) as f64 * (widest as f64 + 64.0) * power_of_two(-47) > 0.25 {
        return Ok(None);
    }
    // The gaps of all windows, mostly each once, and where a window's begin among them.
    let (mut used, mut places): (Vec<Wide>, Vec<usize>) = (Vec::new(), reserved(levels)?);
    let mut run = 0..0;
    for window in wide {
        if window.start < run.start || window.start > run.end {
            run = window.start..window.start;
        }
        places.push(used.len() - (run.end - window.start));
        used.extend((run.end..window.end).map(|gap| cuts.length(gap)));
        run.end = run.end.max(window.end);
    }
    let Some(unit) = used.iter().filter(|length| !length.is_zero()).map(|length| length.exponent).max() else {
        return Ok(None);
    };
    let scaled = |length: &Wide| length.times_power_of_two(-unit).max(power_of_two(FLOOR));
    let mut lengths: Vec<f64> = reserved(used.len())?;
    lengths.extend(used.iter().map(|length| if length.is_zero() { 0.0 } else { scaled(length) }));

    let last = |gap: usize| costs.factor(levels, gaps - 1 - gap).times_power_of_two(0) + power_of_two(FLOOR);
    let mut any: Vec<f64> = reserved(widest)?;
    any.extend(wide[levels - 1].clone().map(last));
    // Of those that leave the narrow windows; after the last answer none does any more.
    let mut leaving: Vec<f64> = reserved(widest)?;
    leaving.resize(narrow[levels - 1].len(), power_of_two(FLOOR));
    let (mut all_sums, mut leaving_sums) = (Sums::new(costs, widest)?, Sums::new(costs, widest)?);
    let mut exponent = levels as i64 * unit;
    for level in (0..levels).rev() {
        interrupt::check()?;
        let (outer, inner) = (wide[level].clone(), narrow[level].clone());
        let length = &lengths[places[level]..places[level] + outer.len()];
        let whole = usize::try_from(costs.wanted[level].whole).unwrap_or(usize::MAX);
        all_sums.start = outer.start;
        all_sums.terms.clear();
        all_sums
            .terms
            .extend(any.iter().zip(length).map(|(message, length)| message * length + power_of_two(LEAST_TERM)));
        all_sums.run(0.0, 0.0);
        // Where an answer before it may look: the window of `level - 1`, or gap 0 before the first answer.
        let next = if level == 0 { 0..1 } else { narrow[level - 1].clone() };
        let reach = |gap: usize| gap.saturating_add(whole).clamp(outer.start, outer.end - 1);
        let (low, high) = (inner.start.min(reach(next.start)), inner.end.max(reach(next.end) + 1).min(outer.end));
        leaving_sums.start = low;
        leaving_sums.terms.clear();
        leaving_sums.terms.extend_from_slice(&all_sums.terms[low - outer.start..high - outer.start]);
        for (gap, message) in inner.clone().zip(&leaving) {
            leaving_sums.terms[gap - low] = message * length[gap - outer.start] + power_of_two(LEAST_TERM);
        }
        let before = if low > outer.start { all_sums.up_to[low - 1 - outer.start] } else { 0.0 };
        let after = if high < outer.end { all_sums.from[high - outer.start] } else { 0.0 };
        leaving_sums.run(before, after);
        if level == 0 {
            let weight = leaving_sums.all_after(0, whole, level, costs);
            return Ok(weight.is_finite().then(|| Wide::from_f64(2.0 * weight).scaled(exponent)));
        }
        let outer = wide[level - 1].clone();
        all_sums.messages(&mut any, outer, whole, level, costs);
        leaving_sums.messages(&mut leaving, next, whole, level, costs);
        let top = any.iter().copied().fold(0.0, f64::max);
        if !top.is_finite() {
            return Ok(None);
        }
        let shift = Wide::from_f64(top).exponent;
        exponent += shift;
        let scale = power_of_two((-shift).clamp(-1000, 1000) as i32);
        for message in any.iter_mut().chain(&mut leaving) {
            *message = *message * scale + power_of_two(FLOOR);
        }
    }
    Ok(None)
}

/// Sums of terms with the costs of the ranks to them.
struct Sums {
    /// exp(-cost) of one rank, not 0.
    one: f64,
    /// The gap of the first term.
    start: usize,
    terms: Vec<f64>,
    /// With the costs from here: all terms up to here, and all from here on.
    up_to: Vec<f64>,
    from: Vec<f64>,
}

impl Sums {
    fn new(costs: &RankCosts<'_>, count: usize) -> Result<Self, SelectError> {
        let one = factor(costs, 1.0);
        Ok(Self { one, start: 0, terms: reserved(count)?, up_to: reserved(count)?, from: reserved(count)? })
    }

    /// The sums, of which what comes `before` the first term and `after` the last is known, with the costs from there.
    fn run(&mut self, before: f64, after: f64) {
        let count = self.terms.len();
        self.up_to.resize(count, 0.0);
        self.from.resize(count, 0.0);
        let (terms, up_to, from) = (&self.terms[..count], &mut self.up_to[..count], &mut self.from[..count]);
        let (mut left, mut right) = (before, after);
        // Both at once: each waits for its last step.
        for at in 0..count {
            left = left * self.one + terms[at];
            up_to[at] = left;
            right = right * self.one + terms[count - 1 - at];
            from[count - 1 - at] = right;
        }
    }

    /// What may follow an answer in `gap`, where `whole` ranks and a fraction are wanted.
    fn all_after(&self, gap: usize, whole: usize, index: usize, costs: &RankCosts<'_>) -> f64 {
        let (wanted, end) = (gap.saturating_add(whole), self.start + self.terms.len());
        let mut sum = power_of_two(LEAST_TERM);
        if wanted >= self.start {
            let nearest = wanted.min(end - 1);
            let missing = (wanted - nearest) as f64 + costs.wanted[index].fraction;
            sum += self.up_to[nearest - self.start] * factor(costs, missing);
        }
        if wanted < end - 1 {
            let nearest = (wanted + 1).max(self.start);
            let excess = (nearest - wanted - 1) as f64 + costs.wanted[index].complement;
            sum += self.from[nearest - self.start] * factor(costs, excess);
        }
        sum
    }

    /// The same for all gaps of `window`.
    fn messages(&self, into: &mut Vec<f64>, window: Span<usize>, whole: usize, index: usize, costs: &RankCosts<'_>) {
        into.clear();
        let wanted = &costs.wanted[index];
        let (missing, excess) = (factor(costs, wanted.fraction), factor(costs, wanted.complement));
        // Those with a term at the ranks wanted and one after it.
        let first = self.start.saturating_sub(whole).clamp(window.start, window.end);
        let last = (self.start + self.terms.len() - 1).saturating_sub(whole).clamp(first, window.end);
        into.extend((window.start..first).map(|gap| self.all_after(gap, whole, index, costs)));
        if first < last {
            let at = first + whole - self.start;
            let count = last - first;
            let pairs = self.up_to[at..at + count].iter().zip(&self.from[at + 1..=at + count]);
            into.extend(pairs.map(|(up_to, from)| up_to * missing + from * excess + power_of_two(LEAST_TERM)));
        }
        into.extend((last..window.end).map(|gap| self.all_after(gap, whole, index, costs)));
    }
}

/// exp(-cost) of so many ranks, or more if that is too small for doubles.
fn factor(costs: &RankCosts<'_>, ranks: f64) -> f64 {
    costs.factor_of(ranks).times_power_of_two(0).max(power_of_two(FLOOR))
}
