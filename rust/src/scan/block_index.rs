//! The block index: maxima of small blocks, found in one parallel pass, and integer bounds of their weights.
//!
//! Everything a draw does after the pass looks at blocks first and at single scores only where it must.
//!
//! Layout. Scores are cut into *stripes* of `ROWS` rows of `LANES` values; a *block* is one lane of a stripe:
//! `ROWS` values, `LANES` apart (256 bytes of scores, so the index is about 3 % of the scores). The last stripe may be
//! shorter and its last row incomplete.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{SelectError, reserved};
use crate::interrupt;
use crate::numbers::coin::{Exponential, power_of_two};
use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::helper_threads::with_helpers;
use crate::scan::kernels::{self, Level};
use crate::scan::pile::Pile;
use crate::scan::score_view::View;

/// Weights are integers times `2^-bits`; at most this many bits.
const WEIGHT_BITS: u32 = 40;
/// From this many halvings on every weight is 1.
pub const MOST_OCTAVES: f64 = 62.0;
/// Scores (in bytes) of a block.
const BLOCK_BYTES: usize = 256;
/// Scores (in bytes) that one more thread is worth its start.
const BYTES_PER_THREAD: usize = 1 << 20;
/// Bytes a thread takes from the common pile at a time.
const BYTES_PER_TURN: usize = 256 << 10;

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

/// Lanes of the narrowest type.
pub const MOST_LANES: usize = kernels::ROW_BYTES;

/// Types that can be indexed: those whose rows of 256 bytes the kernel is compiled for.
pub trait Indexable: Score {
    const LANES: usize;
    const ROWS: usize = BLOCK_BYTES / size_of::<Self>();

    /// Scan one stripe: write its block maxima, return its maximum and whether all was finite.
    ///
    /// # Safety
    /// `start + count` must not exceed the view's length; `maxima` must be writable for `LANES` values.
    unsafe fn scan_stripe(
        level: Level,
        view: &View<'_, Self>,
        start: usize,
        count: usize,
        maxima: *mut Self,
    ) -> (Self, bool);
}

