//! Selection where scores move by different amounts: permute-and-flip on how far each candidate lies below the others.
//!
//! There is one coin a candidate; of those that show heads permute-and-flip takes any. Proof:
//! `proofs/different_sensitivities.md`; model: `tests/reference/different_sensitivities.py`.

use crate::error::SelectError;
use crate::exact::coin::{Exponential, flip, power_of_two};
use crate::exact::extended_float::Extended;
use crate::exact::rational::{Rational, exactly};
use crate::interrupt;
use crate::select::many_draws::repeat;
use crate::select::permute_and_flip::{Arrivals, UniformArrival};
use crate::select::steepest::Points;

/// Coins between two checks for Ctrl-C.
const CHECK_EVERY: usize = 1 << 14;

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
            for index in 0..count {
                if index.is_multiple_of(CHECK_EVERY) {
                    interrupt::check()?;
                }
                if flip(&self.exponential(index), entropy) {
                    found.add(index, entropy);
                }
            }
            Ok(found.chosen) // the best always shows heads
        })
    }
}

#[cfg(test)]
#[path = "different_sensitivities_tests.rs"]
mod tests;
