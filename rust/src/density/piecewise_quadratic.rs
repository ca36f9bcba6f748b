//! Points with density proportional to exp(score / b), where the score falls from the top of each piece by a slope and a
//! curvature: pieces of lines and of concave parabolas, bounded or not, continuous or not.
//!
//! A piece is chosen by a bound of its mass, a point of it proposed by a uniform or an exponential number, and kept with
//! the probability that makes up for the bound. Everything that decides is exact, whatever the scales.
//! Proof: `proofs/falling_scores.md`.

use dashu_int::UBig;
use dashu_int::ops::BitTest;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::intervals::pieces::{Chooser, Segments};
use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::extended_float::Wide;
use crate::numbers::lazy_variate::Variate;
use crate::numbers::rational::Rational;
use crate::numbers::rounding::nearest_quotient;
use crate::numbers::scale::Scale;

/// A piece: at the distance t from its top the score is `score - slope t - curvature t^2`.
#[derive(Clone, Debug)]
pub struct Fall {
    pub top: Rational,
    /// Whether the piece lies above its top.
    pub is_upward: bool,
    /// None if it has no end.
    pub length: Option<Ratio>,
    pub score: Rational,
    pub slope: Ratio,
    pub curvature: Ratio,
}

/// A score over the line (or what of it belongs to the piece's), piece by piece.
pub trait Landscape {
    fn count(&self) -> usize;

    /// Piece `index`; one of length 0 is never drawn. One without an end must fall.
    fn fall(&self, index: usize) -> Fall;

    /// Whether there may be curvature.
    fn is_curved(&self) -> bool;
}

/// Draw a point, rounded once to the nearest finite double.
///
/// # Errors
/// `NoCandidates` if no piece has a length, `Memory`.
pub fn draw<L: Landscape, E: Entropy>(landscape: &L, scale: &Scale, entropy: &mut E) -> Result<f64, SelectError> {
    let parts = Parts::new(landscape, scale)?;
    let chooser = Chooser::new(&parts)?;
    Ok(parts.draw(&chooser, entropy))
}

/// Of so few parts the exact numbers are kept; of more they are computed again where they are needed.
const FEW: usize = 1024;

/// The pieces, those with curvature in two: as far as the parabola costs a factor e at most, and the rest, which is steep.
/// Either way a proposal is kept with probability 1/4 at least.
struct Parts<'a, L> {
    landscape: &'a L,
    scale: &'a Scale,
    /// The best score of a part with a length.
    best: Rational,
    /// Of each part, the length that its mass is bounded by, and the exponent at its top.
    known: Vec<(Wide, f64)>,
    /// All of them, or none.
    kept: Vec<Fall>,
}

impl<'a, L: Landscape> Parts<'a, L> {
    fn new(landscape: &'a L, scale: &'a Scale) -> Result<Self, SelectError> {
        let best = (0..landscape.count())
            .map(|index| landscape.fall(index))
            .filter(|fall| !fall.is_empty())
            .map(|fall| fall.score)
            .reduce(|best, score| if score.is_above(&best) { score } else { best })
            .ok_or(SelectError::NoCandidates)?;
        let mut parts = Self { landscape, scale, best, known: Vec::new(), kept: Vec::new() };
        let count = parts.pieces_of_each() * landscape.count();
        let mut known = reserved(count)?;
        let mut kept = reserved(count.min(FEW))?;
        for index in 0..count {
            let part = parts.part(index);
            let length = part.bounding_length(scale);
            let exponent = scale.exact_exponent_of_gap(&parts.best.height_above(&part.score));
            known.push((Wide::from_ratio(&length), moderate(&exponent)));
            if count <= FEW {
                kept.push(part);
            }
        }
        (parts.known, parts.kept) = (known, kept);
        Ok(parts)
    }

    fn pieces_of_each(&self) -> usize {
        if self.landscape.is_curved() { 2 } else { 1 }
    }

    fn part(&self, index: usize) -> Fall {
        if let Some(part) = self.kept.get(index) {
            return part.clone();
        }
        let each = self.pieces_of_each();
        let fall = self.landscape.fall(index / each);
        if each == 1 {
            return fall;
        }
        let [near, far] = fall.split(self.scale);
        if index.is_multiple_of(2) { near } else { far }
    }
}

impl<L: Landscape> Parts<'_, L> {
    fn draw<E: Entropy>(&self, chooser: &Chooser, entropy: &mut E) -> f64 {
        loop {
            let part = self.part(chooser.draw(self, entropy));
            if let Some(mut point) = part.propose(self.scale, entropy) {
                return point.rounded(entropy);
            }
        }
    }
}

impl<L: Landscape> Segments for Parts<'_, L> {
    fn count(&self) -> usize {
        self.known.len()
    }

    fn length(&self, index: usize) -> Wide {
        self.known[index].0
    }

    fn exact_length(&self, index: usize) -> Ratio {
        self.part(index).bounding_length(self.scale)
    }

    fn exponent(&self, index: usize) -> f64 {
        self.known[index].1
    }

    fn exact_exponent(&self, index: usize) -> Ratio {
        self.scale.exact_exponent_of_gap(&self.best.height_above(&self.part(index).score))
    }
}