macro_rules! indexable {
    ($($type:ty),*) => {$(
        impl Indexable for $type {
            const LANES: usize = kernels::ROW_BYTES / size_of::<$type>();

            #[inline]
            unsafe fn scan_stripe(
                level: Level,
                view: &View<'_, Self>,
                start: usize,
                count: usize,
                maxima: *mut Self,
            ) -> (Self, bool) {
                const LANES: usize = kernels::ROW_BYTES / size_of::<$type>();
                // SAFETY: the caller's.
                let lanes = unsafe { kernels::scan_stripe::<_, LANES>(level, view, start, count) };
                // SAFETY: the caller's; the two arrays do not overlap.
                unsafe { std::ptr::copy_nonoverlapping(lanes.maxima.as_ptr(), maxima, LANES) };
                (lanes.top, lanes.is_finite())
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
        let threads = (view.len() * size_of::<T>() / BYTES_PER_THREAD).clamp(1, available_threads());
        Self::with_threads(view, threads, Level::detect())
    }

    pub(crate) fn with_threads(view: View<'a, T>, threads: usize, level: Level) -> Result<Self, SelectError> {
        if view.is_empty() {
            return Err(SelectError::NoCandidates);
        }
        let stripe_len = T::LANES * T::ROWS;
        let stripes = view.len().div_ceil(stripe_len);
        let mut blocks = Self {
            view,
            block_maxima: reserved(stripes * T::LANES)?,
            stripe_maxima: reserved(stripes)?,
            top: T::LOWEST,
            lanes: T::LANES,
            rows: T::ROWS,
            level,
        };
        let target =
            Target { block_maxima: blocks.block_maxima.as_mut_ptr(), stripe_maxima: blocks.stripe_maxima.as_mut_ptr() };
        let stripes_per_turn = (BYTES_PER_TURN / (stripe_len * size_of::<T>())).max(1);
        let pile = Pile::new(stripes, stripes_per_turn);
        let finite = AtomicBool::new(true);
        with_helpers(threads - 1, &|| {
            let target = &target; // the whole, not its pointers: only the whole may cross threads
            while let Some(turn) = pile.take() {
                for stripe in turn {
                    let start = stripe * stripe_len;
                    let count = stripe_len.min(view.len() - start);
                    // SAFETY: every stripe is taken by one thread only and lies within view and vectors.
                    unsafe {
                        let maxima = target.block_maxima.add(stripe * T::LANES);
                        let (top, clean) = T::scan_stripe(level, &view, start, count, maxima);
                        target.stripe_maxima.add(stripe).write(top);
                        if !clean {
                            finite.store(false, Ordering::Relaxed);
                        }
                    }
                }
            }
        });
        pile.outcome()?;
        // SAFETY: all stripes were written above.
        unsafe {
            blocks.block_maxima.set_len(stripes * T::LANES);
            blocks.stripe_maxima.set_len(stripes);
        }
        if !finite.into_inner() {
            return Err(SelectError::NotFinite);
        }
        blocks.top = largest(&blocks.stripe_maxima);
        Ok(blocks)
    }
}

struct Target<T> {
    block_maxima: *mut T,
    stripe_maxima: *mut T,
}

// SAFETY: the threads write to disjoint stripes.
unsafe impl<T: Send> Sync for Target<T> {}

pub(crate) fn available_threads() -> usize {
    static THREADS: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn largest<T: Score>(values: &[T]) -> T {
    values.iter().fold(T::LOWEST, |top, &value| if value > top { value } else { top })
}

impl<T: Score> Blocks<'_, T> {
    #[must_use]
    pub fn len(&self) -> usize {
        self.view.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        false // by construction
    }

    /// What exponents are measured from: the largest score, or what [`Blocks::lower_top`] made of it.
    #[inline(always)]
    #[must_use]
    pub fn top(&self) -> T {
        self.top
    }

    #[inline(always)]
    #[must_use]
    pub fn get(&self, index: usize) -> T {
        self.view.get(index)
    }

    #[must_use]
    pub fn stripes(&self) -> usize {
        self.stripe_maxima.len()
    }

    #[must_use]
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Items of a stripe: its start and how many.
    #[must_use]
    pub fn stripe_range(&self, stripe: usize) -> std::ops::Range<usize> {
        let length = self.lanes * self.rows;
        stripe * length..((stripe + 1) * length).min(self.len())
    }

    #[inline]
    #[must_use]
    pub fn block(&self, stripe: usize, lane: usize) -> Block {
        let range = self.stripe_range(stripe);
        let count = range.end - range.start;
        let len = count / self.lanes + usize::from(lane < count % self.lanes);
        Block { stripe, lane, first: range.start + lane, len }
    }

    #[must_use]
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
    #[must_use]
    pub fn stripe_maximum(&self, stripe: usize) -> T {
        self.stripe_maxima[stripe]
    }

    #[inline]
    #[must_use]
    pub fn block_maxima(&self, stripe: usize) -> &[T] {
        &self.block_maxima[stripe * self.lanes..][..self.lanes]
    }

    /// exp(-x) of an item, relative to the current top.
    #[inline(always)]
    pub fn exponential<'s>(&self, scale: &'s Scale, index: usize) -> Exponential<impl Fn() -> Ratio + Copy + 's>
    where
        T: 's,
    {
        // The score is read once, so that filter and fallback speak of the same number whatever happens to the memory.
        self.exponential_of(scale, self.view.get(index))
    }

    /// The same for an item whose score was read already.
    #[inline(always)]
    pub fn exponential_of<'s>(&self, scale: &'s Scale, score: T) -> Exponential<impl Fn() -> Ratio + Copy + use<'s, T>>
    where
        T: 's,
    {
        let top = self.top;
        Exponential { approximate: scale.exponent(top, score), exact: move || scale.exact_exponent(top, score) }
    }

    /// Whether the maxima are those of the items that are left, as their scores are now.
    ///
    /// # Errors
    /// `Interrupted`.
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
        self.block_maxima[block.stripe * self.lanes + block.lane] = maximum.unwrap_or(T::LOWEST);
        self.stripe_maxima[block.stripe] = largest(self.block_maxima(block.stripe));
        largest(&self.stripe_maxima)
    }

    /// Measure from `top` from now on; it must not be below any item that is left.
    pub fn lower_top(&mut self, top: T) {
        self.top = top;
    }
}

