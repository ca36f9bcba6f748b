//! The block index: maxima of small blocks, found in one parallel pass, and integer bounds of their weights.
//!
//! Everything a draw does after the pass looks at blocks first and at single scores only where it must.
//!
//! Layout. Scores are cut into *stripes* of rows of `LANES` values; a *block* is one lane of a stripe: 32 scores (of one or two
//! bytes, more), `LANES` values apart, so the index is a few hundredths of them. Of a block with one good candidate most
//! proposals are refused, which is soon as much work as reading few scores: those have blocks of 8. The last stripe may be
//! shorter and its last row incomplete.

use std::ops::Range;

use crate::error::SelectError;
use crate::interrupt;
use crate::scores::kernels::{self, Filled, GROUPS, Instructions, MOST_LANES};
use crate::scores::keys::{KEY_LANES, Keys};
use crate::scores::pass::{Index, Scanned, Shape, best_of, stripes_per_turn, threads_for};
use crate::scores::scale::Scale;
use crate::scores::score::{Lane, Score, Stored, with_stored};
use crate::scores::score_view::View;
use crate::scores::weight_bounds::WeightBounds;

/// Scores of a block if there are few.
const ROWS_OF_FEW: usize = 8;
/// And if not, of so many bytes each: a maximum takes eight.
const fn rows(size: usize) -> usize {
    if size > 2 { 32 } else { 256 / size }
}

/// So many scores are few.
const FEW: usize = 1 << 15;

/// Scores with an index over them.
pub struct Blocks<'a> {
    view: View<'a>,
    /// Where candidates have weights, scores stand in the index as these.
    keys: Option<Keys<'a>>,
    index: Index,
    top: Score,
    lanes: usize,
    rows: usize,
    level: Instructions,
}

/// Run `$body` with `$best` the maxima and `$top` the number in a score of the same kind.
macro_rules! with_best {
    ($index:expr, $top:expr, ($best:ident, $number:ident) => $body:expr) => {
        match (&$index, $top) {
            (Index::Real($best), Score::Real($number)) => $body,
            (Index::Whole($best), Score::Whole($number)) => $body,
            _ => unreachable!("a score of another kind than those of the index"),
        }
    };
}

/// One block: the items `first + r * lanes` for `r < len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub stripe: usize,
    pub lane: usize,
    pub first: usize,
    pub len: usize,
}

impl<'a> Blocks<'a> {
    /// Index `view` in one pass.
    ///
    /// # Errors
    /// `NoCandidates` if there is no score, `NotFinite` if one is NaN or infinite, `Memory` if the index does not fit,
    /// `Interrupted`.
    pub fn new(view: View<'a>) -> Result<Self, SelectError> {
        Self::with_threads(view, threads_for(&view), Instructions::detect())
    }

    /// With a given number of threads, at a level that this processor has.
    pub fn with_threads(view: View<'a>, threads: usize, level: Instructions) -> Result<Self, SelectError> {
        Self::of_few_or_many(view, view.len() <= FEW, threads, level)
    }

    fn of_few_or_many(view: View<'a>, is_few: bool, threads: usize, level: Instructions) -> Result<Self, SelectError> {
        if view.is_empty() {
            return Err(SelectError::NoCandidates);
        }
        let (index, lanes, rows) = with_stored!(view.kind(), T => {
            const ROWS: usize = rows(size_of::<T>());
            let best = if is_few {
                best_of::<T, ROWS_OF_FEW>(&view, threads, level)?
            } else {
                best_of::<T, ROWS>(&view, threads, level)?
            };
            (T::index(best), <T as Scanned>::LANES, if is_few { ROWS_OF_FEW } else { ROWS })
        });
        let top = index.largest(level);
        Ok(Self { view, keys: None, index, top, lanes, rows, level })
    }

    /// Index the keys of scores with weights, in one pass. Also how many octaves the largest score with a weight lies above the one
    /// that keys are measured from, and that score.
    ///
    /// # Errors
    /// As [`Blocks::new`].
    pub fn of_keys(view: View<'a>, keys: Keys<'a>) -> Result<(Self, f64, Score), SelectError> {
        if view.is_empty() {
            return Err(SelectError::NoCandidates);
        }
        let (threads, level) = (threads_for(&view), Instructions::detect());
        let rows = if view.len() <= FEW { ROWS_OF_FEW } else { rows(size_of::<f64>()) };
        let shape = Shape { stripes: view.len().div_ceil(KEY_LANES * rows), lanes: KEY_LANES };
        let per_turn = stripes_per_turn(KEY_LANES * rows * size_of::<f64>(), threads);
        let best = shape.filled(per_turn, threads, &|maxima| keys.scan(&view, rows, level, maxima))?;
        let index = Index::Real(best);
        let (top, (rise, largest)) = (index.largest(level), keys.rise());
        Ok((Self { view, keys: Some(keys), index, top, lanes: KEY_LANES, rows, level }, rise, largest))
    }

