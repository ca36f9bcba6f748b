//! Candidates whose scores move by different amounts: how far each lies below another, in units of both their sensitivities.
//!
//! With r = s - t d, candidate i lies lambda_i = max_j (r_j - r_i) / d_ij below the others, where d_ij = d_i + d_j, or the larger
//! of both where all scores move the same way. In the plane of sensitivities and scores that is the steepest line from one
//! point to a set of points, so it leads to a corner of their upper hull, which bisection finds. Every comparison is exact: by
//! pairs of doubles where these are certain, and otherwise in fractions. Proof: `proofs/different_sensitivities.md`, claim 5.

use std::cmp::Ordering;

use crate::error::{SelectError, reserved};
use crate::exact::coin::power_of_two;
use crate::exact::extended_float::Extended;
use crate::exact::rational::{Rational, exactly};
use crate::interrupt;

/// Points between two checks for Ctrl-C.
const CHECK_EVERY: usize = 1 << 12;
/// Beside values of at most 4, what pairs of doubles lose is below this.
const ABSOLUTE_ERROR: f64 = 1.0 / (1_u128 << 96) as f64;
/// A difference at least this large carries a relative error below 2^-52.
const CERTAIN_DIFFERENCE: f64 = 1.0 / (1_u64 << 40) as f64;

/// The unevaluated sum of two doubles.
#[derive(Clone, Copy, Debug)]
struct Pair {
    high: f64,
    low: f64,
}

impl Pair {
    /// `a - b` exactly.
    fn difference(a: f64, b: f64) -> Self {
        let high = a - b;
        let part = high - a;
        Self { high, low: (a - (high - part)) - (b + part) }
    }

    /// `a b` exactly, unless it is tiny.
    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: a.mul_add(b, -high) }
    }

    fn minus(self, other: Self) -> Self {
        let sum = Self::difference(self.high, other.high);
        let low = sum.low + (self.low - other.low);
        let high = sum.high + low;
        Self { high, low: (sum.high - high) + low }
    }

    fn times(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        let low = product.low + (self.high * other.low + self.low * other.high);
        let high = product.high + low;
        Self { high, low: (product.high - high) + low }
    }

    fn is_double(self) -> bool {
        self.low == 0.0
    }
}

/// How two sensitivities are taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// `d_i + d_j`: scores move any way.
    Sum,
    /// The larger one: all scores move the same way.
    Larger,
}

/// Public sensitivities, scores, and the weight t that a sensitivity has against a score. Places are those in order of
/// sensitivities, and of equal ones from the best score down.
pub struct Points {
    /// The candidate at each place.
    order: Vec<usize>,
    scores: Vec<f64>,
    sensitivities: Vec<f64>,
    shift: f64,
    together: Together,
    /// The same times powers of two, so that no score, and no sensitivity times the weight, is beyond 1.
    small_scores: Vec<f64>,
    small_sensitivities: Vec<f64>,
    small_shift: f64,
    exponent: i64,
    /// Whether nothing was lost by that.
    is_exact: bool,
}