/// The weights of the blocks of one stripe, relative to the index's top.
impl<T: Score> Blocks<'_, T> {
    /// Sum over the items of a stripe of their blocks' weights.
    #[must_use]
    pub fn stripe_weight(&self, scale: &Scale, weights: Weights, stripe: usize) -> u64 {
        let count = self.stripe_range(stripe).len();
        if scale.octaves(self.top, self.stripe_maxima[stripe]) >= MOST_OCTAVES {
            return count as u64; // every block of it has weight 1
        }
        let (rows, rest) = (count / self.lanes, count % self.lanes);
        let maxima = self.block_maxima(stripe);
        let mut sum = kernels::sum_of_weights(self.level, maxima, self.top, scale, weights) * rows as u64;
        if rest > 0 {
            sum += kernels::sum_of_weights(self.level, &maxima[..rest], self.top, scale, weights);
        }
        sum
    }

    /// Sum of the weights of the stripes' maxima.
    #[must_use]
    pub fn sum_of_stripe_weights(&self, scale: &Scale, weights: Weights) -> u64 {
        kernels::sum_of_weights(self.level, &self.stripe_maxima, self.top, scale, weights)
    }

    /// The weight of every block of a stripe, in the first `lanes` places of `bounds`.
    #[inline]
    pub fn block_weights<'b>(
        &self,
        scale: &Scale,
        weights: Weights,
        stripe: usize,
        bounds: &'b mut [u64; MOST_LANES],
    ) -> &'b [u64] {
        let maxima = self.block_maxima(stripe);
        let bounds = &mut bounds[..maxima.len()];
        kernels::fill_weights(self.level, maxima, self.top, scale, weights, bounds);
        bounds
    }
}

/// Integer upper bounds of the weights exp(-x): `weight * 2^-bits`, at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    pub bits: u32,
    one: f64,
}

impl Weights {
    /// As many bits as `count` of them can have with a sum below 2^63.
    #[must_use]
    pub fn for_count(count: usize) -> Self {
        let bits = WEIGHT_BITS.min(62 - count.ilog2() - 1);
        // A little more than one, so that the roundings below leave an upper bound.
        Self { bits, one: power_of_two(bits as i32) * (1.0 + 1e-12) }
    }

    /// The bound for something `octaves` (or a little more) halvings below the top.
    ///
    /// Between two powers of two the chord 1 - f/2 lies above 2^-f. Written without branches, so that a loop over it
    /// is vectorised: adding 2^52 leaves the nearest integer in the low bits, and one more is certainly above.
    #[inline(always)]
    #[must_use]
    pub fn at(self, octaves: f64) -> u64 {
        const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
        let octaves = if octaves < MOST_OCTAVES { octaves } else { MOST_OCTAVES };
        // SAFETY: 0 <= octaves <= 62, since octaves come from `Scale::octaves`, which is neither negative nor NaN.
        let whole: i32 = unsafe { octaves.to_int_unchecked() };
        let fraction = octaves - f64::from(whole);
        let power = f64::from_bits(((1023 - whole) as u64) << 52);
        let bound = self.one * power * (1.0 - 0.5 * fraction);
        ((bound + TWO_TO_52).to_bits() & ((1 << 52) - 1)) + 1
    }

    /// The weight of probability one half: the largest that may be thinned.
    #[inline]
    #[must_use]
    pub fn half(self) -> u64 {
        1 << (self.bits - 1)
    }
}

#[cfg(test)]
#[path = "block_index_tests.rs"]
mod tests;
