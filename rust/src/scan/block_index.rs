//! The block index: maxima of small blocks, found in one parallel pass, and integer bounds of their weights.
//!
//! Everything a draw does after the pass looks at blocks first and at single scores only where it must.
//!
//! Layout. Scores are cut into *stripes* of rows of `LANES` values; a *block* is one lane of a stripe: 32 scores, `LANES` values
//! apart, so the index is about 3 % of them. Of a block with one good candidate most proposals are refused, which is soon as
//! much work as reading few scores: those have blocks of 8. The last stripe may be shorter and its last row incomplete.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{SelectError, reserved};
use crate::interrupt;
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::helper_threads::{available_threads, with_helpers};
use crate::scan::kernels::{self, Filled, Level, MOST_LANES, Maxima};
use crate::scan::pile::Pile;
use crate::scan::score_view::View;
use crate::scan::weight_bounds::WeightBounds;

/// Scores of a block, and of one where there are few.
const ROWS: usize = 32;
const ROWS_OF_FEW: usize = 8;
/// So many scores are few.
const FEW: usize = 1 << 15;
/// Scores (in bytes) that one more thread is worth its start.
const BYTES_PER_THREAD: usize = 1 << 20;
/// Bytes a thread takes from the common pile at a time.
const BYTES_PER_TURN: usize = 256 << 10;
/// The same if there is one thread: short enough to be interrupted.
const BYTES_PER_TURN_ALONE: usize = 16 * BYTES_PER_TURN;

/// Scores with an index over them.
pub struct Blocks<'a, T> {
    view: View<'a, T>,
    /// Largest value of each block, `lanes` to a stripe.
    block_maxima: Vec<T>,
    stripe_maxima: Vec<T>,
    top: T,
    lanes: usize,
    rows: usize,
    level: Level,
}

/// One block: the items `first + r * lanes` for `r < len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub stripe: usize,
    pub lane: usize,
    pub first: usize,
    pub len: usize,
}

/// Types that can be indexed: those that the kernel is compiled for.
pub trait Indexable: Score {
    const LANES: usize;

    /// Scan the stripes that `maxima` has room for, with blocks of so many scores: write it in full, return whether all was
    /// finite.
    fn scan<const ROWS: usize>(level: Level, view: &View<'_, Self>, maxima: Maxima<'_, Self>) -> bool;
}

macro_rules! indexable {
    ($($type:ty),*) => {$(
        impl Indexable for $type {
            const LANES: usize = kernels::lanes(size_of::<$type>());

            #[inline]
            fn scan<const ROWS: usize>(level: Level, view: &View<'_, Self>, maxima: Maxima<'_, Self>) -> bool {
                kernels::scan::<_, { kernels::lanes(size_of::<$type>()) }, ROWS>(level, view, maxima)
            }
        }
    )*};
}

indexable!(f64, f32, i64, u64, i32, u32, i16, u16, i8, u8);

impl<'a, T: Indexable> Blocks<'a, T> {
    /// Index `view` in one pass.
    ///
    /// # Errors
    /// `NoCandidates` if there is no score, `NotFinite` if one is NaN or infinite, `Memory` if the index does not fit,
    /// `Interrupted`.
    pub fn new(view: View<'a, T>) -> Result<Self, SelectError> {
        Self::with_threads(view, threads_for(&view), Level::detect())
    }

    /// With a given number of threads, at a level that this processor has.
    pub fn with_threads(view: View<'a, T>, threads: usize, level: Level) -> Result<Self, SelectError> {
        if view.len() <= FEW {
            Self::of_rows::<ROWS_OF_FEW>(view, threads, level)
        } else {
            Self::of_rows::<ROWS>(view, threads, level)
        }
    }

    fn of_rows<const ROWS: usize>(view: View<'a, T>, threads: usize, level: Level) -> Result<Self, SelectError> {
        if view.is_empty() {
            return Err(SelectError::NoCandidates);
        }
        let stripes = view.len().div_ceil(T::LANES * ROWS);
        let mut blocks = Self {
            view,
            block_maxima: reserved(stripes * T::LANES)?,
            stripe_maxima: reserved(stripes)?,
            top: T::LOWEST,
            lanes: T::LANES,
            rows: ROWS,
            level,
        };
        let of_blocks = &mut blocks.block_maxima.spare_capacity_mut()[..stripes * T::LANES];
        let of_stripes = &mut blocks.stripe_maxima.spare_capacity_mut()[..stripes];
        if !scan::<T, ROWS>(&view, threads, level, of_blocks, of_stripes)? {
            return Err(SelectError::NotFinite);
        }
        // SAFETY: the pass wrote all of both.
        unsafe {
            blocks.block_maxima.set_len(stripes * T::LANES);
            blocks.stripe_maxima.set_len(stripes);
        }
        blocks.top = kernels::largest_of(level, &blocks.stripe_maxima);
        Ok(blocks)
    }
}

