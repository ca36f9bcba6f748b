//! A quantile by the exponential mechanism: density proportional to exp(-|#{v < o} - level n| / b) over an interval, or
//! the weight exp(-max(0, #{v < o} - level n, level n - #{v <= o}) / b) for every point o of a public grid, every value
//! counting as the nearest one.
//!
//! Only values around the wanted rank are sorted, or none if ranks count that are far from it. What lies between two
//! values of known ranks is one piece, proposed with a bound of its density and accepted by counting the true rank of
//! its point; that changes the cost and not the law.
//! Proofs: `proofs/quantiles.md` (the law and its privacy), `proofs/exact_sampling.md` (this way of drawing).

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{Exponential, flip};
use crate::exact::extended_float::Extended;
use crate::exact::pieces::{Chooser, WeightedPieces};
use crate::exact::rational::Rational;
use crate::interrupt;
use crate::numbers::answer_range::Answers;
use crate::numbers::point::Point;
use crate::numbers::rank::{Distance, Target};
use crate::numbers::rank_counts::ranks_of;
use crate::numbers::rank_window::Window;
use crate::numbers::stretch::Stretch;
use crate::scores::scale::Scale;
use crate::scores::score_view::View;

/// How values are read; the law is the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Whatever is likely to be fastest.
    Automatic,
    /// Sort everything.
    Sorted,
    /// Sort this many ranks to each side of the target, and make do with them.
    Window(u64),
    /// Sort nothing: count the ranks of a few values, and of every point proposed between them.
    Pivots,
}

/// Ranks further away than this many scales have less than e^-60 of the density.
const SCALES: f64 = 60.0;
/// Pieces between two checks for Ctrl-C.
const CHECK_EVERY: usize = 1 << 8;
/// Fewer values than this are sorted.
const FEW: u64 = 2048;
/// Windows of more than this share of the values to each side are not worth it: pivots are.
const LARGEST_SHARE: f64 = 1.0 / 32.0;
/// A window will do if the regions outside are proposed at most once in this many draws, as each proposal is a pass.
const RARE: u64 = 1024;

/// Draw the quantile at `level`, in [0, 1].
///
/// # Errors
/// `NotFinite` if there is a NaN.
pub fn draw(
    values: View<'_>,
    level: f64,
    range: Answers<'_>,
    scale: &Scale,
    route: Route,
    entropy: &mut Entropy,
) -> Result<f64, SelectError> {
    let question = Question { target: Target::new(level, values.len() as u64), range, scale };
    pieces(&values, question, route, entropy)?.draw(&values, entropy)
}

/// What is asked of the values.
#[derive(Clone)]
struct Question<'a> {
    target: Target,
    range: Answers<'a>,
    scale: &'a Scale,
}

/// Pieces that draws will hardly ever have to look at the values again for, and that are found soon.
fn pieces<'a>(
    values: &View<'_>,
    question: Question<'a>,
    route: Route,
    entropy: &mut Entropy,
) -> Result<Pieces<'a>, SelectError> {
    let (total, target, range) = (values.len() as u64, question.target.whole(), question.range);
    let ranks_per_scale = 1.0 / question.scale.exponent_of_gap(1.0);
    if total == 0 || route == Route::Sorted || (route == Route::Automatic && total < FEW) {
        return Pieces::new(Window::of_all(values, range)?, question);
    }
    let is_forced = matches!(route, Route::Window(_));
    let mut radius = match route {
        Route::Window(radius) => radius,
        // Saturates for absurd scales.
        _ => ((SCALES * ranks_per_scale) as u64).saturating_add(2),
    };
    while is_forced || (route == Route::Automatic && (radius as f64) < LARGEST_SHARE * total as f64) {
        interrupt::check()?;
        let center = target.min(total - 1);
        let (first, last) = (center.saturating_sub(radius), center.saturating_add(radius + 1).min(total));
        let window = Window::around(values, range, first, last, entropy)?;
        // Beyond the window's edges a piece has at least this distance. If ties leave no room inside, all the mass
        // is out there, and what matters reaches as far again.
        let edge = target.saturating_sub(window.places[0].below);
        let edge = edge.min(window.places[window.places.len() - 1].up_to.saturating_sub(target));
        let pieces = Pieces::new(window, question.clone())?;
        if is_forced || pieces.is_enough() {
            return Ok(pieces);
        }
        radius = radius.saturating_add(edge).max(radius.saturating_mul(4));
    }
    Pieces::new(Window::of_pivots(values, range, target as f64, ranks_per_scale, entropy)?, question)
}

/// The pieces that the values of a window cut the range into.
///
/// In an interval piece `g` lies between value `g - 1` and value `g`. On a grid piece `2 g` holds the grid points
/// strictly between the points that these values count as, and piece `2 g + 1` is the point that value `g` counts as.
struct Pieces<'a> {
    window: Window,
    question: Question<'a>,
    /// The least distance among the pieces with a length.
    nearest: Distance,
    chooser: Chooser,
}

impl<'a> Pieces<'a> {
    fn new(window: Window, question: Question<'a>) -> Result<Self, SelectError> {
        let mut pieces = Self { window, question, nearest: Distance::Zero, chooser: Chooser::default() };
        pieces.weigh()?;
        Ok(pieces)
    }

