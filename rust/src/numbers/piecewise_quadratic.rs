//! Points with density proportional to exp(score / b), where the score falls from the top of each piece by a slope and a
//! curvature: pieces of lines and of concave parabolas, bounded or not, continuous or not.
//!
//! A piece is chosen by a bound of its mass, a point of it proposed by a uniform or an exponential number, and kept with
//! the probability that makes up for the bound. Bounds are made of doubles with a known error, once for all draws of a
//! plan; everything that decides is exact, whatever the scales. Proof: `proofs/falling_scores.md`.

use dashu_int::IBig;
use dashu_int::ops::BitTest;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::exact::coin::{approximate, power_of_two};
use crate::exact::decision::decide;
use crate::exact::extended_float::Extended;
use crate::exact::lazy_variate::Variate;
use crate::exact::pieces::{Chooser, WeightedPieces};
use crate::exact::rational::{Rational, exactly, nearest_f64, nearest_of, scaled};
use crate::interrupt::{self, check_deep};
use crate::scores::scale::Scale;

/// A piece: at the distance t from its top the score is `score - slope t - curvature t^2`.
#[derive(Clone, Debug)]
pub struct FallingPiece {
    pub top: Rational,
    /// Whether the piece lies above its top.
    pub is_upward: bool,
    /// None if it has no end.
    pub length: Option<Rational>,
    pub score: Rational,
    /// Not negative.
    pub slope: Rational,
    /// Not negative.
    pub curvature: Rational,
}

/// A piece without curvature, in doubles: length and fall within a relative 2^-51, zero if and only if they are.
#[derive(Clone, Copy, Debug)]
pub struct PieceInDoubles {
    /// None if it has no end.
    pub length: Option<Extended>,
    /// From the top to the other end; for each unit if there is none.
    pub fall: Extended,
    /// At the top, off by at most `error`; neither need be finite.
    pub score: f64,
    pub error: f64,
}

impl PieceInDoubles {
    fn is_empty(&self) -> bool {
        self.length.is_some_and(Extended::is_zero)
    }
}

/// A score over the line (or what of it belongs to the pieces), piece by piece.
pub trait PiecewiseScore: Send + Sync {
    fn count(&self) -> usize;

    /// Piece `index`; one of length 0 is never drawn. One without an end must fall.
    fn piece(&self, index: usize) -> FallingPiece;

    /// The same in doubles, of all pieces or of none.
    fn in_doubles(&self, _index: usize) -> Option<PieceInDoubles> {
        None
    }

    /// Whether there may be curvature.
    fn is_curved(&self) -> bool {
        false
    }
}

/// All that draws with one score need.
pub struct Prepared {
    parts: Parts,
    chooser: Chooser,
}

impl Prepared {
    /// # Errors
    /// `NoCandidates` if no piece has a length.
    pub fn new(score: impl PiecewiseScore + 'static, scale: Scale) -> Result<Self, SelectError> {
        let parts = Parts::new(Box::new(score), scale)?;
        let chooser = Chooser::new(&parts)?;
        Ok(Self { parts, chooser })
    }

    /// Draw a point, rounded once to the nearest finite double.
    pub fn draw(&self, entropy: &mut Entropy) -> f64 {
        loop {
            let part = self.parts.part(self.chooser.draw(&self.parts, entropy));
            if let Some(mut point) = part.propose(&self.parts.rate, entropy) {
                return point.rounded(entropy);
            }
            check_deep();
        }
    }
}

/// The pieces, those with curvature in two: as far as the parabola costs a factor e at most, and the rest, which is steep.
/// Either way a proposal is kept with probability 1/4 at least.
struct Parts {
    score: Box<dyn PiecewiseScore>,
    scale: Scale,
    /// 1/b.
    rate: Rational,
    rate_in_doubles: Extended,
    /// The best score of a part with a length, the double nearest to it, and whether that is the score itself.
    best: Rational,
    near_best: f64,
    is_best_double: bool,
    /// Of each part, the length that its mass is bounded by, and the exponent at its top, if the score has no doubles.
    known: Vec<(Extended, f64)>,
}