/// How many threads a pass is worth.
fn threads_for<T: Score>(view: &View<'_, T>) -> usize {
    let worth = view.len() * size_of::<T>() / BYTES_PER_THREAD;
    if worth > 1 { worth.min(available_threads()) } else { 1 }
}

/// The pass over all stripes, in turns that `threads` threads take from a common pile. Writes all maxima in full and
/// says whether all scores were finite.
fn scan<T: Indexable, const ROWS: usize>(
    view: &View<'_, T>,
    threads: usize,
    level: Level,
    of_blocks: &mut [MaybeUninit<T>],
    of_stripes: &mut [MaybeUninit<T>],
) -> Result<bool, SelectError> {
    let bytes = if threads > 1 { BYTES_PER_TURN } else { BYTES_PER_TURN_ALONE };
    let per_turn = (bytes / (T::LANES * ROWS * size_of::<T>())).max(1);
    if of_stripes.len() <= per_turn {
        return Ok(T::scan::<ROWS>(level, view, Maxima { first_stripe: 0, of_blocks, of_stripes }));
    }
    let pile = Pile::new(of_stripes.len(), per_turn);
    let turns = of_blocks.chunks_mut(per_turn * T::LANES).zip(of_stripes.chunks_mut(per_turn)).enumerate();
    let (turns, finite) = (Mutex::new(turns), AtomicBool::new(true));
    with_helpers(threads - 1, &|| {
        // As many turns as the pile has; whose is which does not matter.
        while pile.take().is_some() {
            let turn = turns.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((turn, (of_blocks, of_stripes))) = turn else { return };
            if !T::scan::<ROWS>(level, view, Maxima { first_stripe: turn * per_turn, of_blocks, of_stripes }) {
                finite.store(false, Ordering::Relaxed);
            }
        }
    });
    pile.outcome()?;
    Ok(finite.into_inner())
}

