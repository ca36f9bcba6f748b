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
use crate::intervals::joint_costs::{Factors, RankCosts};
use crate::intervals::joint_gaps::Gaps;
use crate::intervals::joint_running_sums::RunningSums;
use crate::intervals::joint_weights::Weight;
use crate::numbers::coin::power_of_two;
use crate::numbers::extended_float::Extended;

/// Paths within windows of gaps, all of them or only those that leave some narrower windows.
pub struct Paths<'a> {
    gaps: &'a Gaps<'a>,
    factors: Factors<'a>,
    /// The lengths of the windows' gaps, and where each level's begin.
    lengths: Vec<Weight>,
    places: Vec<usize>,
    /// The gaps each level may use.
    pub windows: Vec<Span<usize>>,
    /// Windows that one level at least has to leave.
    to_leave: Option<Vec<Span<usize>>>,
    /// What may follow, whatever was left so far; and if nothing was yet and something has to be.
    free: Messages,
    bound: Messages,
    /// Bounds of what may follow more answers in one gap.
    tails: Tails,
    /// The weight of all paths.
    pub total: Weight,
}

/// Weights for each gap of each level's window.
#[derive(Default)]
struct Messages {
    /// Of all that comes from the first answer in a gap on, this one included.
    entries: Vec<Vec<Weight>>,
    /// The same from after the last answer in a gap.
    exits: Vec<Vec<Weight>>,
}

/// A path that was chosen.
pub struct Path {
    /// The gap of each level.
    pub gaps: Vec<usize>,
    /// It was chosen with the probability `chance / out_of`.
    pub chance: UBig,
    pub out_of: UBig,
    /// `weight * out_of / chance`, nearly.
    pub ratio: Weight,
}

/// Bits of the largest weight of a choice, at most.
const WEIGHT_BITS: u32 = 50;

/// More answers in one gap are left out of a message once they add less than this, relative.
const LEFT_OUT: i32 = -32;