    fn weigh(&mut self) -> Result<(), SelectError> {
        let mut nearest = None;
        for piece in 0..self.count() {
            if piece.is_multiple_of(CHECK_EVERY) {
                interrupt::check()?;
            }
            if !self.stretch(piece).is_empty() {
                let distance = self.distance(piece);
                if nearest.is_none_or(|nearest| self.question.target.compare(distance, nearest).is_lt()) {
                    nearest = Some(distance);
                }
            }
        }
        self.nearest = nearest.ok_or(SelectError::NoCandidates)?;
        self.chooser = Chooser::new(self)?;
        Ok(())
    }

    /// The number of a value, and whether the piece is the point that it counts as; else the piece comes before it.
    fn place(&self, piece: usize) -> (usize, bool) {
        match self.question.range {
            Answers::Interval { .. } => (piece, false),
            Answers::Grid(_) => (piece / 2, piece % 2 == 1),
        }
    }

    /// The piece's answers, on a grid by the numbers of its points.
    fn stretch(&self, piece: usize) -> Stretch {
        let ((at, is_value), places) = (self.place(piece), &self.window.places);
        match self.question.range {
            Answers::Interval { lower, upper } => Stretch::Reals {
                low: if at == 0 { lower } else { places[at - 1].place },
                high: places.get(at).map_or(upper, |known| known.place),
            },
            Answers::Grid(_) if is_value => Stretch::Places { first: places[at].place as u64, count: 1 },
            Answers::Grid(grid) => {
                let first = if at == 0 { 0 } else { places[at - 1].place as u64 + 1 };
                let end = places.get(at).map_or(grid.count(), |known| known.place as u64);
                Stretch::Places { first, count: end - first }
            }
        }
    }

    /// The least and the largest rank of the piece's points: how many values are below them, and how many not above.
    fn ranks(&self, piece: usize) -> (u64, u64) {
        let (at, is_value) = self.place(piece);
        if is_value { self.window.places[at].ranks() } else { self.window.ranks_of_gap(at) }
    }

    /// Of the piece's points; of a region, the least that the ranks at its ends allow.
    fn distance(&self, piece: usize) -> Distance {
        let (below, up_to) = self.ranks(piece);
        self.question.target.distance(below, up_to)
    }

    /// Whether there are values in the piece, so that its points differ in their ranks.
    fn is_region(&self, piece: usize) -> bool {
        let (least, largest) = self.ranks(piece);
        least < largest && !self.place(piece).1
    }

    /// Whether draws hardly ever leave the window.
    fn is_enough(&self) -> bool {
        [0, self.count() - 1].into_iter().all(|piece| {
            let (bound, total) = self.chooser.share(piece);
            !self.is_region(piece) || bound <= total / RARE
        })
    }

    fn draw(&mut self, values: &View<'_>, entropy: &mut Entropy) -> Result<f64, SelectError> {
        loop {
            interrupt::check()?;
            let piece = self.chooser.draw(self, entropy);
            let is_region = self.is_region(piece);
            let range = self.question.range;
            let (place, ranks, own) = match self.stretch(piece) {
                Stretch::Places { first, count } => {
                    let place = (first + entropy.below(count)) as f64;
                    if !is_region {
                        return Ok(range.answer(place));
                    }
                    let ranks = self.ranks_of_place(values, place)?;
                    (place, ranks, ranks)
                }
                Stretch::Reals { low, high } => {
                    let mut point = Point::draw(low, high, entropy);
                    let rounded = point.rounded(entropy);
                    if !is_region {
                        return Ok(rounded);
                    }
                    // Every other value compares with the point as it does with its rounding.
                    let (below, up_to) = self.ranks_of_place(values, rounded)?;
                    let rank = if point.is_above(rounded, entropy) { up_to } else { below };
                    (rounded, (below, up_to), (rank, rank))
                }
            };
            if self.accepts(piece, self.question.target.distance(own.0, own.1), entropy) {
                return Ok(range.answer(place));
            }
            // What was learnt makes the next round's bounds tighter.
            self.window.insert(place, ranks);
            self.weigh()?;
        }
    }

    /// How many of all values count as less than `place`, and how many as no more.
    fn ranks_of_place(&self, values: &View<'_>, place: f64) -> Result<(u64, u64), SelectError> {
        Ok(ranks_of(values, &[self.question.range.values_at(place)])?[0])
    }

    /// Accept a point of a region that was proposed at the region's least distance and has this one.
    fn accepts(&self, region: usize, distance: Distance, entropy: &mut Entropy) -> bool {
        let least = self.distance(region);
        let x = Exponential {
            approximate: self.question.scale.exponent_of_gap(self.question.target.gap(least, distance)),
            exact: || self.question.scale.exact_exponent_of_gap(&self.question.target.exact_gap(least, distance)),
        };
        flip(&x, entropy)
    }
}

impl WeightedPieces for Pieces<'_> {
    fn count(&self) -> usize {
        match self.question.range {
            Answers::Interval { .. } => self.window.places.len() + 1,
            Answers::Grid(_) => 2 * self.window.places.len() + 1,
        }
    }

    fn length(&self, piece: usize) -> Extended {
        self.stretch(piece).length()
    }

    fn exact_length(&self, piece: usize) -> Rational {
        self.stretch(piece).exact_length()
    }

    fn exponent(&self, piece: usize) -> f64 {
        self.question.scale.exponent_of_gap(self.question.target.gap(self.nearest, self.distance(piece)))
    }

    fn exact_exponent(&self, piece: usize) -> Rational {
        self.question.scale.exact_exponent_of_gap(&self.question.target.exact_gap(self.nearest, self.distance(piece)))
    }
}

#[cfg(test)]
#[path = "quantile_tests.rs"]
mod tests;
