//! What a sample weighs before its distance counts: the public base measure of the density mechanism.
//!
//! A *group* is a run of neighbouring cells. Its weight for c points sums the weights of all ways to spread them over
//! its cells, and [`BaseMeasure::place`] chooses among these ways. Proof: `proofs/density.md`, "Groups".

use std::ops::Range;

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt::check_deep;
use crate::intervals::pieces::{Chooser, WeightedPieces};
use crate::intervals::point::Point;
use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::extended_float::Extended;
use crate::numbers::rounding::parts;
use crate::numbers::score::Score;

/// Weights of samples, up to a factor that is the same for all of one size.
pub enum BaseMeasure {
    /// Every histogram weighs the same: one for each way to write k as a sum of the cells' counts.
    Histograms,
    /// Independent uniform points, told apart by cell: the product of `length^count / count!`.
    Cells { lengths: Vec<f64>, tilt: i64 },
    /// Independent uniform points of an interval, the cells lying between its neighbouring positions.
    Line { positions: Vec<f64>, tilt: i64 },
}

/// Cells `from..to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Group {
    /// So many cells: c points have `binomial(cells + c - 1, c)` ways.
    Ways { cells: u64 },
    /// The length of all cells together, times `2^tilt` (relative error at most 2^-51): `length^c / c!`.
    Length { length: Extended },
}

impl BaseMeasure {
    /// Points in cells of these lengths.
    ///
    /// # Errors
    /// `NotFinite` unless all of them are positive and their sum is finite.
    pub fn cells(lengths: Vec<f64>, k: u64) -> Result<Self, SelectError> {
        let sum: f64 = lengths.iter().sum();
        if !(lengths.iter().all(|&length| length > 0.0) && sum.is_finite()) {
            return Err(SelectError::NotFinite);
        }
        let tilt = tilt(Extended::from_f64(sum), k);
        Ok(Self::Cells { lengths, tilt })
    }

    /// Points of the interval from the first to the last position.
    ///
    /// # Errors
    /// `NotFinite` unless the positions are finite and increase.
    pub fn line(positions: Vec<f64>, k: u64) -> Result<Self, SelectError> {
        let increase = positions.windows(2).all(|pair| pair[0] < pair[1]);
        let (Some(&first), Some(&last)) = (positions.first(), positions.last()) else {
            return Err(SelectError::NoCandidates);
        };
        if !(increase && first.is_finite() && last.is_finite()) {
            return Err(SelectError::NotFinite);
        }
        let tilt = tilt(Extended::from_gap(first, last), k);
        Ok(Self::Line { positions, tilt })
    }

    pub fn group(&self, cells: Range<usize>) -> Group {
        match self {
            Self::Histograms => Group::Ways { cells: cells.len() as u64 },
            Self::Cells { lengths, tilt } => {
                let length = Extended::from_f64(compensated_sum(&lengths[cells]));
                Group::Length { length: Extended { exponent: length.exponent + tilt, ..length } }
            }
            Self::Line { positions, tilt } => {
                let length = Extended::from_gap(positions[cells.start], positions[cells.end]);
                Group::Length { length: Extended { exponent: length.exponent + tilt, ..length } }
            }
        }
    }

    /// The weights of the group for every count in `counts` (not empty), exactly, as numerators over the last value.
    pub fn exact_weights(&self, cells: Range<usize>, counts: Range<u64>) -> (Vec<UBig>, UBig) {
        let length = match self {
            Self::Histograms => return (exact_ways(cells.len() as u64, counts), UBig::ONE),
            Self::Cells { lengths, tilt } => shifted(&exact_sum(&lengths[cells]), *tilt),
            Self::Line { positions, tilt } => {
                shifted(&Score::from(positions[cells.start]).exact_gap_below(positions[cells.end].into()), *tilt)
            }
        };
        // length^c / c! = above^c below^(last - c) (last! / c!) / (below^last last!).
        let last = counts.end - 1;
        let mut factor = UBig::ONE;
        let mut weights = Vec::with_capacity(counts.clone().count());
        for count in counts.rev() {
            weights.push(&factor * length.numerator.clone().pow(count as usize));
            factor = factor * UBig::from(count.max(1)) * &length.denominator;
        }
        weights.reverse();
        let factorial = (1..=last).fold(UBig::ONE, |product, count| product * UBig::from(count));
        (weights, length.denominator.pow(last as usize) * factorial)
    }

