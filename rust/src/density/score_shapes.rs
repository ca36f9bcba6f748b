//! Scores that fall from tops: lines between points, lines of given slopes, concave scores of given slopes, and one peak.

use dashu_int::{IBig, UBig};

use crate::density::piecewise_quadratic::{Fall, Landscape};
use crate::error::SelectError;
use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::rational::{Dyadic, Rational};

fn none() -> Ratio {
    Ratio { numerator: UBig::ZERO, denominator: UBig::ONE }
}

/// The quotient of two differences, the second one positive.
fn quotient(rise: &Ratio, run: &Ratio) -> Ratio {
    Ratio { numerator: &rise.numerator * &run.denominator, denominator: &rise.denominator * &run.numerator }
}

/// Finite numbers that do not decrease.
fn check_order(points: &[f64]) -> Result<(), SelectError> {
    check_finite(points)?;
    if points.is_sorted() { Ok(()) } else { Err(SelectError::NotFinite) }
}

fn check_finite(numbers: &[f64]) -> Result<(), SelectError> {
    if numbers.iter().all(|number| number.is_finite()) { Ok(()) } else { Err(SelectError::NotFinite) }
}

/// The half-line beyond an outer breakpoint, on which the score falls by `slope` > 0.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    pub score: f64,
    pub slope: f64,
}

impl Tail {
    fn check(self) -> Result<(), SelectError> {
        check_finite(&[self.score, self.slope])?;
        if self.slope > 0.0 { Ok(()) } else { Err(SelectError::NotFinite) }
    }
}

fn tail(point: f64, score: Rational, slope: Ratio, is_upward: bool) -> Fall {
    Fall { top: Dyadic::from_f64(point).exactly(), is_upward, length: None, score, slope, curvature: none() }
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
        check_order(&breakpoints)?;
        check_finite(&starts)?;
        check_finite(&ends)?;
        if breakpoints.len() != starts.len() + 1 || starts.len() != ends.len() {
            return Err(SelectError::InvalidCount);
        }
        let tails: Vec<_> = [below, above].into_iter().zip([false, true]).collect();
        let tails: Vec<_> = tails.into_iter().filter_map(|(tail, is_upward)| Some((tail?, is_upward))).collect();
        for (tail, _) in &tails {
            tail.check()?;
        }
        Ok(Self { breakpoints, starts, ends, tails })
    }
}

impl Landscape for Lines {
    fn count(&self) -> usize {
        self.starts.len() + self.tails.len()
    }

    fn fall(&self, index: usize) -> Fall {
        let Some(&start) = self.starts.get(index) else {
            let (line, is_upward) = self.tails[index - self.starts.len()];
            let point = self.breakpoints[if is_upward { self.breakpoints.len() - 1 } else { 0 }];
            let score = Dyadic::from_f64(line.score).exactly();
            return tail(point, score, Dyadic::from_f64(line.slope).magnitude(), is_upward);
        };
        let [low, high] = [self.breakpoints[index], self.breakpoints[index + 1]].map(Dyadic::from_f64);
        let [start, end] = [start, self.ends[index]].map(Dyadic::from_f64);
        let length = high.minus(&low).magnitude();
        let drop = start.minus(&end);
        let is_upward = !drop.is_negative();
        let slope = if low.minus(&high).is_negative() { quotient(&drop.magnitude(), &length) } else { none() };
        let (top, score) = if is_upward { (low, start) } else { (high, end) };
        let (top, score) = (top.exactly(), score.exactly());
        Fall { top, is_upward, length: Some(length), score, slope, curvature: none() }
    }

    fn is_curved(&self) -> bool {
        false
    }
}

/// Lines by a slope and a point of each, between breakpoints: the score of piece i is
/// `heights[i] + slopes[i] * (x - anchors[i])`.
pub struct Inclines {
    breakpoints: Vec<f64>,
    slopes: Vec<f64>,
    anchors: Vec<f64>,
    heights: Vec<f64>,
}

impl Inclines {
    /// # Errors
    /// As [`Lines::new`].
    pub fn new(
        breakpoints: Vec<f64>,
        slopes: Vec<f64>,
        anchors: Vec<f64>,
        heights: Vec<f64>,
    ) -> Result<Self, SelectError> {
        check_order(&breakpoints)?;
        for numbers in [&slopes, &anchors, &heights] {
            check_finite(numbers)?;
            if numbers.len() + 1 != breakpoints.len() {
                return Err(SelectError::InvalidCount);
            }
        }
        Ok(Self { breakpoints, slopes, anchors, heights })
    }
}

impl Landscape for Inclines {
    fn count(&self) -> usize {
        self.slopes.len()
    }

    fn fall(&self, index: usize) -> Fall {
        let [low, high] = [self.breakpoints[index], self.breakpoints[index + 1]].map(Dyadic::from_f64);
        let [slope, anchor, height] =
            [self.slopes[index], self.anchors[index], self.heights[index]].map(Dyadic::from_f64);
        let length = Some(high.minus(&low).magnitude());
        let is_upward = !slope.is_positive();
        let top = if is_upward { low } else { high };
        let score = height.plus(&slope.times(&top.minus(&anchor))).exactly();
        Fall { top: top.exactly(), is_upward, length, score, slope: slope.magnitude(), curvature: none() }
    }