impl Parts {
    fn new(score: Box<dyn PiecewiseScore>, scale: Scale) -> Result<Self, SelectError> {
        let best = best(&*score)?;
        let near_best = nearest_f64(&best);
        let rate = scale.exact_exponent_of_gap(&exactly(1.0));
        let rate_in_doubles = Extended::from_rational(&rate);
        let is_best_double = near_best.is_finite() && exactly(near_best) == best;
        let known = Vec::new();
        let mut parts = Self { score, scale, rate, rate_in_doubles, best, near_best, is_best_double, known };
        if parts.score.in_doubles(0).is_none() {
            let mut known = reserved(parts.count())?;
            for index in 0..parts.count() {
                interrupt::check()?;
                let part = parts.part(index);
                let length = Extended::from_rational(&part.bounding_length(&parts.rate));
                known.push((length, approximate(&((&parts.best - part.score) * &parts.rate))));
            }
            parts.known = known;
        }
        Ok(parts)
    }

    fn part(&self, index: usize) -> FallingPiece {
        if !self.score.is_curved() {
            return self.score.piece(index);
        }
        let [near, far] = self.score.piece(index / 2).split(&self.rate);
        if index.is_multiple_of(2) { near } else { far }
    }

    /// The length that bounds the mass.
    fn rough_length(&self, piece: &PieceInDoubles) -> Extended {
        let fall = piece.fall.times(self.rate_in_doubles);
        match piece.length {
            Some(length) if fall <= Extended::from_f64(1.0) => length,
            length => length.unwrap_or(Extended::from_f64(1.0)).over(fall),
        }
    }

    /// The exponent within 2^-24 + 2^-42 of itself.
    fn rough_exponent(&self, index: usize, piece: &PieceInDoubles) -> f64 {
        if piece.error == 0.0 && self.is_best_double {
            return self.scale.exponent(self.near_best, piece.score);
        }
        let gap = (self.near_best - piece.score).max(0.0);
        // Two roundings to the nearest; half a place more than they are worth, for those of this sum.
        let error = piece.error + (self.near_best.abs() + gap) * f64::EPSILON + 5e-324;
        if gap < f64::INFINITY && error < f64::INFINITY {
            let x = self.scale.exponent_of_gap(gap);
            if self.scale.exponent_of_gap(error) < power_of_two(-25) + x * power_of_two(-43) {
                return x;
            }
        }
        approximate(&self.exact_exponent(index))
    }
}

/// The best score of a piece with a length: exact ones are compared where doubles cannot tell.
fn best(score: &dyn PiecewiseScore) -> Result<Rational, SelectError> {
    let mut surely = f64::NEG_INFINITY;
    let mut near: Vec<usize> = Vec::new();
    for index in 0..score.count() {
        if index % 4096 == 0 {
            interrupt::check()?;
        }
        if let Some(piece) = score.in_doubles(index) {
            // Of equal scores without an error one is enough.
            let is_no_better = piece.error == 0.0 && piece.score <= surely;
            if piece.is_empty() || piece.score + piece.error < surely || is_no_better {
                continue;
            }
            surely = surely.max(piece.score - piece.error); // NaN changes nothing
        }
        near.try_reserve(1).map_err(|_| SelectError::Memory)?;
        near.push(index);
    }
    let mut best: Option<Rational> = None;
    for index in near {
        if score.in_doubles(index).is_some_and(|piece| piece.score + piece.error < surely) {
            continue;
        }
        interrupt::check()?;
        let piece = score.piece(index);
        if !piece.is_empty() && best.as_ref().is_none_or(|best| piece.score > *best) {
            best = Some(piece.score);
        }
    }
    best.ok_or(SelectError::NoCandidates)
}

impl WeightedPieces for Parts {
    fn count(&self) -> usize {
        self.score.count() * if self.score.is_curved() { 2 } else { 1 }
    }

    fn length(&self, index: usize) -> Extended {
        self.in_doubles(index).0
    }

    fn exponent(&self, index: usize) -> f64 {
        self.in_doubles(index).1
    }

    fn in_doubles(&self, index: usize) -> (Extended, f64) {
        if let Some(&known) = self.known.get(index) {
            return known;
        }
        match self.score.in_doubles(index) {
            Some(piece) => (self.rough_length(&piece), self.rough_exponent(index, &piece)),
            None => (Extended::ZERO, 0.0), // all are known then
        }
    }

    /// The exponent's share, and 2^-48 of the length: two roundings more than the slope's.
    fn margin(&self, x: f64) -> f64 {
        (1.0 + x) * (1.0 / (1_u64 << 41) as f64) + 1.0 / (1_u64 << 23) as f64
    }

    fn exact_length(&self, index: usize) -> Rational {
        self.part(index).bounding_length(&self.rate)
    }