    /// Spread `count` points over the group's cells: their cells are appended in increasing order, and on a line also
    /// the points, each rounded once.
    ///
    /// # Errors
    /// `Memory`.
    pub fn place(
        &self,
        cells: Range<usize>,
        count: u64,
        sample: &mut Sample,
        entropy: &mut Entropy,
    ) -> Result<(), SelectError> {
        let start = sample.cells.len();
        match self {
            Self::Histograms => {
                // A uniform order of stars (points) and bars (steps to the next cell).
                let (mut stars, mut bars) = (count, cells.len() as u64 - 1);
                let mut cell = cells.start;
                while stars > 0 {
                    if bars == 0 || entropy.below(stars + bars) < stars {
                        sample.cells.push(cell);
                        stars -= 1;
                    } else {
                        cell += 1;
                        bars -= 1;
                    }
                }
            }
            Self::Cells { lengths, .. } => {
                if count > 0 && cells.len() > 1 {
                    let pieces = Plain(&lengths[cells.clone()]);
                    let chooser = Chooser::new(&pieces)?;
                    for _ in 0..count {
                        check_deep();
                        sample.cells.push(cells.start + chooser.draw(&pieces, entropy));
                    }
                    sample.cells[start..].sort_unstable();
                } else {
                    sample.cells.extend((0..count).map(|_| cells.start));
                }
            }
            Self::Line { positions, .. } => {
                let inner = &positions[cells.start + 1..cells.end];
                for _ in 0..count {
                    check_deep();
                    let mut point = Point::draw(positions[cells.start], positions[cells.end], entropy);
                    let rounded = point.rounded(entropy);
                    // A position on the other side of the rounding is on the other side of the point.
                    let mut below = inner.partition_point(|&position| position < rounded);
                    if inner.get(below) == Some(&rounded) && point.is_above(rounded, entropy) {
                        below += 1;
                    }
                    sample.cells.push(cells.start + below);
                    sample.points.push(rounded);
                }
                sample.cells[start..].sort_unstable();
                sample.points[start..].sort_unstable_by(f64::total_cmp);
            }
        }
        Ok(())
    }
}

/// A sample: the cells of its points in increasing order, and on a line the points themselves.
#[derive(Default)]
pub struct Sample {
    pub cells: Vec<usize>,
    pub points: Vec<f64>,
}

impl Sample {
    /// # Errors
    /// `Memory`.
    pub fn new(k: usize) -> Result<Self, SelectError> {
        Ok(Self { cells: reserved(k)?, points: reserved(k)? })
    }

    pub fn clear(&mut self) {
        self.cells.clear();
        self.points.clear();
    }
}

/// The weight of a group for 0, 1, 2, ... points, each from the one before: relative error at most `c 2^-50`.
#[derive(Clone, Copy)]
pub struct GroupWeights {
    group: Group,
    pub count: u64,
    pub weight: Extended,
}

impl GroupWeights {
    pub fn new(group: Group) -> Self {
        Self { group, count: 0, weight: Extended::from_f64(1.0) }
    }

    #[inline]
    pub fn advance(&mut self) {
        self.count += 1;
        let above = match self.group {
            Group::Ways { cells } => Extended::from_count(cells + self.count - 1),
            Group::Length { length } => length,
        };
        self.weight = self.weight.times(above).over(Extended::from_count(self.count));
    }
}

/// The power of two that brings a length of `total` near k: counts then weigh about as much as they are likely.
fn tilt(total: Extended, k: u64) -> i64 {
    Extended::from_count(k).exponent - total.exponent
}

fn shifted(length: &Ratio, tilt: i64) -> Ratio {
    length.times(&Ratio::scaled(UBig::ONE, tilt))
}

fn exact_ways(cells: u64, counts: Range<u64>) -> Vec<UBig> {
    let mut ways = UBig::ONE;
    let mut all = Vec::new();
    for count in 0..counts.end {
        if count > 0 {
            ways = ways * UBig::from(cells + count - 1) / UBig::from(count);
        }
        if count >= counts.start {
            all.push(ways.clone());
        }
    }
    all
}

/// Neumaier's sum: of positive numbers, with relative error below 2^-52 however many there are.
fn compensated_sum(lengths: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for &length in lengths {
        let next = sum + length;
        lost += if sum >= length { (sum - next) + length } else { (length - next) + sum };
        sum = next;
    }
    sum + lost
}

/// The sum of positive doubles.
fn exact_sum(lengths: &[f64]) -> Ratio {
    let least = lengths.iter().map(|&length| parts(length).1).min().unwrap_or(0);
    let mut sum = UBig::ZERO;
    for &length in lengths {
        let (integer, exponent) = parts(length);
        sum += integer.into_parts().1 << (exponent - least) as usize;
    }
    Ratio::scaled(sum, least)
}

/// Lengths as pieces without a score.
struct Plain<'a>(&'a [f64]);

impl WeightedPieces for Plain<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn length(&self, index: usize) -> Extended {
        Extended::from_f64(self.0[index])
    }

    fn exact_length(&self, index: usize) -> Ratio {
        Ratio::from_f64(self.0[index])
    }

    fn exponent(&self, _: usize) -> f64 {
        0.0
    }

    fn exact_exponent(&self, _: usize) -> Ratio {
        Ratio::from_f64(0.0)
    }
}

#[cfg(test)]
#[path = "base_measure_tests.rs"]
mod tests;
