//! Scores in pieces that fall from tops: lines between points, lines through the origin, concave scores of given slopes,
//! and one peak.

use dashu_int::{IBig, UBig};

use crate::error::SelectError;
use crate::error::reserved;
use crate::exact::extended_float::Extended;
use crate::exact::rational::{Rational, exactly};
use crate::interrupt;
use crate::numbers::piecewise_quadratic::{FallingPiece, PieceInDoubles, PiecewiseScore};

/// Finite numbers, of which the points do not decrease; `apart` more points than numbers in each of the others.
fn check(points: &[f64], others: &[&[f64]], apart: usize) -> Result<(), SelectError> {
    let are_finite = |numbers: &&[f64]| numbers.iter().all(|number| number.is_finite());
    if !are_finite(&points) || !others.iter().all(are_finite) || !points.is_sorted() {
        return Err(SelectError::NotFinite);
    }
    let are_as_many = others.iter().all(|numbers| numbers.len() + apart == points.len());
    if are_as_many && !points.is_empty() { Ok(()) } else { Err(SelectError::InvalidCount) }
}

/// The half-line beyond an outer breakpoint, on which the score falls by `slope` > 0.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    pub score: f64,
    pub slope: f64,
}

fn tail(point: f64, score: Rational, slope: f64, is_upward: bool) -> FallingPiece {
    let slope = exactly(slope.abs());
    FallingPiece { top: exactly(point), is_upward, length: None, score, slope, curvature: Rational::ZERO }
}

/// Lines by their scores at both ends of every piece; neighbours need not meet.
pub struct Lines {
    breakpoints: Vec<f64>,
    starts: Vec<f64>,
    ends: Vec<f64>,
    tails: Vec<(Tail, bool)>,
}

impl Lines {
    /// Piece i goes from `starts[i]` at `breakpoints[i]` to `ends[i]` at `breakpoints[i + 1]`.
    ///
    /// # Errors
    /// `NotFinite` if a number is not, if breakpoints decrease or if a tail does not fall; `InvalidCount` if lengths do
    /// not match.
    pub fn new(
        breakpoints: Vec<f64>,
        starts: Vec<f64>,
        ends: Vec<f64>,
        below: Option<Tail>,
        above: Option<Tail>,
    ) -> Result<Self, SelectError> {
        check(&breakpoints, &[&starts, &ends], 1)?;
        let tails = [below, above].into_iter().zip([false, true]);
        let tails: Vec<_> = tails.filter_map(|(tail, is_upward)| Some((tail?, is_upward))).collect();
        let falls = |tail: Tail| tail.score.is_finite() && tail.slope.is_finite() && tail.slope > 0.0;
        if tails.iter().all(|tail| falls(tail.0)) {
            Ok(Self { breakpoints, starts, ends, tails })
        } else {
            Err(SelectError::NotFinite)
        }
    }
}

impl PiecewiseScore for Lines {
    fn count(&self) -> usize {
        self.starts.len() + self.tails.len()
    }

    fn piece(&self, index: usize) -> FallingPiece {
        let Some(&start) = self.starts.get(index) else {
            let (line, is_upward) = self.tails[index - self.starts.len()];
            let point = self.breakpoints[if is_upward { self.breakpoints.len() - 1 } else { 0 }];
            return tail(point, exactly(line.score), line.slope, is_upward);
        };
        let (low, high, end) = (self.breakpoints[index], self.breakpoints[index + 1], self.ends[index]);
        let length = exactly(high) - exactly(low);
        let is_upward = start >= end;
        let ((top, score), least) = if is_upward { ((low, start), end) } else { ((high, end), start) };
        let drop = exactly(score) - exactly(least);
        let slope = if low < high { drop / &length } else { Rational::ZERO };
        let (top, score) = (exactly(top), exactly(score));
        FallingPiece { top, is_upward, length: Some(length), score, slope, curvature: Rational::ZERO }
    }