    fn exact_exponent(&self, index: usize) -> Rational {
        (&self.best - self.part(index).score) * &self.rate
    }
}

impl FallingPiece {
    fn is_empty(&self) -> bool {
        self.length.as_ref().is_some_and(Rational::is_zero)
    }

    /// The length if the line falls by a factor e at most over it, else the distance over which it falls by that.
    fn bounding_length(&self, rate: &Rational) -> Rational {
        match &self.length {
            Some(length) if self.is_gentle(length, rate) => length.clone(),
            _ => Rational::ONE / (&self.slope * rate),
        }
    }

    fn is_gentle(&self, length: &Rational, rate: &Rational) -> bool {
        &self.slope * rate * length <= Rational::ONE
    }

    /// A part over which curvature / b t^2 is at most 1, and the rest as a piece of its own, steep at its top.
    fn split(self, rate: &Rational) -> [Self; 2] {
        let reach = reach(&(&self.curvature * rate));
        let rest = match (&reach, &self.length) {
            (Some(reach), Some(length)) if length > reach => Some(length - reach),
            (Some(_), None) => None,
            _ => Some(Rational::ZERO),
        };
        let reach = reach.unwrap_or(Rational::ZERO);
        let fall_of_curve = &self.curvature * &reach;
        let far = Self {
            top: if self.is_upward { &self.top + &reach } else { &self.top - &reach },
            is_upward: self.is_upward,
            score: &self.score - (&self.slope + &fall_of_curve) * &reach,
            slope: &self.slope + &fall_of_curve + &fall_of_curve,
            curvature: self.curvature.clone(),
            length: rest,
        };
        let near = if far.is_empty() { self } else { Self { length: Some(reach), ..self } };
        [near, far]
    }

    /// A point of the piece, or none: the choice of a piece has to start again.
    fn propose(self, rate: &Rational, entropy: &mut Entropy) -> Option<LazyPoint> {
        let steepness = &self.slope * rate;
        let fall = self.length.as_ref().map(|length| &steepness * length);
        let (mut distance, unit, linear) = match (self.length, fall) {
            (Some(length), Some(fall)) if fall <= Rational::ONE => (Variate::uniform(entropy), length, fall),
            (_, fall) => {
                let mut distance = Variate::exponential(entropy);
                if fall.is_some_and(|fall| !distance.is_below(&fall, entropy)) {
                    return None;
                }
                (distance, Rational::ONE / steepness, Rational::ZERO)
            }
        };
        let is_straight = self.curvature.is_zero();
        let quadratic = if is_straight { Rational::ZERO } else { &self.curvature * rate * &unit * &unit };
        let is_certain = linear.is_zero() && is_straight;
        let is_kept = is_certain || distance.survives(&linear, &quadratic, entropy);
        is_kept.then_some(LazyPoint { top: self.top, is_upward: self.is_upward, unit, distance })
    }
}

/// A point at so many units from a top.
struct LazyPoint {
    top: Rational,
    is_upward: bool,
    unit: Rational,
    distance: Variate,
}

impl LazyPoint {
    /// The finite double nearest to the point.
    fn rounded(&mut self, entropy: &mut Entropy) -> f64 {
        // The point is (start + step v) / denominator, of integers, for the distance v.
        let (top, unit) = (&self.top, &self.unit);
        let start = &top.numerator * &unit.denominator;
        let step = &unit.numerator * &top.denominator;
        let step = if self.is_upward { step } else { -step };
        let denominator = &top.denominator * &unit.denominator;
        decide(&mut self.distance, entropy, |distance| {
            let (low, bits) = distance.cell();
            let (low, denominator) = ((&start << bits) + &step * low, &denominator << bits);
            let at = |numerator: &IBig| nearest_of(numerator, &denominator).clamp(-f64::MAX, f64::MAX);
            let rounded = at(&low);
            (rounded == at(&(low + &step))).then_some(rounded)
        })
    }
}

/// A power of two w with 1/8 < curvature w^2 <= 1, if there is curvature.
fn reach(curvature: &Rational) -> Option<Rational> {
    if curvature.is_zero() {
        return None;
    }
    // 2^(octaves - 1) < curvature < 2^(octaves + 1).
    let octaves = curvature.numerator.bit_len() as i64 - curvature.denominator.bit_len() as i64;
    Some(scaled(1, -(octaves + 2).div_euclid(2)))
}

#[cfg(test)]
#[path = "piecewise_quadratic_tests.rs"]
mod tests;