    /// Whether a candidate has a key that counts.
    #[inline]
    pub fn has_weight(&self, index: usize) -> bool {
        self.keys.as_ref().is_none_or(|keys| keys.has_weight(index))
    }

    /// Leave a candidate with a weight out from now on. Returns the largest key left.
    pub fn leave_out(&mut self, index: usize) -> Score {
        if let Some(keys) = &mut self.keys {
            keys.leave_out(index);
        }
        let block = self.block_of(index);
        let maximum = self.items(block).map(|item| self.get(item)).reduce(Score::or_larger);
        self.set_maximum(block, maximum)
    }

    /// The keys, to index what is left of them anew, measured from another score.
    pub fn into_keys(self, from: Score) -> Result<Keys<'a>, SelectError> {
        self.keys.map(|keys| keys.from(from)).ok_or(SelectError::NoCandidates)
    }
}

impl Blocks<'_> {
    pub fn len(&self) -> usize {
        self.view.len()
    }

    pub fn is_empty(&self) -> bool {
        false // by construction
    }

    /// What exponents are measured from: the largest score, or what [`Blocks::lower_top`] made of it.
    #[inline(always)]
    pub fn top(&self) -> Score {
        self.top
    }

    #[inline(always)]
    pub fn get(&self, index: usize) -> Score {
        let score = self.view.get(index);
        if let Some(keys) = &self.keys { keys.of(index, score) } else { score }
    }

    pub fn stripes(&self) -> usize {
        match &self.index {
            Index::Real(best) => best.of_stripes.len(),
            Index::Whole(best) => best.of_stripes.len(),
        }
    }

    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Items of a stripe: its start and how many.
    pub fn stripe_range(&self, stripe: usize) -> Range<usize> {
        let length = self.lanes * self.rows;
        stripe * length..((stripe + 1) * length).min(self.len())
    }

    #[inline(always)]
    pub fn block(&self, stripe: usize, lane: usize) -> Block {
        let start = stripe * self.lanes * self.rows;
        // The last row of the last stripe may be incomplete.
        let len = if self.len() - start >= self.lanes * self.rows {
            self.rows
        } else {
            (self.len() - start + self.lanes - 1 - lane) / self.lanes
        };
        Block { stripe, lane, first: start + lane, len }
    }

    pub fn block_of(&self, index: usize) -> Block {
        let stripe = index / (self.lanes * self.rows);
        self.block(stripe, index % self.lanes)
    }

    /// The items of `block`.
    pub fn items(&self, block: Block) -> impl Iterator<Item = usize> + use<> {
        let lanes = self.lanes;
        (0..block.len).map(move |row| block.first + row * lanes)
    }

    #[inline]
    pub fn stripe_maximum(&self, stripe: usize) -> Score {
        match &self.index {
            Index::Real(best) => Score::Real(best.of_stripes[stripe]),
            Index::Whole(best) => Score::Whole(best.of_stripes[stripe]),
        }
    }

    #[inline]
    pub fn block_maximum(&self, stripe: usize, lane: usize) -> Score {
        let place = stripe * self.lanes + lane;
        match &self.index {
            Index::Real(best) => Score::Real(best.of_blocks[place]),
            Index::Whole(best) => Score::Whole(best.of_blocks[place]),
        }
    }

    /// What an empty block has.
    fn lowest(&self) -> Score {
        match &self.index {
            Index::Real(_) => Score::Real(Stored::LOWEST),
            Index::Whole(_) => Score::Whole(Stored::LOWEST),
        }
    }

    /// Whether the maxima are those of the items that are left, as their scores are now.
    pub fn still_hold(&self, is_left: impl Fn(usize) -> bool) -> Result<bool, SelectError> {
        for stripe in 0..self.stripes() {
            interrupt::check()?;
            for lane in 0..self.lanes {
                let left = self.items(self.block(stripe, lane)).filter(|&item| is_left(item));
                // Of a block without items nothing is asked.
                let maximum = left.map(|item| self.get(item)).reduce(Score::or_larger);
                if maximum.is_some_and(|maximum| maximum != self.block_maximum(stripe, lane)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Replace the maximum of one block, after one of its items was removed; `None` if none is left.
    /// Returns the largest maximum of all blocks; the top stays what it was.
    pub fn set_maximum(&mut self, block: Block, maximum: Option<Score>) -> Score {
        self.replace_maximum(block, maximum);
        self.index.largest(self.level)
    }

    /// The same for one of several blocks: the largest maximum of all is not needed yet.
    pub fn replace_maximum(&mut self, block: Block, maximum: Option<Score>) {
        let maximum = maximum.unwrap_or_else(|| self.lowest());
        let (stripe, lanes) = (block.stripe, self.lanes);
        match (&mut self.index, maximum) {
            (Index::Real(best), Score::Real(maximum)) => best.replace(stripe, lanes, block.lane, maximum, self.level),
            (Index::Whole(best), Score::Whole(maximum)) => best.replace(stripe, lanes, block.lane, maximum, self.level),
            _ => unreachable!("a score of another kind than those of the index"),
        }
    }

    /// Measure from `top` from now on; it must not be below any item that is left.
    pub fn lower_top(&mut self, top: Score) {
        self.top = top;
    }
}

/// Bounds of the weights of items, blocks and stripes, measured from any `top`.
impl Blocks<'_> {
    /// The bounds of the maxima of as many stripes, from `first` on, as `into` has places.
    #[inline]
    pub fn stripe_bounds(&self, top: Score, scale: &Scale, bounds: WeightBounds, first: usize, into: &mut [u64]) {
        with_best!(self.index, top, (best, top) => {
            let maxima = &best.of_stripes[first..first + into.len()];
            kernels::fill_bounds(self.level, maxima, top, scale, bounds, into);
        });
    }

    /// The sums over the items of each group of blocks of their blocks' bounds, for as many stripes, from `first` on, as `into` has
    /// places. A group is every [`GROUPS`]-th block. Stripes with a bound of their own in `whole_stripes` are left out.
    pub fn group_weights(
        &self,
        top: Score,
        scale: &Scale,
        bounds: WeightBounds,
        first: usize,
        whole_stripes: &[u64],
        into: &mut [[u64; GROUPS]],
    ) {
        let (lanes, is_full) = (self.lanes, self.stripe_range(first + into.len() - 1).len() == self.lanes * self.rows);
        let full = into.len() - usize::from(!is_full);
        let ((into, last), (whole, of_last)) = (into.split_at_mut(full), whole_stripes.split_at(full));
        with_best!(self.index, top, (best, top) => {
            let (maxima, of_rest) = best.of_blocks[first * lanes..].split_at(full * lanes);
            kernels::fill_group_sums(self.level, maxima, (lanes, self.rows), top, scale, (bounds, whole), into);
            if let ([last], [0]) = (last, of_last) {
                // The last row is incomplete.
                let count = self.stripe_range(first + full).len();
                let last = std::slice::from_mut(last);
                kernels::fill_group_sums(self.level, &of_rest[..lanes], (lanes, count / lanes), top, scale, (bounds, &[0]), last);
                for (lane, maximum) in of_rest[..count % lanes].iter().enumerate() {
                    last[0][lane % GROUPS] += bounds.at(scale.octaves(maximum.gap_below(top)));
                }
            }
        });
    }

    /// The block at `position` of a group's items, each as long as its block's bound; that bound, and how far from the block's start.
    #[inline]
    pub fn block_at(
        &self,
        top: Score,
        scale: &Scale,
        bounds: WeightBounds,
        (stripe, group): (usize, usize),
        mut position: u64,
    ) -> (Block, u64, u64) {
        with_best!(self.index, top, (best, top) => {
            let maxima = best.of_stripe(stripe, self.lanes);
            let mut lane = group;
            loop {
                let block = self.block(stripe, lane);
                let bound = bounds.at(scale.octaves(maxima[lane].gap_below(top)));
                let length = bound * block.len as u64;
                if position < length {
                    return (block, bound, position);
                }
                position -= length;
                lane += GROUPS;
            }
        })
    }

    /// The bounds of the items from `first` on, one for each place of `into`: at most [`MOST_LANES`].
    #[inline]
    pub fn item_bounds(
        &self,
        top: Score,
        scale: &Scale,
        bounds: WeightBounds,
        first: usize,
        into: &mut [u64],
    ) -> Filled {
        with_best!(self.index, top, (_best, top) => {
            let mut scores = [Stored::LOWEST; MOST_LANES];
            let scores = &mut scores[..into.len()];
            if self.keys.is_some() {
                scores.iter_mut().zip(first..).for_each(|(score, index)| *score = Lane::of(self.get(index)));
            } else {
                self.view.convert(first, scores, |score, _| Lane::of(score));
            }
            kernels::fill_bounds(self.level, scores, top, scale, bounds, into)
        })
    }
}

#[cfg(test)]
#[path = "block_index_tests.rs"]
mod tests;
