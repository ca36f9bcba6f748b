//! Selection where scores move by different amounts: permute-and-flip on how far each candidate lies below the others, or the
//! largest score with exponential noise of a scale of its own for each.
//!
//! Both begin with one coin a candidate. Of those that show heads permute-and-flip takes any. With own scales their noisy
//! scores lie above the best score by exponential times of different scales, of which the largest is found by asking, with
//! coins, which are above a level, and halving the step when none is. Proof: `proofs/different_sensitivities.md`; model:
//! `tests/reference/different_sensitivities.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{Exponential, flip, power_of_two};
use crate::exact::extended_float::Extended;
use crate::exact::rational::{Rational, exactly};
use crate::interrupt;
use crate::select::many_draws::repeat;
use crate::select::permute_and_flip::{Arrivals, UniformArrival};
use crate::select::steepest::{Points, Together};

/// Coins between two checks for Ctrl-C.
const CHECK_EVERY: usize = 1 << 14;

/// Call `take` for every candidate whose coin of probability exp(-x) shows heads; x is 0 for the best.
fn heads<F: Fn() -> Rational>(
    count: usize,
    x: impl Fn(usize) -> Exponential<F>,
    entropy: &mut Entropy,
    mut take: impl FnMut(usize, &mut Entropy),
) -> Result<(), SelectError> {
    for index in 0..count {
        if index.is_multiple_of(CHECK_EVERY) {
            interrupt::check()?;
        }
        if flip(&x(index), entropy) {
            take(index, entropy);
        }
    }
    Ok(())
}

/// `number` as an exponent, within the range that the contract of `Scale::exponent` asks for.
fn as_exponent(number: Extended) -> f64 {
    if number.is_zero() { 0.0 } else { number.times_power_of_two(0).clamp(power_of_two(-70), power_of_two(70)) }
}

/// How far each candidate lies below the others, times epsilon / 2.
pub struct Generalized {
    points: Points,
    epsilon: f64,
    /// Of each candidate its place, and that of the one it lies furthest below.
    places: Vec<(usize, usize)>,
    exponents: Vec<f64>,
}

impl Generalized {
    /// # Errors
    /// As [`Points::new`], and `InvalidScale` unless epsilon is finite and positive.
    pub fn new(points: Points, epsilon: f64) -> Result<Self, SelectError> {
        if !(epsilon.is_finite() && epsilon > 0.0) {
            return Err(SelectError::InvalidScale);
        }
        let above = points.furthest_above()?;
        let rate = Extended::from_f64(epsilon).scaled(-1);
        let (mut places, mut exponents) = (vec![(0, 0); above.len()], vec![0.0; above.len()]);
        for (i, (&j, &candidate)) in above.iter().zip(points.order()).enumerate() {
            places[candidate] = (i, j);
            exponents[candidate] = as_exponent(points.nearly(i, j).times(rate));
        }
        Ok(Self { points, epsilon, places, exponents })
    }

    /// With the contract of `Scale::exponent`, for formulas.
    pub fn into_exponents(self) -> Vec<f64> {
        self.exponents
    }

    fn exponential(&self, index: usize) -> Exponential<impl Fn() -> Rational + use<'_>> {
        let exact = move || {
            let (place, above) = self.places[index];
            self.points.exact(place, above) * exactly(self.epsilon) * exactly(0.5)
        };
        Exponential { approximate: self.exponents[index], exact }
    }

    /// `size` independent draws by permute-and-flip.
    pub fn select_many(&self, size: usize) -> Result<Vec<usize>, SelectError> {
        let count = self.exponents.len();
        repeat(size, count, |entropy| {
            let mut found = UniformArrival::default();
            heads(count, |index| self.exponential(index), entropy, |index, entropy| found.add(index, entropy))?;
            Ok(found.chosen) // the best always shows heads
        })
    }
}

/// Scores with noise of the scale `(sensitivity + most) / epsilon` each.
pub struct OwnScales<'a> {
    scores: &'a [f64],
    sensitivities: &'a [f64],
    epsilon: f64,
    top: f64,
    most: f64,
}

impl<'a> OwnScales<'a> {
    /// # Errors
    /// As [`Generalized::new`].
    pub fn new(scores: &'a [f64], sensitivities: &'a [f64], epsilon: f64) -> Result<Self, SelectError> {
        Points::new(scores, sensitivities, 1.0, Together::Sum)?;
        if !(epsilon.is_finite() && epsilon > 0.0) {
            return Err(SelectError::InvalidScale);
        }
        let largest = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
        Ok(Self { scores, sensitivities, epsilon, top: largest(scores), most: largest(sensitivities) })
    }

    /// The probability that the noise of a candidate is above a distance, which is known in two ways.
    fn over_scale<F: Fn() -> Rational>(
        &self,
        distance: Extended,
        exact: F,
        index: usize,
    ) -> Exponential<impl Fn() -> Rational + use<'_, F>> {
        let width = Extended::from_f64(self.sensitivities[index]).plus(Extended::from_f64(self.most));
        let approximate = as_exponent(distance.times(Extended::from_f64(self.epsilon)).over(width));
        let exact = move || {
            let width = exactly(self.sensitivities[index]) + exactly(self.most);
            exact() * exactly(self.epsilon) / width
        };
        Exponential { approximate, exact }
    }

    /// A coin that shows heads where the noise of a candidate is above `step`.
    fn is_above(&self, step: Extended, index: usize, entropy: &mut Entropy) -> bool {
        flip(&self.over_scale(step, || step.exactly(), index), entropy)
    }

    /// The same for a noise that is known to be below two steps: q / (1 + q) instead of q.
    fn is_in_upper_half(&self, step: Extended, index: usize, entropy: &mut Entropy) -> bool {
        loop {
            if entropy.next_u32() >> 31 == 0 {
                return false;
            }
            if self.is_above(step, index, entropy) {
                return true;
            }
        }
    }

    /// The one of `left` that has the largest noise.
    fn largest(&self, mut left: Vec<usize>, entropy: &mut Entropy) -> Result<usize, SelectError> {
        // About a scale of those with the widest noise; any step has the same law.
        let widest = Extended::from_f64(self.most).scaled(1).over(Extended::from_f64(self.epsilon));
        let (mut step, mut is_below) = (Extended { fraction: 0.5, ..widest }, false);
        while left.len() > 1 {
            interrupt::check()?;
            if is_below {
                step = step.scaled(-1);
            }
            let above: Vec<usize> = left
                .iter()
                .copied()
                .filter(|&index| {
                    if is_below {
                        self.is_in_upper_half(step, index, entropy)
                    } else {
                        self.is_above(step, index, entropy)
                    }
                })
                .collect();
            if above.is_empty() {
                is_below = true; // and remains: of two halves, either is below a step
            } else {
                left = above;
            }
        }
        left.first().copied().ok_or(SelectError::Changed)
    }

    /// `size` independent draws.
    pub fn select_many(&self, size: usize) -> Result<Vec<usize>, SelectError> {
        let below_top = |index: usize| {
            let score = self.scores[index];
            self.over_scale(Extended::from_gap(score, self.top), move || exactly(self.top) - exactly(score), index)
        };
        repeat(size, self.scores.len(), |entropy| {
            let mut left = Vec::new();
            heads(self.scores.len(), below_top, entropy, |index, _| left.push(index))?;
            self.largest(left, entropy)
        })
    }
}

#[cfg(test)]
#[path = "different_sensitivities_tests.rs"]
mod tests;