impl Points {
    /// # Errors
    /// `NoCandidates`, `InvalidCount` if there is not one sensitivity a score, `NotFinite` if a score is not,
    /// `InvalidScale` unless sensitivities and weight are finite and positive.
    pub fn new(scores: &[f64], sensitivities: &[f64], shift: f64, together: Together) -> Result<Self, SelectError> {
        let is_positive = |value: &f64| value.is_finite() && *value > 0.0;
        if scores.is_empty() {
            return Err(SelectError::NoCandidates);
        }
        if scores.len() != sensitivities.len() {
            return Err(SelectError::InvalidCount);
        }
        if !is_positive(&shift) || !sensitivities.iter().all(is_positive) {
            return Err(SelectError::InvalidScale);
        }
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(SelectError::NotFinite);
        }
        let mut triples = reserved(scores.len())?;
        triples.extend(
            sensitivities
                .iter()
                .zip(scores)
                .zip(0..)
                .map(|((&sensitivity, &score), index)| (sensitivity, score, index)),
        );
        interrupt::check()?;
        triples.sort_unstable_by(|a: &(f64, f64, usize), b| a.0.total_cmp(&b.0).then_with(|| b.1.total_cmp(&a.1)));
        interrupt::check()?;
        let order: Vec<usize> = triples.iter().map(|triple| triple.2).collect();
        let scores: Vec<f64> = triples.iter().map(|triple| triple.1).collect();
        let sensitivities: Vec<f64> = triples.iter().map(|triple| triple.0).collect();
        drop(triples);
        let largest = |values: &[f64]| Extended::from_f64(values.iter().fold(0.0, |most, value| value.abs().max(most)));
        let widest = largest(&sensitivities);
        let of_sensitivities = widest.exponent;
        let exponent = largest(&scores).exponent.max(widest.times(Extended::from_f64(shift)).exponent);
        let small = |value: f64, exponent: i64| libm::scalbn(value, -exponent as i32);
        let small_scores: Vec<f64> = scores.iter().map(|&score| small(score, exponent)).collect();
        let small_sensitivities: Vec<f64> = sensitivities.iter().map(|&each| small(each, of_sensitivities)).collect();
        let small_shift = small(shift, exponent - of_sensitivities);
        let came_back = |value: f64, small: f64, exponent: i64| libm::scalbn(small, exponent as i32) == value;
        let all = |values: &[f64], small: &[f64], exponent| {
            values.iter().zip(small).all(|(&value, &small)| came_back(value, small, exponent))
        };
        let is_exact =
            all(&scores, &small_scores, exponent) && all(&sensitivities, &small_sensitivities, of_sensitivities);
        Ok(Self {
            order,
            scores,
            sensitivities,
            shift,
            together,
            small_scores,
            small_sensitivities,
            small_shift,
            exponent,
            is_exact,
        })
    }

    /// The candidate at each place.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// For each place the one that it lies furthest below; perhaps itself.
    ///
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub fn furthest_above(&self) -> Result<Vec<usize>, SelectError> {
        let count = self.scores.len();
        let mut found = reserved(count)?;
        found.extend(0..count);
        // Where the sensitivity changes, the best of those with the next one stands.
        let begins = |place: usize| place == 0 || self.sensitivities[place] != self.sensitivities[place - 1];
        let mut hull: Vec<usize> = Vec::new();
        match self.together {
            Together::Sum => {
                for place in (0..count).filter(|&place| begins(place)) {
                    ask(place)?;
                    self.extend(&mut hull, place);
                }
                for (place, slot) in found.iter_mut().enumerate() {
                    ask(place)?;
                    *slot = self.steepest(place, &hull).unwrap_or(place);
                }
            }
            Together::Larger => {
                // From the left: the best r so far, over one's own sensitivity.
                let mut best = 0;
                for (place, slot) in found.iter_mut().enumerate() {
                    if begins(place) && self.height(place, best) == Ordering::Greater {
                        best = place;
                    }
                    *slot = best;
                }
                // From the right: those with larger sensitivities, over theirs.
                for place in (0..count).rev() {
                    ask(place)?;
                    if let Some(other) = self.steepest(place, &hull)
                        && self.compare(place, other, found[place]) == Ordering::Greater
                    {
                        found[place] = other;
                    }
                    if begins(place) {
                        self.extend(&mut hull, place);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Add the next point, in order, to the upper hull of those before it.
    fn extend(&self, hull: &mut Vec<usize>, point: usize) {
        while let [.., before, last] = hull[..]
            && !self.is_corner(before, last, point)
        {
            hull.pop();
        }
        hull.push(point);
    }

    /// Whether `middle` lies above the line between two others, on either side of it.
    fn is_corner(&self, one: usize, middle: usize, other: usize) -> bool {
        let (s, d) = (&self.small_scores, &self.small_sensitivities);
        // (s_m - s_o) (d_e - d_o) > (s_e - s_o) (d_m - d_o) if o is on the left, and the other way round.
        let rise = |point: usize| Pair::difference(s[point], s[one]);
        let run = |point: usize| Pair::difference(d[point], d[one]);
        let certain = self.order_of_products([rise(middle), run(other), rise(other), run(middle)], 0.0);
        let order = certain.unwrap_or_else(|| {
            let rise = |point: usize| exactly(self.scores[point]) - exactly(self.scores[one]);
            let run = |point: usize| exactly(self.sensitivities[point]) - exactly(self.sensitivities[one]);
            (rise(middle) * run(other)).cmp(&(rise(other) * run(middle)))
        });
        let from_left = self.sensitivities[one] < self.sensitivities[other];
        order == if from_left { Ordering::Greater } else { Ordering::Less }
    }

    /// The corner of a hull to which the line from `point` is steepest; none if the hull is empty. Along a hull the lines become
    /// steeper, and then less steep.
    fn steepest(&self, point: usize, hull: &[usize]) -> Option<usize> {
        let (mut low, mut high) = (0, hull.len().checked_sub(1)?);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.compare(point, hull[middle + 1], hull[middle]) == Ordering::Greater {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(hull[low])
    }

    /// Whether `point` lies further below `one` than below `other`.
    fn compare(&self, point: usize, one: usize, other: usize) -> Ordering {
        if one == other {
            return Ordering::Equal;
        }
        let (over_one, over_other) = (self.small_distance(point, one), self.small_distance(point, other));
        let factors = [self.small_difference(point, one), over_other, self.small_difference(point, other), over_one];
        let slack = ABSOLUTE_ERROR * (over_one.high + over_other.high);
        self.order_of_products(factors, slack).unwrap_or_else(|| self.exact(point, one).cmp(&self.exact(point, other)))
    }

    /// The order of r_one and r_other.
    fn height(&self, one: usize, other: usize) -> Ordering {
        if one == other {
            return Ordering::Equal;
        }
        let difference = self.small_difference(other, one).high;
        if difference.abs() > 2.0 * ABSOLUTE_ERROR {
            return difference.total_cmp(&0.0);
        }
        self.exact_difference(other, one).cmp(&Rational::ZERO)
    }

    /// r_j - r_i of the small numbers, within `ABSOLUTE_ERROR`.
    fn small_difference(&self, i: usize, j: usize) -> Pair {
        let rise = Pair::difference(self.small_scores[j], self.small_scores[i]);
        let run = Pair::difference(self.small_sensitivities[j], self.small_sensitivities[i]);
        rise.minus(Pair { high: self.small_shift, low: 0.0 }.times(run))
    }

    fn small_distance(&self, i: usize, j: usize) -> Pair {
        let (one, other) = (self.small_sensitivities[i], self.small_sensitivities[j]);
        match self.together {
            Together::Sum => Pair::difference(one, -other),
            Together::Larger => Pair { high: one.max(other), low: 0.0 },
        }
    }

    /// The order of the products of the first two and of the last two, if pairs of doubles are certain of it.
    fn order_of_products(&self, [a, b, c, d]: [Pair; 4], slack: f64) -> Option<Ordering> {
        let (left, right) = (a.times(b), c.times(d));
        let difference = left.minus(right).high;
        let error = slack + ABSOLUTE_ERROR * (left.high.abs() + right.high.abs()) + power_of_two(-900);
        if difference.abs() > error {
            return Some(difference.total_cmp(&0.0));
        }
        // Products of doubles are exact as long as they are not tiny: whole numbers are often on one line.
        let is_plain = |product: Pair| product.high == 0.0 || product.high.abs() > power_of_two(-800);
        let is_equal = left.high == right.high && left.low == right.low;
        let are_doubles = slack == 0.0 && [a, b, c, d].into_iter().all(Pair::is_double);
        (self.is_exact && is_equal && are_doubles && is_plain(left)).then_some(Ordering::Equal)
    }

    /// r_j - r_i.
    fn exact_difference(&self, i: usize, j: usize) -> Rational {
        let rise = exactly(self.scores[j]) - exactly(self.scores[i]);
        let run = exactly(self.sensitivities[j]) - exactly(self.sensitivities[i]);
        rise - exactly(self.shift) * run
    }

    /// How far `i` lies below `j`, in units of both their sensitivities.
    pub fn exact(&self, i: usize, j: usize) -> Rational {
        let (one, other) = (self.sensitivities[i], self.sensitivities[j]);
        let distance = match self.together {
            Together::Sum => exactly(one) + exactly(other),
            Together::Larger => exactly(one.max(other)),
        };
        self.exact_difference(i, j) / distance
    }

    /// The same, for a `j` that is not below `i`, with relative error at most 2^-51.
    pub fn nearly(&self, i: usize, j: usize) -> Extended {
        if i == j {
            return Extended::ZERO;
        }
        let difference = self.small_difference(i, j).high;
        let difference = if difference > CERTAIN_DIFFERENCE {
            Extended::from_f64(difference).scaled(self.exponent)
        } else {
            Extended::from_rational(&self.exact_difference(i, j))
        };
        let [one, other] = [self.sensitivities[i], self.sensitivities[j]].map(Extended::from_f64);
        let distance = match self.together {
            Together::Sum => one.plus(other),
            Together::Larger => one.max(other),
        };
        difference.over(distance)
    }
}

/// Ask, once in a while, whether the call is to end.
fn ask(number: usize) -> Result<(), SelectError> {
    if number.is_multiple_of(CHECK_EVERY) { interrupt::check() } else { Ok(()) }
}

#[cfg(test)]
#[path = "steepest_tests.rs"]
mod tests;
