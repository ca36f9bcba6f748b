//! A quantile by the exponential mechanism: density proportional to exp(-|#{v < o} - level n| / b) over an interval, or
//! the weight exp(-max(0, #{v < o} - level n, level n - #{v <= o}) / b) for every point o of a public grid, every value
//! counting as the nearest one.
//!
//! Only values around the wanted rank are sorted. What lies further out is one piece to each side, proposed with a bound
//! of its density and accepted by counting the true rank of its point; that changes the cost and not the law.
//! Proofs: `proofs/quantiles.md` (the law and its privacy), `proofs/exact_sampling.md` (this way of drawing).

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::intervals::answer_range::Range;
use crate::intervals::grid::Grid;
use crate::intervals::grid_counts::Places;
use crate::intervals::pieces::{Chooser, Segments};
use crate::intervals::pivot_pass::{Pivots, pass};
use crate::intervals::point::Point;
use crate::intervals::rank::{Distance, Target};
use crate::intervals::rank_window::Window;
use crate::numbers::coin::{Exponential, flip};
use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::extended_float::Wide;
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::score_view::View;

/// How values are read; the law is the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Whatever is likely to be fastest.
    Automatic,
    /// Sort everything.
    Sorted,
    /// Sort this many ranks to each side of the target, and make do with them.
    Window(u64),
    /// Count the values at every point of a grid (sort them if there is none).
    Tally,
}

/// Ranks further away than this many scales have less than e^-60 of the density.
const SCALES: f64 = 60.0;
/// Pieces between two questions whether the call is to end.
const PIECES_BETWEEN_QUESTIONS: usize = 1 << 8;
/// Fewer values than this are sorted.
const FEW: usize = 2048;
/// Windows of more than this share of the values are not worth it.
const LARGEST_SHARE: u64 = 8;
/// A window will do if the regions outside are proposed at most once in this many draws: each proposal is a pass.
const RARE: u64 = 1024;
/// Grids of at most this many points, and of at most a quarter as many as there are values, are worth a tally.
const FEW_POINTS: u64 = 1 << 18;

/// Draw the quantile at `level`, in [0, 1].
///
/// # Errors
/// `NotFinite` if there is a NaN, `Memory`.
pub fn draw<T: Score, E: Entropy>(
    values: View<'_, T>,
    level: f64,
    range: Range<'_>,
    scale: &Scale,
    route: Route,
    entropy: &mut E,
) -> Result<f64, SelectError> {
    let total = values.len() as u64;
    let target = Target::new(level, total);
    if total > 0 && (matches!(route, Route::Window(_)) || (route == Route::Automatic && values.len() >= FEW)) {
        let found = by_window(&values, &target, range, scale, route, entropy)?;
        if let Some((pieces, chooser)) = found {
            return pieces.draw(&values, &chooser, entropy);
        }
    }
    let is_worth_it = |grid: &Grid| route == Route::Tally || (route == Route::Automatic && is_sparse(grid, total));
    let window = match range {
        Range::Grid(grid) if is_worth_it(grid) => Window::of_tally(&Places::new(grid)?.tally(&values)?)?,
        _ => Window::of_all(&values, range)?,
    };
    let pieces = Pieces::new(window, target, range, scale)?;
    let chooser = Chooser::new(&pieces)?;
    pieces.draw(&values, &chooser, entropy)
}

/// Whether a tally of the grid's points is quicker than sorting.
fn is_sparse(grid: &Grid, total: u64) -> bool {
    grid.count() <= FEW_POINTS.min(total / 4)
}

