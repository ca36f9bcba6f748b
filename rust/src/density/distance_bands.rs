//! Samples within a distance of the data, drawn with exactly the base measure's probabilities.
//!
//! A band holds, for every count a sample may have at a gate, an upper bound of the weight of all ways on from there:
//! doubles with an exponent of their own, rounded up enough that at every state the bounds of the next ones, weighted,
//! sum to no more than its own. A walk takes each step with the probability that these bounds say, exactly, and is
//! given up with what they leave over; so every sample of the band comes with its weight over the first bound,
//! whatever the rounding. Proof: `proofs/density.md`, "Bands".

use crate::density::base_measure::{BaseMeasure, Group, GroupWeights, Sample};
use crate::density::cumulative_counts::{CumulativeCounts, Gate};
use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt::{self, check_deep};
use crate::numbers::exact_choice::{Probabilities, pick};
use crate::numbers::extended_float::Extended;

/// Upper bounds of the weights of all ways on, for every gate and count.
pub struct Band {
    gates: Vec<Gate>,
    /// Where each gate's bounds begin; they are those of the counts `low..=high`.
    starts: Vec<usize>,
    bounds: Vec<Extended>,
}

/// Steps between two questions whether the call is to end.
const STEPS_BETWEEN_QUESTIONS: usize = 1 << 4;
const UNIT: f64 = 1.0 / (1_u64 << 52) as f64;

/// More than the relative error of a sum over steps: each weight carries `c 2^-50`, each sum a few 2^-53 a term.
fn slack(k: u64) -> f64 {
    (8.0 * k as f64 + 256.0) * UNIT
}

impl Band {
    /// All samples not farther away than `radius`, which is not below [`CumulativeCounts::least_distance`].
    ///
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub fn new(cumulative: &CumulativeCounts, base: &BaseMeasure, radius: u64) -> Result<Self, SelectError> {
        let gates = cumulative.gates(radius)?;
        let k = cumulative.sample_size();
        let mut starts: Vec<usize> = reserved(gates.len())?;
        let mut size = 0;
        for gate in &gates {
            starts.push(size);
            size += width(gate);
        }
        let mut bounds: Vec<Extended> = reserved(size)?;
        bounds.resize(size, Extended::ZERO);
        bounds[size - 1] = Extended::from_f64(1.0);
        let mut work = Work::default();
        for index in (0..gates.len() - 1).rev() {
            interrupt::check()?;
            let (here, next) = (gates[index], gates[index + 1]);
            let (head, tail) = bounds.split_at_mut(starts[index + 1]);
            let (out, on) = (&mut head[starts[index]..], &tail[..width(&next)]);
            let group = base.group(here.boundary..next.boundary);
            match group {
                Group::Ways { cells } if is_cheaper_cell_by_cell(cells, &here, &next) => {
                    work.cell_by_cell(cells, &here, &next, on, out);
                }
                _ => work.at_once(group, &here, &next, on, out, slack(k)),
            }
        }
        Ok(Self { gates, starts, bounds })
    }

    /// An upper bound, hardly larger, of the weight of the whole band.
    pub fn total(&self) -> Extended {
        self.bounds[0]
    }

    /// Draw a sample with probability `weight / total`, or nothing with what is left.
    ///
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub fn draw(
        &self,
        base: &BaseMeasure,
        k: u64,
        sample: &mut Sample,
        entropy: &mut Entropy,
    ) -> Result<bool, SelectError> {
        sample.clear();
        let mut count = 0;
        for index in 0..self.gates.len() - 1 {
            if index.is_multiple_of(STEPS_BETWEEN_QUESTIONS) {
                interrupt::check()?;
            }
            let Some(step) = self.step(base, index, count, k, entropy) else {
                return Ok(false);
            };
            base.place(self.gates[index].boundary..self.gates[index + 1].boundary, step, sample, entropy)?;
            count += step;
        }
        Ok(true)
    }

    fn bound(&self, index: usize, count: u64) -> Extended {
        self.bounds[self.starts[index] + (count - self.gates[index].low) as usize]
    }

    /// How many points go to the group after gate `index`, if `count` went to those before.
    fn step(&self, base: &BaseMeasure, index: usize, count: u64, k: u64, entropy: &mut Entropy) -> Option<u64> {
        let next = self.gates[index + 1];
        let cells = self.gates[index].boundary..next.boundary;
        let least = next.low.saturating_sub(count);
        let mut weights = GroupWeights::new(base.group(cells.clone()));
        while weights.count < least {
            weights.advance();
        }
        let here = self.bound(index, count);
        let probabilities = (count + least..=next.high).map(|reached| {
            let probability = weights.weight.times(self.bound(index + 1, reached)).over(here).times_power_of_two(0);
            weights.advance();
            probability
        });
        let exactly = || self.probabilities(base, index, count);
        pick(probabilities, slack(k), exactly, entropy).map(|chosen| least + chosen as u64)
    }

    /// The probabilities of the steps from `count` at gate `index`.
    fn probabilities(&self, base: &BaseMeasure, index: usize, count: u64) -> Probabilities {
        let next = self.gates[index + 1];
        let cells = self.gates[index].boundary..next.boundary;
        let least = next.low.saturating_sub(count);
        let (weights, denominator) = base.exact_weights(cells, least..next.high - count + 1);
        let (whole, whole_exponent) = self.bound(index, count).exact();
        let on: Vec<_> = (count + least..=next.high).map(|reached| self.bound(index + 1, reached).exact()).collect();
        let lowest = on.iter().map(|&(_, exponent)| exponent).fold(whole_exponent, i64::min);
        let parts = weights
            .into_iter()
            .zip(on)
            .map(|(weight, (bound, exponent))| (weight * bound) << (exponent - lowest) as usize);
        Probabilities { parts: parts.collect(), whole: (whole * denominator) << (whole_exponent - lowest) as usize }
    }
}

