//! Paths of gaps, one for each level, with probability nearly proportional to their weight.
//!
//! The weight of a path is the volume of the increasing answers in its gaps, times exp(-cost). Messages run from the
//! last level to the first and hold the weight of all that can follow; a path is then chosen forwards, by integer
//! weights, so that its probability is known exactly and the error of the messages can be made up for afterwards.

use std::ops::Range as Span;

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt::{self, check_deep};
use crate::intervals::cuts::Cuts;
use crate::intervals::joint_costs::RankCosts;
use crate::intervals::joint_running_sums::RunningSums;
use crate::numbers::coin::power_of_two;
use crate::numbers::extended_float::Wide;

/// Paths within windows of gaps, all of them or only those that leave some narrower windows.
pub struct Paths<'a> {
    cuts: &'a Cuts<'a>,
    costs: &'a RankCosts<'a>,
    /// The gaps each level may use.
    pub windows: Vec<Span<usize>>,
    /// Windows that one level at least has to leave.
    to_leave: Option<Vec<Span<usize>>>,
    /// What may follow, whatever was left so far; and if nothing was yet and something has to be.
    free: Messages,
    bound: Messages,
    /// The weight of all paths.
    pub total: Wide,
}

/// Weights for each gap of each level's window.
#[derive(Default)]
struct Messages {
    /// Of all that comes from the first answer in a gap on, this one included.
    entries: Vec<Vec<Wide>>,
    /// The same from after the last answer in a gap.
    exits: Vec<Vec<Wide>>,
}

/// A path that was chosen.
pub struct Path {
    /// The gap of each level, which is also how many values lie below the answer.
    pub gaps: Vec<usize>,
    /// It was chosen with the probability `chance / out_of`.
    pub chance: UBig,
    pub out_of: UBig,
    /// `weight * out_of / chance`, nearly.
    pub ratio: Wide,
}

/// Bits of the largest weight of a choice, at most.
const WEIGHT_BITS: u32 = 50;

impl<'a> Paths<'a> {
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub fn new(
        cuts: &'a Cuts<'a>,
        costs: &'a RankCosts<'a>,
        windows: Vec<Span<usize>>,
        to_leave: Option<Vec<Span<usize>>>,
    ) -> Result<Self, SelectError> {
        let (levels, has_to_leave) = (windows.len(), to_leave.is_some());
        let (free, bound) = (Messages::default(), Messages::default());
        let mut paths = Self { cuts, costs, windows, to_leave, free, bound, total: Wide::ZERO };
        let kinds = if has_to_leave { &[false, true][..] } else { &[false] };
        for &is_bound in kinds {
            let messages = paths.messages_mut(is_bound);
            messages.entries.resize_with(levels, Vec::new);
            messages.exits.resize_with(levels, Vec::new);
        }
        for level in (0..levels).rev() {
            for &is_bound in kinds {
                interrupt::check()?;
                let exits = paths.exits_of(level, is_bound)?;
                paths.messages_mut(is_bound).exits[level] = exits;
            }
            for &is_bound in kinds {
                interrupt::check()?;
                let entries = paths.entries_of(level, is_bound)?;
                paths.messages_mut(is_bound).entries[level] = entries;
            }
        }
        let first = paths.next_weights(0, 0, 0, has_to_leave)?;
        paths.total = first.into_iter().fold(Wide::ZERO, Wide::plus);
        Ok(paths)
    }

    fn messages(&self, is_bound: bool) -> &Messages {
        if is_bound { &self.bound } else { &self.free }
    }

    fn messages_mut(&mut self, is_bound: bool) -> &mut Messages {
        if is_bound { &mut self.bound } else { &mut self.free }
    }

    /// Whether something has still to be left after an answer of `level` in `gap`.
    fn stays_bound(&self, is_bound: bool, level: usize, gap: usize) -> bool {
        is_bound && self.to_leave.as_ref().is_none_or(|windows| windows[level].contains(&gap))
    }

    fn exits_of(&self, level: usize, is_bound: bool) -> Result<Vec<Wide>, SelectError> {
        let window = self.windows[level].clone();
        let mut exits = reserved(window.len())?;
        if level + 1 == self.windows.len() {
            let last = self.cuts.gaps() - 1;
            let factor = |gap| if is_bound { Wide::ZERO } else { self.costs.factor(level + 1, last - gap) };
            exits.extend(window.map(factor));
        } else {
            let next = self.windows[level + 1].clone();
            let sums = RunningSums::new(&self.messages(is_bound).entries[level + 1], next, level + 1, self.costs)?;
            exits.extend(window.map(|gap| if self.cuts.length(gap).is_zero() { Wide::ZERO } else { sums.after(gap) }));
        }
        Ok(exits)
    }

    fn entries_of(&self, level: usize, is_bound: bool) -> Result<Vec<Wide>, SelectError> {
        let window = self.windows[level].clone();
        let mut entries = reserved(window.len())?;
        entries.extend(window.map(|gap| {
            check_deep();
            let mut sum = Wide::ZERO;
            self.for_runs(level, gap, is_bound, |weight| sum = sum.plus(weight));
            sum
        }));
        Ok(entries)
    }

