//! Paths of gaps, one for each level, with probability nearly proportional to their weight.
//!
//! The weight of a path is the volume of the increasing answers in its gaps, times exp(-cost). Messages run from the
//! last level to the first and hold the weight of all that can follow; a path is then chosen forwards, by integer
//! weights, so that its probability is known exactly and the error of the messages can be made up for afterwards.

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::exact::coin::power_of_two;
use crate::exact::extended_float::Extended;
use crate::interrupt::{self, check_deep};
use crate::numbers::cuts::Cuts;
use crate::numbers::joint_costs::RankCosts;
use crate::numbers::joint_running_sums::sums_after;

/// Paths of gaps, and the weights of all that may follow.
pub struct Paths<'a> {
    cuts: &'a Cuts<'a>,
    costs: &'a RankCosts<'a>,
    lengths: Vec<Extended>,
    levels: usize,
    /// For each level and gap, of all that comes from the first answer in the gap on, this one included.
    entries: Vec<Vec<Extended>>,
    /// The same from after the last answer in the gap.
    exits: Vec<Vec<Extended>>,
    /// Bounds of what follows an answer if any number of answers more are in the same gap: for each level, one for every
    /// few neighbouring gaps.
    bounds: Vec<Vec<Extended>>,
    /// The weight of all paths.
    pub total: Extended,
}

/// A path that was chosen.
pub struct Path {
    /// The gap of each level.
    pub gaps: Vec<usize>,
    /// It was chosen with the probability `chance / out_of`.
    pub chance: UBig,
    pub out_of: UBig,
    /// `weight * out_of / chance`, nearly.
    pub ratio: Extended,
}

/// Bits of the largest weight of a choice, at most.
const WEIGHT_BITS: u32 = 50;

/// So many neighbouring gaps have one bound.
const GAPS: usize = 32;

/// More answers in one gap are left out of a message once they add less than this, relative.
const LEFT_OUT: i64 = -32;

impl<'a> Paths<'a> {
    pub fn new(cuts: &'a Cuts<'a>, costs: &'a RankCosts<'a>) -> Result<Self, SelectError> {
        let (levels, lengths, total) = (costs.levels(), cuts.lengths()?, Extended::ZERO);
        let none = || vec![Vec::new(); levels];
        let mut paths = Self { cuts, costs, lengths, levels, entries: none(), exits: none(), bounds: none(), total };
        for level in (0..levels).rev() {
            interrupt::check()?;
            paths.exits[level] = paths.exits_of(level)?;
            paths.bounds[level] = paths.bounds_of(level);
            interrupt::check()?;
            paths.entries[level] = paths.entries_of(level)?;
        }
        paths.total = paths.next_weights(0, 0, 0)?.into_iter().fold(Extended::ZERO, Extended::plus);
        Ok(paths)
    }

    fn exits_of(&self, level: usize) -> Result<Vec<Extended>, SelectError> {
        if level + 1 < self.levels {
            return sums_after(&self.entries[level + 1], self.cuts, level + 1, self.costs);
        }
        let mut exits = reserved(self.cuts.count())?;
        let beyond = |gap| self.costs.between(level + 1, self.cuts.values - self.cuts.rank(gap));
        exits.extend((0..self.cuts.count()).map(beyond));
        Ok(exits)
    }

    /// From those of the next level, and from the lengths and exits of this one.
    fn bounds_of(&self, level: usize) -> Vec<Extended> {
        let most = |weights: &[Extended]| weights.iter().copied().fold(Extended::ZERO, Extended::max);
        let mut bounds: Vec<Extended> = self.exits[level].chunks(GAPS).map(most).collect();
        if let Some(next) = self.bounds.get(level + 1) {
            let factor = self.costs.between(level + 1, 0);
            for ((bound, lengths), next) in bounds.iter_mut().zip(self.lengths.chunks(GAPS)).zip(next) {
                *bound = bound.plus(most(lengths).times(factor).times(*next));
            }
        }
        bounds
    }

    fn entries_of(&self, level: usize) -> Result<Vec<Extended>, SelectError> {
        let mut entries = reserved(self.cuts.count())?;
        entries.extend((0..self.cuts.count()).map(|gap| {
            check_deep();
            let mut sum = Extended::ZERO;
            self.for_runs(level, gap, |weight, rest| {
                sum = sum.plus(weight);
                rest > sum.scaled(LEFT_OUT)
            });
            sum
        }));
        Ok(entries)
    }

    /// The weights of 1, 2, ... answers in `gap`, the first that of `level`, with all that follows; each with a bound of
    /// what the ones after it weigh together, as long as they are wanted.
    #[inline(always)]
    fn for_runs(&self, level: usize, gap: usize, mut take: impl FnMut(Extended, Extended) -> bool) {
        let length = self.lengths[gap];
        let mut volume = length;
        for last in level..self.levels {
            let weight = volume.times(self.exits[last][gap]);
            if last + 1 == self.levels {
                take(weight, Extended::ZERO);
                break;
            }
            // An increasing point more: its share of the volume, and no value between the two.
            let share = Extended::from_f64(1.0 / (last - level + 2) as f64);
            volume = volume.times(length).times(share).times(self.costs.between(last + 1, 0));
            if !take(weight, volume.times(self.bounds[last + 1][gap / GAPS])) {
                break;
            }
        }
    }