fn width(gate: &Gate) -> usize {
    (gate.high - gate.low) as usize + 1
}

/// Whether sums over each cell's count in turn, which are sums of suffixes, take less than one over the group's.
fn is_cheaper_cell_by_cell(cells: u64, here: &Gate, next: &Gate) -> bool {
    let one_by_one = cells as f64 * (next.high - here.low + 1) as f64;
    one_by_one <= (width(here) * width(next)) as f64
}

/// Memory for one row, used again for the next.
#[derive(Default)]
struct Work {
    row: Vec<Extended>,
    growth: Vec<f64>,
    plain_row: Vec<f64>,
    plain_on: Vec<f64>,
}

impl Work {
    /// h(C) = sum over C' >= C of h'(C'), once for every cell.
    fn cell_by_cell(&mut self, cells: u64, here: &Gate, next: &Gate, on: &[Extended], out: &mut [Extended]) {
        let length = (next.high - here.low) as usize + 1;
        let up = Extended::from_f64(1.0 + (length as f64 + 16.0) * UNIT);
        self.row.clear();
        self.row.resize(length - on.len(), Extended::ZERO);
        self.row.extend_from_slice(on);
        for _ in 0..cells {
            check_deep();
            let mut sum = Extended::ZERO;
            for bound in self.row.iter_mut().rev() {
                sum = sum.plus(*bound);
                *bound = sum.times(up);
            }
        }
        out.copy_from_slice(&self.row[..out.len()]);
    }

    /// h(C) = sum over c of w(c) h'(C + c), cut where what follows is certainly lost in the rounding up.
    fn at_once(&mut self, group: Group, here: &Gate, next: &Gate, on: &[Extended], out: &mut [Extended], slack: f64) {
        let up = Extended::from_f64(1.0 + slack);
        let mut weights = GroupWeights::new(group);
        self.row.clear();
        while weights.count <= next.high - here.low {
            self.row.push(weights.weight);
            weights.advance();
        }
        // By how much these bounds grow from one count to the next, from here on at most.
        self.growth.clear();
        self.growth.resize(on.len(), 0.0);
        for place in (0..on.len() - 1).rev() {
            let own = on[place + 1].over(on[place]).times_power_of_two(0);
            self.growth[place] = own.max(self.growth[place + 1]);
        }
        // And by how much the weights grow; that growth falls with the count.
        let weight_growth = |step: usize| match group {
            Group::Length { length } => length.times_power_of_two(0) / (step + 1) as f64,
            Group::Ways { cells } => (cells as f64 + step as f64) / (step + 1) as f64,
        };
        let (weights_top, on_top) = (scale_down(&self.row, &mut self.plain_row), scale_down(on, &mut self.plain_on));
        for (offset, bound) in out.iter_mut().enumerate() {
            if offset.is_multiple_of(STEPS_BETWEEN_QUESTIONS) {
                check_deep();
            }
            let count = here.low + offset as u64;
            let first = count.max(next.low);
            let range = ((first - count) as usize, (first - next.low) as usize, (next.high - first) as usize + 1);
            let sum = self.plain_sum(range, &weight_growth);
            // Terms below the doubles' range are off by less than 2^-1000 each: nothing, beside such a sum.
            let sum = if sum > TINY {
                let sum = Extended::from_f64(sum);
                Extended { exponent: sum.exponent + weights_top + on_top, ..sum }
            } else {
                self.wide_sum(range, on)
            };
            *bound = sum.times(up);
        }
    }

    /// The sum of `weight[step] * on[place]` for so many steps and places, in units of the largest of both.
    fn plain_sum(&self, range: (usize, usize, usize), weight_growth: &impl Fn(usize) -> f64) -> f64 {
        let (step, place, length) = range;
        let weights = &self.plain_row[step..step + length];
        let on = &self.plain_on[place..place + length];
        let mut sum = 0.0;
        for (index, (weight, bound)) in weights.iter().zip(on).enumerate() {
            let term = weight * bound;
            sum += term;
            // Then each further term is at most half the one before, and all of them no more than this one.
            if index % 4 == 3
                && term < sum * UNIT
                && weight_growth(step + index) * self.growth[place + index] <= 0.5
                && sum > TINY
            {
                return sum + term;
            }
        }
        sum
    }

    /// The same sum, whatever its terms' sizes.
    fn wide_sum(&self, range: (usize, usize, usize), on: &[Extended]) -> Extended {
        let (step, place, length) = range;
        let terms = (0..length).map(|index| self.row[step + index].times(on[place + index]));
        terms.fold(Extended::ZERO, Extended::plus)
    }
}

/// Sums of numbers at most 1 of which what is lost to underflow does not matter.
const TINY: f64 = f64::from_bits((1023 - 700) << 52);

/// `numbers` in units of a power of two that makes the largest one at most 1, as doubles; which power.
fn scale_down(numbers: &[Extended], plain: &mut Vec<f64>) -> i64 {
    let top = numbers.iter().map(|number| number.exponent).max().unwrap_or(0);
    plain.clear();
    plain.extend(numbers.iter().map(|number| number.times_power_of_two(-top)));
    top
}

#[cfg(test)]
#[path = "distance_bands_tests.rs"]
mod tests;