    fn in_doubles(&self, index: usize) -> Option<PieceInDoubles> {
        let Some(&start) = self.starts.get(index) else {
            let (line, _) = self.tails[index - self.starts.len()];
            return Some(PieceInDoubles {
                length: None,
                fall: Extended::from_f64(line.slope),
                score: line.score,
                error: 0.0,
            });
        };
        let (end, length) =
            (self.ends[index], Extended::from_gap(self.breakpoints[index], self.breakpoints[index + 1]));
        let (score, least) = if start < end { (end, start) } else { (start, end) };
        Some(PieceInDoubles { length: Some(length), fall: Extended::from_gap(least, score), score, error: 0.0 })
    }
}

/// Lines through the origin, between breakpoints: the score of piece i is `slopes[i] * x`.
pub struct LinesThroughOrigin {
    breakpoints: Vec<f64>,
    slopes: Vec<f64>,
}

impl LinesThroughOrigin {
    /// # Errors
    /// As [`Lines::new`].
    pub fn new(breakpoints: Vec<f64>, slopes: Vec<f64>) -> Result<Self, SelectError> {
        check(&breakpoints, &[&slopes], 1)?;
        Ok(Self { breakpoints, slopes })
    }

    /// The slope, the breakpoint at the better end, and whether the piece lies above it.
    fn top(&self, index: usize) -> (f64, f64, bool) {
        let slope = self.slopes[index];
        let is_upward = slope <= 0.0;
        (slope, self.breakpoints[if is_upward { index } else { index + 1 }], is_upward)
    }
}

impl PiecewiseScore for LinesThroughOrigin {
    fn count(&self) -> usize {
        self.slopes.len()
    }

    fn piece(&self, index: usize) -> FallingPiece {
        let (slope, top, is_upward) = self.top(index);
        let [slope, top, low, high] = [slope, top, self.breakpoints[index], self.breakpoints[index + 1]].map(exactly);
        let score = &slope * &top;
        let slope = if is_upward { -slope } else { slope };
        FallingPiece { top, is_upward, length: Some(high - low), score, slope, curvature: Rational::ZERO }
    }

    fn in_doubles(&self, index: usize) -> Option<PieceInDoubles> {
        let (slope, top, _) = self.top(index);
        let length = Extended::from_gap(self.breakpoints[index], self.breakpoints[index + 1]);
        let score = slope * top;
        // One rounding, also below the normal doubles; infinite, as the score, beyond the largest.
        let error = score.abs() * f64::EPSILON + 5e-324;
        Some(PieceInDoubles { length: Some(length), fall: length.times(Extended::from_f64(slope.abs())), score, error })
    }
}

/// A concave score by its slope at every breakpoint, linear in between; it may jump down where breakpoints are equal.
///
/// Pieces 2 i and 2 i + 1 are the rising and the falling part between breakpoints i and i + 1; then come the tails, on
/// which the outer slopes go on.
pub struct Concave {
    breakpoints: Vec<f64>,
    slopes: Vec<f64>,
    /// At every breakpoint, up to a constant.
    scores: Vec<Rational>,
    has_tails: bool,
}

impl Concave {
    /// # Errors
    /// `NotFinite` if a number is not, if breakpoints decrease, slopes increase or, with tails, do not lead down;
    /// `InvalidCount` if there is not one slope a breakpoint.
    pub fn new(breakpoints: Vec<f64>, slopes: Vec<f64>, has_tails: bool) -> Result<Self, SelectError> {
        check(&breakpoints, &[&slopes], 0)?;
        let falls_outwards = slopes[0] > 0.0 && slopes[slopes.len() - 1] < 0.0;
        if !slopes.iter().rev().is_sorted() || (has_tails && !falls_outwards) {
            return Err(SelectError::NotFinite);
        }
        let mut scores = reserved(slopes.len())?;
        scores.push(Rational::ZERO);
        for index in 1..slopes.len() {
            interrupt::check()?;
            let length = exactly(breakpoints[index]) - exactly(breakpoints[index - 1]);
            let rise = (exactly(slopes[index - 1]) + exactly(slopes[index])) * half() * length;
            scores.push(&scores[index - 1] + rise);
        }
        Ok(Self { breakpoints, slopes, scores, has_tails })
    }