impl<'a> Paths<'a> {
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub fn new(
        gaps: &'a Gaps<'a>,
        costs: &'a RankCosts<'a>,
        windows: Vec<Span<usize>>,
        to_leave: Option<Vec<Span<usize>>>,
    ) -> Result<Self, SelectError> {
        let (levels, has_to_leave) = (windows.len(), to_leave.is_some());
        let widest = windows.iter().map(Span::len).max().unwrap_or(0);
        let factors = Factors::new(costs, 2 * widest + 2)?;
        let (lengths, places) = gaps.lengths(&windows)?;
        let (free, bound, tails) = (Messages::default(), Messages::default(), Tails::new(levels));
        let total = Weight::ZERO;
        let mut paths = Self { gaps, factors, lengths, places, windows, to_leave, free, bound, tails, total };
        let mut sums = RunningSums::new(widest)?;
        let kinds = if has_to_leave { &[false, true][..] } else { &[false] };
        for &is_bound in kinds {
            let messages = paths.messages_mut(is_bound);
            messages.entries.resize_with(levels, Vec::new);
            messages.exits.resize_with(levels, Vec::new);
        }
        for level in (0..levels).rev() {
            for &is_bound in kinds {
                interrupt::check()?;
                let exits = paths.exits_of(level, is_bound, &mut sums)?;
                paths.messages_mut(is_bound).exits[level] = exits;
            }
            let next_factor = if level + 1 < levels { paths.factors.between(level + 1, 0) } else { Weight::ZERO };
            let Self { windows, lengths, places, free, tails, .. } = &mut paths;
            tails.put(level, windows, &lengths[places[level]..], &free.exits[level], next_factor);
            for &is_bound in kinds {
                interrupt::check()?;
                let entries = paths.entries_of(level, is_bound)?;
                paths.messages_mut(is_bound).entries[level] = entries;
            }
        }
        let first = paths.next_weights(0, 0, 0, has_to_leave)?;
        paths.total = first.into_iter().fold(Weight::ZERO, Weight::plus);
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

    fn length(&self, level: usize, gap: usize) -> Weight {
        self.lengths[self.places[level] + gap - self.windows[level].start]
    }

    fn exits_of(&self, level: usize, is_bound: bool, sums: &mut RunningSums) -> Result<Vec<Weight>, SelectError> {
        let window = self.windows[level].clone();
        let mut exits = reserved(window.len())?;
        if level + 1 == self.windows.len() {
            let last = |gap: usize| self.factors.between(level + 1, self.gaps.values - self.gaps.rank(gap));
            exits.extend(window.map(|gap| if is_bound { Weight::ZERO } else { last(gap) }));
        } else {
            let next = self.windows[level + 1].clone();
            let messages = &self.messages(is_bound).entries[level + 1];
            sums.after(messages, self.gaps, (window, next), level + 1, &self.factors, |sum| exits.push(sum));
        }
        Ok(exits)
    }

    fn entries_of(&self, level: usize, is_bound: bool) -> Result<Vec<Weight>, SelectError> {
        let window = self.windows[level].clone();
        let mut entries = reserved(window.len())?;
        let exits = &self.messages(is_bound).exits[level];
        let is_free = !is_bound;
        entries.extend(window.zip(exits).map(|(gap, &exit)| {
            check_deep();
            let length = self.length(level, gap);
            // One answer in the gap says it all.
            if is_free && exit > self.tails.more[level][Tails::place(&self.windows[level], gap)] {
                return length.times(exit);
            }
            let mut sum = Weight::ZERO;
            self.for_runs(level, gap, is_bound, |weight, rest| {
                sum = sum.plus(weight);
                rest > sum.times_power(LEFT_OUT)
            });
            sum
        }));
        Ok(entries)
    }

    /// The weights of 1, 2, ... answers in `gap`, the first that of `level`, with all that follows; each with a bound of
    /// what the ones after it weigh together, as long as they are wanted.
    #[inline(always)]
    fn for_runs(&self, level: usize, gap: usize, mut is_bound: bool, mut take: impl FnMut(Weight, Weight) -> bool) {
        let length = self.length(level, gap);
        let mut volume = length;
        for last in level..self.windows.len() {
            is_bound = self.stays_bound(is_bound, last, gap);
            let weight = volume.times(self.messages(is_bound).exits[last][gap - self.windows[last].start]);
            if last + 1 == self.windows.len() || !self.windows[last + 1].contains(&gap) {
                take(weight, Weight::ZERO);
                break;
            }
            // An increasing point more: its share of the volume, and no value between the two.
            let share = Weight::of(1.0 / (last - level + 2) as f64);
            volume = volume.times(length).times(share).times(self.factors.between(last + 1, 0));
            if !take(weight, volume.times(self.tails.bounds[last + 1][Tails::place(&self.windows[last + 1], gap)])) {
                break;
            }
        }
    }

    /// The weights of the gaps from `first` on for a first answer at `level`, where the answer before has rank `from`.
    fn next_weights(
        &self,
        level: usize,
        from: usize,
        first: usize,
        is_bound: bool,
    ) -> Result<Vec<Weight>, SelectError> {
        let window = self.windows[level].clone();
        let mut weights = reserved(window.len())?;
        weights.extend(window.zip(&self.messages(is_bound).entries[level]).map(|(gap, entry)| {
            if gap < first || entry.is_zero() {
                Weight::ZERO
            } else {
                entry.times(self.factors.between(level, self.gaps.rank(gap) - from))
            }
        }));
        Ok(weights)
    }

    /// How far, relative, a path's `ratio` may be from `total`, and both from what they stand for.
    pub fn margin(gaps: &Gaps<'_>, costs: &RankCosts<'_>, windows: &[Span<usize>]) -> f64 {
        let most = windows.iter().map(Span::len).max().unwrap_or(0);
        let (widest, levels) = (most as f64, windows.len() as f64);
        // A factor's exponent is at most that of all ranks; each carries (1 + x) 2^-49, and a running sum as many
        // roundings as it has terms.
        let x = costs.exponent(gaps.values as f64 + 1.0);
        let messages = (levels + 2.0) * ((2.0 * widest + 16.0) * (1.0 + costs.exponent(1.0)) + x);
        // Every choice rounds each of its weights up to the next whole number.
        let bits = bits_for(most.max(windows.len()));
        let choices = 2.0 * levels * (widest + levels) * 2.0 * power_of_two(-(bits as i32));
        messages * power_of_two(-48) + choices + levels * power_of_two(LEFT_OUT + 1)
    }

    /// Choose a path.
    ///
    /// # Errors
    /// `NoCandidates` if no path has a weight, `Memory`, `Interrupted`.
    pub fn draw(&self, entropy: &mut Entropy) -> Result<Path, SelectError> {
        let levels = self.windows.len();
        let one = Weight::of(1.0);
        let mut path = Path { gaps: reserved(levels)?, chance: UBig::ONE, out_of: UBig::ONE, ratio: one };
        let (mut from, mut first, mut is_bound) = (0, 0, self.to_leave.is_some());
        while path.gaps.len() < levels {
            interrupt::check()?;
            let level = path.gaps.len();
            let weights = self.next_weights(level, from, first, is_bound)?;
            let gap = self.windows[level].start + path.choose(&weights, entropy)?;
            let mut runs = reserved(levels)?;
            self.for_runs(level, gap, is_bound, |weight, _| {
                runs.push(weight);
                true
            });
            let answers = path.choose(&runs, entropy)? + 1;
            let length = self.length(level, gap);
            path.ratio = path.ratio.times(self.factors.between(level, self.gaps.rank(gap) - from));
            for number in 0..answers {
                path.gaps.push(gap);
                is_bound = self.stays_bound(is_bound, level + number, gap);
                let share = length.times(Weight::of(1.0 / (number + 1) as f64));
                path.ratio = path.ratio.times(share);
                if number > 0 {
                    path.ratio = path.ratio.times(self.factors.between(level + number, 0));
                }
            }
            (from, first) = (self.gaps.rank(gap), gap + 1);
        }
        path.ratio = path.ratio.times(self.factors.between(levels, self.gaps.values - from));
        Ok(path)
    }
}

/// For each level, bounds of what follows an answer there if any number of answers more are in the same gap; one for each
/// few neighbouring gaps.
struct Tails {
    bounds: Vec<Vec<Weight>>,
    /// What more answers add to an exit at most, over what may be left out.
    more: Vec<Vec<Weight>>,
}

impl Tails {
    const GAPS: usize = 32;