/// The pieces around the target, if they are enough.
fn by_window<'a, T: Score, E: Entropy>(
    values: &View<'_, T>,
    target: &Target,
    range: Range<'a>,
    scale: &'a Scale,
    route: Route,
    entropy: &mut E,
) -> Result<Option<(Pieces<'a>, Chooser)>, SelectError> {
    let total = values.len() as u64;
    let is_forced = route != Route::Automatic;
    let mut radius = match route {
        Route::Window(radius) => radius,
        // Saturates for absurd scales.
        _ => (SCALES / scale.exponent_of_gap(1.0)) as u64 + 2,
    };
    while is_forced || radius < total / (2 * LARGEST_SHARE) {
        let center = target.whole().min(total - 1);
        let (first, last) = (center.saturating_sub(radius), center.saturating_add(radius + 1).min(total));
        let Some(window) = Window::around(values, range, first, last, entropy)? else {
            if is_forced {
                continue;
            }
            return Ok(None);
        };
        // Beyond the window's edges a piece has at least this distance. If ties leave no room inside, all the mass
        // is out there, and what matters reaches as far again.
        let edge = target.whole().saturating_sub(window.before);
        let edge = edge.min(window.rank_of_gap(window.values.len()).saturating_sub(target.whole()));
        let pieces = Pieces::new(window, target.clone(), range, scale)?;
        let chooser = Chooser::new(&pieces)?;
        if is_forced || pieces.is_enough(&chooser) {
            return Ok(Some((pieces, chooser)));
        }
        if let Range::Grid(grid) = range
            && is_sparse(grid, total)
        {
            return Ok(None);
        }
        radius = radius.saturating_add(edge).max(radius.saturating_mul(4));
    }
    Ok(None)
}

/// The pieces that the values of a window cut the range into.
///
/// In an interval piece `g` lies between value `g - 1` and value `g`. On a grid piece `2 g` holds the grid points
/// strictly between the points that these values count as, and piece `2 g + 1` is the point that value `g` counts as.
struct Pieces<'a> {
    window: Window,
    target: Target,
    range: Range<'a>,
    scale: &'a Scale,
    /// The least distance among the pieces with a length.
    nearest: Distance,
}

impl<'a> Pieces<'a> {
    fn new(window: Window, target: Target, range: Range<'a>, scale: &'a Scale) -> Result<Self, SelectError> {
        let mut pieces = Self { window, target, range, scale, nearest: Distance::Zero };
        let mut nearest = None;
        for piece in 0..pieces.count() {
            if piece.is_multiple_of(PIECES_BETWEEN_QUESTIONS) {
                interrupt::check()?;
            }
            if !pieces.length(piece).is_zero() {
                let distance = pieces.distance(piece);
                if nearest.is_none_or(|nearest| pieces.target.compare(distance, nearest).is_lt()) {
                    nearest = Some(distance);
                }
            }
        }
        pieces.nearest = nearest.ok_or(SelectError::NoCandidates)?;
        Ok(pieces)
    }

    /// Of the piece's points; of a region outside the window, of the points next to the window, which have the least.
    fn distance(&self, piece: usize) -> Distance {
        let (gap, is_value) = match self.range {
            Range::Interval { .. } => (piece, false),
            Range::Grid(_) => (piece / 2, piece % 2 == 1),
        };
        let below = self.window.rank_of_gap(gap);
        self.target.distance(below, if is_value { self.window.up_to[gap] } else { below })
    }

    /// Whether the piece is a region outside the window: its points have more ranks than one.
    fn is_region(&self, piece: usize) -> bool {
        let first = piece == 0 && self.window.before > 0;
        first || piece + 1 == self.count() && self.window.rank_of_gap(self.window.values.len()) < self.window.total
    }

    /// Ends of a piece of an interval.
    fn ends(&self, lower: f64, upper: f64, gap: usize) -> (f64, f64) {
        let values = &self.window.values;
        (if gap == 0 { lower } else { values[gap - 1] }, values.get(gap).copied().unwrap_or(upper))
    }

    /// The grid points of a piece: the first one's index, and how many.
    fn points(&self, grid: &Grid, piece: usize) -> (u64, u64) {
        let (gap, values) = (piece / 2, &self.window.values);
        if piece % 2 == 1 {
            return (values[gap] as u64, 1);
        }
        let start = if gap == 0 { 0 } else { values[gap - 1] as u64 + 1 };
        (start, values.get(gap).map_or(grid.count(), |value| *value as u64) - start)
    }