    /// The part of a gap on the one side of its best point.
    fn part(&self, gap: usize, is_falling: bool) -> FallingPiece {
        let [low, high] = [self.breakpoints[gap], self.breakpoints[gap + 1]].map(exactly);
        let [before, after] = [self.slopes[gap], self.slopes[gap + 1]].map(exactly);
        let length = &high - &low;
        let bend = &before - &after;
        let curvature = if length.is_zero() { Rational::ZERO } else { &bend / &length * half() };
        if before > Rational::ZERO && after < Rational::ZERO && !length.is_zero() {
            // The slope is 0 at the share before / (before - after) of the length.
            let rising = &before / &bend * &length;
            let top = &low + &rising;
            let score = &self.scores[gap] + before * &rising * half();
            let length = Some(if is_falling { length - rising } else { rising });
            return FallingPiece { top, is_upward: is_falling, length, score, slope: Rational::ZERO, curvature };
        }
        let falls = before <= Rational::ZERO;
        let (top, score, slope) =
            if falls { (low, &self.scores[gap], -before) } else { (high, &self.scores[gap + 1], after) };
        let length = Some(if falls == is_falling { length } else { Rational::ZERO });
        FallingPiece { top, is_upward: falls, length, score: score.clone(), slope, curvature }
    }
}

fn half() -> Rational {
    exactly(0.5)
}

impl PiecewiseScore for Concave {
    fn count(&self) -> usize {
        2 * (self.slopes.len() - 1) + if self.has_tails { 2 } else { 0 }
    }

    fn piece(&self, index: usize) -> FallingPiece {
        let last = self.slopes.len() - 1;
        if index < 2 * last {
            return self.part(index / 2, index % 2 == 1);
        }
        let is_upward = index == 2 * last;
        let end = if is_upward { last } else { 0 };
        tail(self.breakpoints[end], self.scores[end].clone(), self.slopes[end], is_upward)
    }

    fn is_curved(&self) -> bool {
        true
    }
}

/// A score that falls from a rational number to both sides, by the distance in units or by its square.
pub struct Peak {
    center: Rational,
    /// How far it goes below and above the center; None without end.
    reach: [Option<Rational>; 2],
    slope: Rational,
    curvature: Rational,
}

impl Peak {
    /// The peak at `center`, from `below` to `above`, all over `denominator`, as is the unit of distance.
    ///
    /// # Errors
    /// `NotFinite` if the denominator or the unit is zero, or the center not between the ends.
    pub fn new(
        center: IBig,
        below: Option<IBig>,
        above: Option<IBig>,
        unit: UBig,
        denominator: UBig,
        is_squared: bool,
    ) -> Result<Self, SelectError> {
        if denominator == UBig::ZERO || unit == UBig::ZERO {
            return Err(SelectError::NotFinite);
        }
        let over = move |number: IBig| Rational::new(number, denominator.clone());
        let reach = [below.map(|end| over(&center - end)), above.map(|end| over(end - &center))];
        if reach.iter().flatten().any(|reach| *reach < Rational::ZERO) {
            return Err(SelectError::NotFinite);
        }
        let each = Rational::ONE / over(unit.into());
        let (slope, curvature) = if is_squared { (Rational::ZERO, &each * &each) } else { (each, Rational::ZERO) };
        Ok(Self { center: over(center), reach, slope, curvature })
    }
}

impl PiecewiseScore for Peak {
    fn count(&self) -> usize {
        2
    }

    fn piece(&self, index: usize) -> FallingPiece {
        FallingPiece {
            top: self.center.clone(),
            is_upward: index == 1,
            length: self.reach[index].clone(),
            score: Rational::ZERO,
            slope: self.slope.clone(),
            curvature: self.curvature.clone(),
        }
    }

    fn is_curved(&self) -> bool {
        !self.curvature.is_zero()
    }
}