/// An exponent as a double with the contract of [`Segments::exponent`].
fn moderate(exponent: &Ratio) -> f64 {
    if exponent.numerator == UBig::ZERO {
        return 0.0;
    }
    Wide::from_ratio(exponent).times_power_of_two(0).clamp(2_f64.powi(-70), 2_f64.powi(70))
}

impl Fall {
    fn is_empty(&self) -> bool {
        self.length.as_ref().is_some_and(|length| length.numerator == UBig::ZERO)
    }

    /// The length if the line falls by a factor e at most over it, else the distance over which it falls by that.
    fn bounding_length(&self, scale: &Scale) -> Ratio {
        let rate = scale.exact_exponent_of_gap(&self.slope);
        match &self.length {
            Some(length) if is_gentle(&rate, length) => length.clone(),
            _ => Ratio { numerator: rate.denominator, denominator: rate.numerator },
        }
    }

    /// A part over which curvature / b t^2 is at most 1, and the rest as a piece of its own, steep at its top.
    fn split(self, scale: &Scale) -> [Self; 2] {
        let reach = reach(&scale.exact_exponent_of_gap(&self.curvature));
        let rest = match (&reach, &self.length) {
            (None, _) => Some(nothing()),
            (Some(reach), Some(length)) if is_at_most(length, reach) => Some(nothing()),
            (Some(reach), Some(length)) => Some(length.minus(reach)),
            (Some(_), None) => None,
        };
        let reach = reach.unwrap_or_else(nothing);
        let drop_of_slope = self.slope.times(&reach);
        let drop_of_curve = self.curvature.times(&reach).times(&reach);
        let twice = Ratio { numerator: UBig::from(2_u8), denominator: UBig::ONE };
        let far = Self {
            top: self.top.moved(&reach, self.is_upward),
            is_upward: self.is_upward,
            score: self.score.moved(&drop_of_slope.plus(&drop_of_curve), false),
            slope: self.slope.plus(&self.curvature.times(&reach).times(&twice)),
            curvature: self.curvature.clone(),
            length: rest,
        };
        let near = if far.is_empty() { self } else { Self { length: Some(reach), ..self } };
        [near, far]
    }

    /// A point of the piece, or none: the choice of a piece has to start again.
    fn propose<E: Entropy>(self, scale: &Scale, entropy: &mut E) -> Option<FallenPoint> {
        let rate = scale.exact_exponent_of_gap(&self.slope);
        let (mut distance, unit, linear) = match self.length {
            Some(length) if is_gentle(&rate, &length) => {
                let linear = rate.times(&length);
                (Variate::uniform(entropy), length, linear)
            }
            length => {
                let mut distance = Variate::exponential(entropy);
                if let Some(length) = length
                    && !distance.is_below(&rate.times(&length), entropy)
                {
                    return None;
                }
                (distance, Ratio { numerator: rate.denominator, denominator: rate.numerator }, nothing())
            }
        };
        let quadratic = scale.exact_exponent_of_gap(&self.curvature).times(&unit).times(&unit);
        let is_certain = linear.numerator == UBig::ZERO && quadratic.numerator == UBig::ZERO;
        let cost = |t: &Ratio| linear.plus(&quadratic.times(t)).times(t);
        let is_kept = is_certain || distance.survives(cost, entropy);
        is_kept.then_some(FallenPoint { top: self.top, is_upward: self.is_upward, unit, distance })
    }
}

/// A point at so many units from a top.
struct FallenPoint {
    top: Rational,
    is_upward: bool,
    unit: Ratio,
    distance: Variate,
}

impl FallenPoint {
    /// The finite double nearest to the point.
    fn rounded<E: Entropy>(&mut self, entropy: &mut E) -> f64 {
        loop {
            let (low, bits) = self.distance.cell();
            let at = |cell: UBig| {
                let share = Ratio { numerator: cell, denominator: UBig::ONE << bits };
                let point = self.top.moved(&self.unit.times(&share), self.is_upward);
                nearest_quotient(&point.numerator, &point.denominator).clamp(-f64::MAX, f64::MAX)
            };
            let rounded = at(&low + UBig::ONE);
            if rounded == at(low) {
                return rounded;
            }
            self.distance.refine(entropy);
        }
    }
}

fn nothing() -> Ratio {
    Ratio { numerator: UBig::ZERO, denominator: UBig::ONE }
}

fn is_at_most(a: &Ratio, b: &Ratio) -> bool {
    &a.numerator * &b.denominator <= &b.numerator * &a.denominator
}

fn is_gentle(rate: &Ratio, length: &Ratio) -> bool {
    &rate.numerator * &length.numerator <= &rate.denominator * &length.denominator
}

/// A power of two w with 1/8 < curvature w^2 <= 1, if there is curvature.
fn reach(curvature: &Ratio) -> Option<Ratio> {
    if curvature.numerator == UBig::ZERO {
        return None;
    }
    // 2^(octaves - 1) < curvature < 2^(octaves + 1).
    let octaves = curvature.numerator.bit_len() as i64 - curvature.denominator.bit_len() as i64;
    Some(Ratio::scaled(UBig::ONE, -(octaves + 2).div_euclid(2)))
}

#[cfg(test)]
#[path = "piecewise_quadratic_tests.rs"]
mod tests;