    /// The weights of the gaps from `first` on for a first answer at `level`, where the answer before has rank `from`.
    fn next_weights(&self, level: usize, from: usize, first: usize) -> Result<Vec<Extended>, SelectError> {
        let entries = &self.entries[level][first.min(self.cuts.count())..];
        let mut weights = reserved(entries.len())?;
        let factor = |gap: usize| self.costs.between(level, self.cuts.rank(first + gap) - from);
        weights.extend(entries.iter().enumerate().map(|(gap, entry)| entry.times(factor(gap))));
        Ok(weights)
    }

    /// Propose a first answer of `level` in `gap` a quarter as often.
    #[cfg(test)]
    pub fn propose_less(&mut self, level: usize, gap: usize) {
        self.entries[level][gap] = self.entries[level][gap].scaled(-2);
    }

    /// How far, relative, a path's `ratio` may be from `total`, and both from what they stand for.
    pub fn margin(cuts: &Cuts<'_>, costs: &RankCosts<'_>) -> f64 {
        let (count, most) = (cuts.count() as f64, costs.levels() as f64);
        // A factor's exponent is at most that of all ranks; each carries (1 + x) 2^-49, and a running sum as many
        // roundings as it has terms.
        let x = costs.exponent(cuts.values as f64 + 1.0);
        let messages = (most + 2.0) * ((2.0 * count + 16.0) * (1.0 + costs.exponent(1.0)) + x);
        // Every choice rounds each of its weights up to the next whole number.
        let bits = bits_for(cuts.count().max(costs.levels()));
        let choices = 2.0 * most * (count + most) * 2.0 * power_of_two(-(bits as i32));
        messages * power_of_two(-48) + choices + most * power_of_two(LEFT_OUT as i32 + 1)
    }

    /// Choose a path.
    ///
    /// # Errors
    /// `NoCandidates` if no path has a weight.
    pub fn draw(&self, entropy: &mut Entropy) -> Result<Path, SelectError> {
        let levels = self.levels;
        let one = Extended::from_f64(1.0);
        let mut path = Path { gaps: reserved(levels)?, chance: UBig::ONE, out_of: UBig::ONE, ratio: one };
        let (mut from, mut first) = (0, 0);
        while path.gaps.len() < levels {
            interrupt::check()?;
            let level = path.gaps.len();
            let weights = self.next_weights(level, from, first)?;
            let gap = first + path.choose(&weights, entropy)?;
            let mut runs = reserved(levels)?;
            self.for_runs(level, gap, |weight, _| {
                runs.push(weight);
                true
            });
            let answers = path.choose(&runs, entropy)? + 1;
            let length = self.lengths[gap];
            path.ratio = path.ratio.times(self.costs.between(level, self.cuts.rank(gap) - from));
            for number in 0..answers {
                path.gaps.push(gap);
                let share = length.times(Extended::from_f64(1.0 / (number + 1) as f64));
                path.ratio = path.ratio.times(share);
                if number > 0 {
                    path.ratio = path.ratio.times(self.costs.between(level + number, 0));
                }
            }
            (from, first) = (self.cuts.rank(gap), gap + 1);
        }
        path.ratio = path.ratio.times(self.costs.between(levels, self.cuts.values - from));
        Ok(path)
    }
}

/// Bits of the largest of so many weights: their sum stays below 2^63.
fn bits_for(count: usize) -> u32 {
    WEIGHT_BITS.min(usize::BITS - 3 - (usize::BITS - count.leading_zeros())).max(22)
}

impl Path {
    /// One of `weights`, and how likely it was; weights of zero are never chosen.
    fn choose(&mut self, weights: &[Extended], entropy: &mut Entropy) -> Result<usize, SelectError> {
        let top = weights.iter().copied().fold(Extended::ZERO, Extended::max);
        if top.is_zero() {
            return Err(SelectError::NoCandidates);
        }
        let most = power_of_two(bits_for(weights.len()) as i32);
        let whole = |weight: &Extended| if weight.is_zero() { 0 } else { (weight.quotient(top) * most) as u64 + 1 };
        let total: u64 = weights.iter().map(whole).sum();
        let mut left = entropy.below(total);
        for (index, weight) in weights.iter().enumerate() {
            let share = whole(weight);
            if left < share {
                self.chance *= UBig::from(share);
                self.out_of *= UBig::from(total);
                let ratio = Extended::from_f64(total as f64 / share as f64);
                self.ratio = self.ratio.times(ratio);
                return Ok(index);
            }
            left -= share;
        }
        Err(SelectError::NoCandidates)
    }
}