    fn is_curved(&self) -> bool {
        false
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
    scores: Vec<Dyadic>,
    has_tails: bool,
}

impl Concave {
    /// # Errors
    /// `NotFinite` if a number is not, if breakpoints decrease, slopes increase or, with tails, do not lead down;
    /// `InvalidCount` if there is not one slope a breakpoint.
    pub fn new(breakpoints: Vec<f64>, slopes: Vec<f64>, has_tails: bool) -> Result<Self, SelectError> {
        check_order(&breakpoints)?;
        check_finite(&slopes)?;
        if breakpoints.is_empty() || slopes.len() != breakpoints.len() {
            return Err(SelectError::InvalidCount);
        }
        let falls_outwards = slopes[0] > 0.0 && slopes[slopes.len() - 1] < 0.0;
        if !slopes.iter().rev().is_sorted() || (has_tails && !falls_outwards) {
            return Err(SelectError::NotFinite);
        }
        let mut scores = vec![Dyadic::from_f64(0.0)];
        for index in 1..slopes.len() {
            let [low, high] = [breakpoints[index - 1], breakpoints[index]].map(Dyadic::from_f64);
            let [before, after] = [slopes[index - 1], slopes[index]].map(Dyadic::from_f64);
            let rise = before.plus(&after).half().times(&high.minus(&low));
            scores.push(scores[index - 1].plus(&rise));
        }
        Ok(Self { breakpoints, slopes, scores, has_tails })
    }

    /// The part of a gap on the one side of its best point.
    fn part(&self, gap: usize, is_falling: bool) -> Fall {
        let [low, high] = [self.breakpoints[gap], self.breakpoints[gap + 1]].map(Dyadic::from_f64);
        let [before, after] = [self.slopes[gap], self.slopes[gap + 1]].map(Dyadic::from_f64);
        let length = high.minus(&low).magnitude();
        let bend = before.minus(&after).magnitude();
        let half = Ratio { numerator: UBig::ONE, denominator: UBig::from(2_u8) };
        let curvature = if length.numerator == UBig::ZERO { none() } else { quotient(&bend, &length).times(&half) };
        let is_split = before.is_positive() && after.is_negative();
        if is_split && length.numerator != UBig::ZERO {
            // The slope is 0 at the share before / (before - after) of the length.
            let share = |slope: &Dyadic| quotient(&slope.magnitude(), &bend).times(&length);
            let top = low.exactly().moved(&share(&before), true);
            let rise = before.magnitude().times(&share(&before)).times(&half);
            let score = self.scores[gap].exactly().moved(&rise, true);
            let length = Some(share(if is_falling { &after } else { &before }));
            return Fall { top, is_upward: is_falling, length, score, slope: none(), curvature };
        }
        let falls = !before.is_positive();
        let (top, score, slope) =
            if falls { (low, &self.scores[gap], before) } else { (high, &self.scores[gap + 1], after) };
        let length = Some(if falls == is_falling { length } else { none() });
        let (top, score) = (top.exactly(), score.exactly());
        Fall { top, is_upward: falls, length, score, slope: slope.magnitude(), curvature }
    }
}

impl Landscape for Concave {
    fn count(&self) -> usize {
        2 * (self.slopes.len() - 1) + if self.has_tails { 2 } else { 0 }
    }

    fn fall(&self, index: usize) -> Fall {
        let last = self.slopes.len() - 1;
        if index < 2 * last {
            return self.part(index / 2, index % 2 == 1);
        }
        let is_upward = index == 2 * last;
        let end = if is_upward { last } else { 0 };
        let slope = Dyadic::from_f64(self.slopes[end]).magnitude();
        tail(self.breakpoints[end], self.scores[end].exactly(), slope, is_upward)
    }

    fn is_curved(&self) -> bool {
        true
    }
}

/// A score that falls from a rational number to both sides, by the distance in units or by its square.
pub struct Peak {
    center: Rational,
    /// How far it goes below and above the center; None without end.
    reach: [Option<Ratio>; 2],
    slope: Ratio,
    curvature: Ratio,
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
        let distance = |end: Option<IBig>, is_upward: bool| {
            let Some(end) = end else { return Ok(None) };
            let numerator = if is_upward { end - &center } else { &center - end };
            let numerator = UBig::try_from(numerator).map_err(|_| SelectError::NotFinite)?;
            Ok(Some(Ratio { numerator, denominator: denominator.clone() }))
        };
        let reach = [distance(below, false)?, distance(above, true)?];
        if denominator == UBig::ZERO || unit == UBig::ZERO {
            return Err(SelectError::NotFinite);
        }
        let each = Ratio { numerator: denominator.clone(), denominator: unit };
        let (slope, curvature) = if is_squared { (none(), each.times(&each)) } else { (each, none()) };
        Ok(Self { center: Rational { numerator: center, denominator }, reach, slope, curvature })
    }
}

impl Landscape for Peak {
    fn count(&self) -> usize {
        2
    }

    fn fall(&self, index: usize) -> Fall {
        Fall {
            top: self.center.clone(),
            is_upward: index == 1,
            length: self.reach[index].clone(),
            score: Dyadic::from_f64(0.0).exactly(),
            slope: self.slope.clone(),
            curvature: self.curvature.clone(),
        }
    }

    fn is_curved(&self) -> bool {
        self.curvature.numerator != UBig::ZERO
    }
}