    fn new(levels: usize) -> Self {
        Self { bounds: vec![Vec::new(); levels], more: vec![Vec::new(); levels] }
    }

    fn place(window: &Span<usize>, gap: usize) -> usize {
        gap / Self::GAPS - window.start / Self::GAPS
    }

    /// Follow from those of the next level, and from the lengths and exits of this one's window.
    fn put(
        &mut self,
        level: usize,
        windows: &[Span<usize>],
        lengths: &[Weight],
        exits: &[Weight],
        next_factor: Weight,
    ) {
        let window = &windows[level];
        for gap in window.clone().filter(|&gap| gap == window.start || gap % Self::GAPS == 0) {
            let end = (gap / Self::GAPS * Self::GAPS + Self::GAPS).min(window.end);
            let among = gap - window.start..end - window.start;
            let most = |weights: &[Weight]| weights.iter().copied().fold(Weight::ZERO, Weight::max);
            let next = windows.get(level + 1).filter(|next| next.start < end && gap < next.end);
            let more = next.map_or(Weight::ZERO, |next| {
                let bound = self.bounds[level + 1][Self::place(next, gap.max(next.start))];
                most(&lengths[among.clone()]).times(next_factor).times(bound)
            });
            self.bounds[level].push(most(&exits[among]).plus(more));
            self.more[level].push(more.times_power(-LEFT_OUT));
        }
    }
}

/// Bits of the largest of so many weights: their sum stays below 2^63.
fn bits_for(count: usize) -> u32 {
    WEIGHT_BITS.min(usize::BITS - 3 - (usize::BITS - count.leading_zeros())).max(22)
}

impl Path {
    /// One of `weights`, and how likely it was; weights of zero are never chosen.
    fn choose(&mut self, weights: &[Weight], entropy: &mut Entropy) -> Result<usize, SelectError> {
        let top = weights.iter().copied().fold(Weight::ZERO, Weight::max);
        if top.is_zero() {
            return Err(SelectError::NoCandidates);
        }
        let most = power_of_two(bits_for(weights.len()) as i32);
        let whole = |weight: &Weight| if weight.is_zero() { 0 } else { (weight.relative_to(top) * most) as u64 + 1 };
        let total: u64 = weights.iter().map(whole).sum();
        let mut left = entropy.below(total);
        for (index, weight) in weights.iter().enumerate() {
            let share = whole(weight);
            if left < share {
                self.chance *= UBig::from(share);
                self.out_of *= UBig::from(total);
                let ratio = Extended::from_f64(total as f64 / share as f64);
                self.ratio = self.ratio.times(Weight::from(ratio));
                return Ok(index);
            }
            left -= share;
        }
        Err(SelectError::NoCandidates)
    }
}