    /// Whether draws will hardly ever leave the window.
    fn is_enough(&self, chooser: &Chooser) -> bool {
        [0, self.count() - 1].into_iter().all(|piece| {
            let (bound, total) = chooser.share(piece);
            !self.is_region(piece) || bound <= total / RARE
        })
    }

    fn draw<T: Score, E: Entropy>(
        &self,
        values: &View<'_, T>,
        chooser: &Chooser,
        entropy: &mut E,
    ) -> Result<f64, SelectError> {
        loop {
            interrupt::check()?;
            let piece = chooser.draw(self, entropy);
            match self.range {
                Range::Interval { lower, upper } => {
                    let (low, high) = self.ends(lower, upper, piece);
                    let mut point = Point::draw(low, high, entropy);
                    let rounded = point.rounded(entropy);
                    if !self.is_region(piece) {
                        return Ok(rounded);
                    }
                    // Every other value compares with the point as it does with its rounding.
                    let (below, up_to) = self.ranks(values, rounded)?;
                    let rank = if point.is_above(rounded, entropy) { up_to } else { below };
                    if self.accepts(piece, self.target.distance(rank, rank), entropy) {
                        return Ok(rounded);
                    }
                }
                Range::Grid(grid) => {
                    let (start, count) = self.points(grid, piece);
                    let index = start + entropy.below(count);
                    if !self.is_region(piece) {
                        return Ok(grid.point(index));
                    }
                    let (below, up_to) = self.ranks(values, index as f64)?;
                    if self.accepts(piece, self.target.distance(below, up_to), entropy) {
                        return Ok(grid.point(index));
                    }
                }
            }
        }
    }

    /// How many of all values count as less than `place`, and how many as no more.
    fn ranks<T: Score>(&self, values: &View<'_, T>, place: f64) -> Result<(u64, u64), SelectError> {
        let alike = self.range.values_at(place);
        let (counts, _) = pass(values, Pivots { first: alike, second: alike })?;
        Ok((counts.below_first, self.window.total - counts.above_second))
    }

    /// Accept a point of a region that was proposed at the region's least distance and has this one.
    fn accepts<E: Entropy>(&self, region: usize, distance: Distance, entropy: &mut E) -> bool {
        let least = self.distance(region);
        let x = Exponential {
            approximate: self.scale.exponent_of_gap(self.target.gap(least, distance)),
            exact: || self.scale.exact_exponent_of_gap(&self.target.exact_gap(least, distance)),
        };
        flip(&x, entropy)
    }
}

impl Segments for Pieces<'_> {
    fn count(&self) -> usize {
        match self.range {
            Range::Interval { .. } => self.window.values.len() + 1,
            Range::Grid(_) => 2 * self.window.values.len() + 1,
        }
    }

    fn length(&self, piece: usize) -> Wide {
        match self.range {
            Range::Interval { lower, upper } => {
                let (low, high) = self.ends(lower, upper, piece);
                Wide::from_gap(low, high)
            }
            Range::Grid(grid) => Wide::from_count(self.points(grid, piece).1),
        }
    }

    fn exact_length(&self, piece: usize) -> Ratio {
        match self.range {
            Range::Interval { lower, upper } => {
                let (low, high) = self.ends(lower, upper, piece);
                low.exact_gap_below(high)
            }
            Range::Grid(grid) => Ratio::scaled(self.points(grid, piece).1.into(), 0),
        }
    }

    fn exponent(&self, piece: usize) -> f64 {
        self.scale.exponent_of_gap(self.target.gap(self.nearest, self.distance(piece)))
    }

    fn exact_exponent(&self, piece: usize) -> Ratio {
        self.scale.exact_exponent_of_gap(&self.target.exact_gap(self.nearest, self.distance(piece)))
    }
}

#[cfg(test)]
#[path = "quantile_tests.rs"]
mod tests;