impl<T: Score> Blocks<'_, T> {
    pub fn len(&self) -> usize {
        self.view.len()
    }

    pub fn is_empty(&self) -> bool {
        false // by construction
    }

    /// What exponents are measured from: the largest score, or what [`Blocks::lower_top`] made of it.
    #[inline(always)]
    pub fn top(&self) -> T {
        self.top
    }

    #[inline(always)]
    pub fn get(&self, index: usize) -> T {
        self.view.get(index)
    }

    pub fn stripes(&self) -> usize {
        self.stripe_maxima.len()
    }

    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Items of a stripe: its start and how many.
    pub fn stripe_range(&self, stripe: usize) -> Range<usize> {
        let length = self.lanes * self.rows;
        stripe * length..((stripe + 1) * length).min(self.len())
    }

    #[inline]
    pub fn block(&self, stripe: usize, lane: usize) -> Block {
        let range = self.stripe_range(stripe);
        let count = range.end - range.start;
        let len = count / self.lanes + usize::from(lane < count % self.lanes);
        Block { stripe, lane, first: range.start + lane, len }
    }

    pub fn block_of(&self, index: usize) -> Block {
        let stripe = index / (self.lanes * self.rows);
        self.block(stripe, index % self.lanes)
    }

    /// The items of `block`.
    pub fn items(&self, block: Block) -> impl Iterator<Item = usize> + use<T> {
        let lanes = self.lanes;
        (0..block.len).map(move |row| block.first + row * lanes)
    }

    #[inline]
    pub fn stripe_maximum(&self, stripe: usize) -> T {
        self.stripe_maxima[stripe]
    }

    #[inline]
    pub fn block_maxima(&self, stripe: usize) -> &[T] {
        &self.block_maxima[stripe * self.lanes..][..self.lanes]
    }

    /// Whether the maxima are those of the items that are left, as their scores are now.
    pub fn still_hold(&self, is_left: impl Fn(usize) -> bool) -> Result<bool, SelectError> {
        for stripe in 0..self.stripes() {
            interrupt::check()?;
            for lane in 0..self.lanes {
                let left = self.items(self.block(stripe, lane)).filter(|&item| is_left(item));
                let maximum = left.fold(T::LOWEST, |best, item| best.or_larger(self.get(item)));
                if maximum != self.block_maxima(stripe)[lane] {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Replace the maximum of one block, after one of its items was removed; `None` if none is left.
    /// Returns the largest maximum of all blocks; the top stays what it was.
    pub fn set_maximum(&mut self, block: Block, maximum: Option<T>) -> T {
        self.replace_maximum(block, maximum);
        kernels::largest_of(self.level, &self.stripe_maxima)
    }

    /// The same for one of several blocks: nobody asks yet for the largest maximum of all.
    pub fn replace_maximum(&mut self, block: Block, maximum: Option<T>) {
        self.block_maxima[block.stripe * self.lanes + block.lane] = maximum.unwrap_or(T::LOWEST);
        self.stripe_maxima[block.stripe] = kernels::largest_of(self.level, self.block_maxima(block.stripe));
    }

    /// Measure from `top` from now on; it must not be below any item that is left.
    pub fn lower_top(&mut self, top: T) {
        self.top = top;
    }
}

/// Bounds of the weights of items, blocks and stripes, measured from any `top`.
impl<T: Score> Blocks<'_, T> {
    /// Sum over the items of a stripe of their blocks' bounds, if that of the stripe's maximum is `largest`.
    fn sum_of_stripe(&self, top: T, scale: &Scale, bounds: WeightBounds, stripe: usize, largest: u64) -> u64 {
        let count = self.stripe_range(stripe).len();
        if largest == 1 {
            return count as u64; // no block has a larger one than its stripe
        }
        let (rows, rest) = (count / self.lanes, count % self.lanes);
        let maxima = self.block_maxima(stripe);
        let mut sum = kernels::sum_of_bounds(self.level, maxima, top, scale, bounds) * rows as u64;
        if rest > 0 {
            sum += kernels::sum_of_bounds(self.level, &maxima[..rest], top, scale, bounds);
        }
        sum
    }

    /// Sum over the items of a stripe of their blocks' bounds.
    pub fn stripe_weight(&self, top: T, scale: &Scale, bounds: WeightBounds, stripe: usize) -> u64 {
        self.sum_of_stripe(top, scale, bounds, stripe, bounds.of(scale, top, self.stripe_maxima[stripe]))
    }

    /// The bounds of the maxima of as many stripes, from `first` on, as `into` has places.
    #[inline]
    pub fn stripe_bounds(&self, top: T, scale: &Scale, bounds: WeightBounds, first: usize, into: &mut [u64]) {
        let maxima = &self.stripe_maxima[first..first + into.len()];
        kernels::fill_bounds(self.level, maxima, top, scale, bounds, into);
    }

    /// The bound of every block of a stripe, in the first `lanes` places of `into`.
    #[inline]
    pub fn block_weights<'b>(
        &self,
        top: T,
        scale: &Scale,
        bounds: WeightBounds,
        stripe: usize,
        into: &'b mut [u64; MOST_LANES],
    ) -> &'b [u64] {
        let maxima = self.block_maxima(stripe);
        let into = &mut into[..maxima.len()];
        kernels::fill_bounds(self.level, maxima, top, scale, bounds, into);
        into
    }

    /// The bounds of the items `first`, `first + apart`, ..., one for each place of `into`: at most [`MOST_LANES`].
    #[inline]
    pub fn item_bounds(
        &self,
        top: T,
        scale: &Scale,
        bounds: WeightBounds,
        (first, apart): (usize, usize),
        into: &mut [u64],
    ) -> Filled {
        let mut scores = [T::LOWEST; MOST_LANES];
        let scores = &mut scores[..into.len()];
        if apart == 1 {
            self.view.copy_to(first, scores);
        } else {
            for (place, score) in scores.iter_mut().enumerate() {
                *score = self.view.get(first + place * apart);
            }
        }
        self.score_bounds(top, scale, bounds, scores, into)
    }

    /// The bounds of some scores, one for each place of `into`.
    #[inline]
    pub fn score_bounds(&self, top: T, scale: &Scale, bounds: WeightBounds, scores: &[T], into: &mut [u64]) -> Filled {
        kernels::fill_bounds(self.level, scores, top, scale, bounds, into)
    }
}

#[cfg(test)]
#[path = "block_index_tests.rs"]
mod tests;