    /// The weights of 1, 2, ... answers in `gap`, the first that of `level`, with all that follows.
    fn for_runs(&self, level: usize, gap: usize, mut is_bound: bool, mut take: impl FnMut(Wide)) {
        let length = self.cuts.length(gap);
        let mut volume = length;
        for last in level..self.windows.len() {
            if !self.windows[last].contains(&gap) || length.is_zero() {
                break;
            }
            if last > level {
                // An increasing point more: its share of the volume, and no value between the two.
                let share = Wide::from_f64(1.0 / (last - level + 1) as f64);
                volume = volume.times(length).times(share).times(self.costs.factor(last, 0));
            }
            is_bound = self.stays_bound(is_bound, last, gap);
            take(volume.times(self.messages(is_bound).exits[last][gap - self.windows[last].start]));
        }
    }

    /// The weights of the gaps from `first` on for a first answer at `level`, where the answer before is in gap `from`.
    fn next_weights(&self, level: usize, from: usize, first: usize, is_bound: bool) -> Result<Vec<Wide>, SelectError> {
        let window = self.windows[level].clone();
        let mut weights = reserved(window.len())?;
        weights.extend(window.clone().zip(&self.messages(is_bound).entries[level]).map(|(gap, entry)| {
            if gap < first || entry.is_zero() { Wide::ZERO } else { entry.times(self.costs.factor(level, gap - from)) }
        }));
        Ok(weights)
    }

    /// How far, relative, a path's `ratio` may be from `total`, and both from what they stand for.
    #[must_use]
    pub fn margin(cuts: &Cuts<'_>, costs: &RankCosts<'_>, windows: &[Span<usize>]) -> f64 {
        let most = windows.iter().map(Span::len).max().unwrap_or(0);
        let (widest, levels) = (most as f64, windows.len() as f64);
        // A factor's exponent is at most that of all ranks; each carries (1 + x) 2^-49, and a running sum as many
        // roundings as it has terms.
        let x = costs.exponent(cuts.gaps() as f64);
        let messages = (levels + 2.0) * ((2.0 * widest + 16.0) * (1.0 + costs.exponent(1.0)) + x);
        // Every choice rounds each of its weights up to the next whole number.
        let bits = bits_for(most.max(windows.len()));
        let choices = 2.0 * levels * (widest + levels) * 2.0 * power_of_two(-(bits as i32));
        messages * power_of_two(-48) + choices
    }

    /// Choose a path.
    ///
    /// # Errors
    /// `NoCandidates` if no path has a weight, `Memory`, `Interrupted`.
    pub fn draw<E: Entropy>(&self, entropy: &mut E) -> Result<Path, SelectError> {
        let levels = self.windows.len();
        let mut path =
            Path { gaps: reserved(levels)?, chance: UBig::ONE, out_of: UBig::ONE, ratio: Wide::from_f64(1.0) };
        let (mut from, mut first, mut is_bound) = (0, 0, self.to_leave.is_some());
        while path.gaps.len() < levels {
            interrupt::check()?;
            let level = path.gaps.len();
            let weights = self.next_weights(level, from, first, is_bound)?;
            let gap = self.windows[level].start + path.choose(&weights, entropy)?;
            let mut runs = reserved(levels)?;
            self.for_runs(level, gap, is_bound, |weight| runs.push(weight));
            let answers = path.choose(&runs, entropy)? + 1;
            let length = self.cuts.length(gap);
            path.ratio = path.ratio.times(self.costs.factor(level, gap - from));
            for number in 0..answers {
                path.gaps.push(gap);
                is_bound = self.stays_bound(is_bound, level + number, gap);
                let share = length.times(Wide::from_f64(1.0 / (number + 1) as f64));
                path.ratio = path.ratio.times(share);
                if number > 0 {
                    path.ratio = path.ratio.times(self.costs.factor(level + number, 0));
                }
            }
            (from, first) = (gap, gap + 1);
        }
        path.ratio = path.ratio.times(self.costs.factor(levels, self.cuts.gaps() - 1 - from));
        Ok(path)
    }
}

/// Bits of the largest of so many weights: their sum stays below 2^63.
fn bits_for(count: usize) -> u32 {
    WEIGHT_BITS.min(usize::BITS - 3 - (usize::BITS - count.leading_zeros())).max(22)
}

impl Path {
    /// One of `weights`, and how likely it was; weights of zero are never chosen.
    fn choose<E: Entropy>(&mut self, weights: &[Wide], entropy: &mut E) -> Result<usize, SelectError> {
        let top = weights.iter().filter(|weight| !weight.is_zero()).map(|weight| weight.exponent).max();
        let top = top.ok_or(SelectError::NoCandidates)?;
        let shift = i64::from(bits_for(weights.len())) - top;
        let whole = |weight: &Wide| {
            if weight.is_zero() { 0 } else { weight.times_power_of_two(shift) as u64 + 1 }
        };
        let total: u64 = weights.iter().map(whole).sum();
        let mut left = entropy.below(total);
        for (index, weight) in weights.iter().enumerate() {
            let share = whole(weight);
            if left < share {
                self.chance *= UBig::from(share);
                self.out_of *= UBig::from(total);
                self.ratio = self.ratio.times(Wide::from_f64(total as f64 / share as f64));
                return Ok(index);
            }
            left -= share;
        }
        Err(SelectError::NoCandidates)
    }
}
