//! The one pass over all scores: running maxima of interleaved lanes, and a check that every value is finite.
//!
//! A row is `L` values side by side, 256 bytes; lane `l` of a stripe of rows is one block. So the loop below has no
//! horizontal step at all, and the compiler turns it into one load and one maximum per vector.

use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::Weights;
use crate::scan::score_view::View;

/// Bytes of a row, whatever the type.
pub const ROW_BYTES: usize = 256;

/// Maxima and checks of `L` lanes, and of all of them together.
pub struct Lanes<T, const L: usize> {
    pub maxima: [T; L],
    checks: [T; L],
    pub top: T,
    check: T,
}

impl<T: Score, const L: usize> Lanes<T, L> {
    const EMPTY: Self = Self { maxima: [T::LOWEST; L], checks: [T::CLEAN; L], top: T::LOWEST, check: T::CLEAN };

    /// Whether all values were finite.
    #[inline(always)]
    pub fn is_finite(&self) -> bool {
        !self.check.is_poison()
    }

    /// Fold the lanes together, halves onto halves.
    #[inline(always)]
    fn sum_up(&mut self) {
        let (mut maxima, mut checks) = (self.maxima, self.checks);
        let mut width = L / 2;
        while width > 0 {
            for lane in 0..width {
                maxima[lane] = maxima[lane].or_larger(maxima[lane + width]);
                checks[lane] = checks[lane + width].check(checks[lane]);
            }
            width /= 2;
        }
        (self.top, self.check) = (maxima[0], checks[0]);
    }

    /// Take one row in. Whole arrays in fixed loops, so that they live in vector registers.
    #[inline(always)]
    fn take(&mut self, row: &[T; L]) {
        for lane in 0..L {
            self.maxima[lane] = self.maxima[lane].or_larger(row[lane]);
        }
        if T::MAY_BE_POISON {
            for lane in 0..L {
                self.checks[lane] = row[lane].check(self.checks[lane]);
            }
        }
    }
}

/// How far ahead of the scan memory is asked for. The processor's own prefetching stops at pages of 4 KiB; asking for
/// the page after the next one took a third off the pass over 80 MB (2, 4, 16, 32 and 64 KiB gained less).
const PREFETCH_BYTES: usize = 8192;

/// Ask for the row that lies `PREFETCH_BYTES` behind `row`.
#[inline(always)]
fn prefetch(row: *const u8) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..ROW_BYTES / 64 {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, so any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(PREFETCH_BYTES + 64 * line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}

/// Scan `rows` full rows from `first`.
///
/// # Safety
/// `rows * L` values must be readable from `first` on; foreign memory need not be aligned.
#[inline(always)]
unsafe fn scan<T: Score, const L: usize>(first: *const T, rows: usize) -> Lanes<T, L> {
    let mut lanes = Lanes::EMPTY;
    for row in 0..rows {
        // Integer maxima may be reordered, and the compiler would vectorise across rows with slow gathers: the opaque
        // address keeps it to one row at a time.
        let row = std::hint::black_box(row * L);
        prefetch(first.wrapping_add(row).cast());
        // SAFETY: the caller's.
        let values = unsafe { first.add(row).cast::<[T; L]>().read_unaligned() };
        lanes.take(&values);
    }
    lanes.sum_up();
    lanes
}

/// Scan `count` values of `view` from `start`: row after row, the last row possibly short.
///
/// # Safety
/// `start + count` must not exceed the view's length.
#[inline]
pub unsafe fn scan_stripe<T: Score, const L: usize>(
    level: Level,
    view: &View<'_, T>,
    start: usize,
    count: usize,
) -> Lanes<T, L> {
    let rows = count / L;
    let mut lanes = match view.contiguous() {
        // SAFETY: the caller's.
        Some(first) => unsafe { scan_best(level, first.add(start), rows) },
        None => scan_strided(view, start, rows),
    };
    let from = start + rows * L;
    for lane in 0..count % L {
        let value = view.get(from + lane);
        lanes.maxima[lane] = lanes.maxima[lane].or_larger(value);
        lanes.top = lanes.top.or_larger(value);
        lanes.check = value.check(lanes.check);
    }
    lanes
}

#[inline(never)]
fn scan_strided<T: Score, const L: usize>(view: &View<'_, T>, start: usize, rows: usize) -> Lanes<T, L> {
    let mut lanes = Lanes::EMPTY;
    let mut gathered = [T::CLEAN; L];
    for row in 0..rows {
        for (lane, slot) in gathered.iter_mut().enumerate() {
            *slot = view.get(start + row * L + lane);
        }
        lanes.take(&gathered);
    }
    lanes.sum_up();
    lanes
}

/// [`scan`], compiled for what this processor has.
///
/// # Safety
/// As for [`scan`].
#[inline]
unsafe fn scan_best<T: Score, const L: usize>(level: Level, first: *const T, rows: usize) -> Lanes<T, L> {
    // SAFETY: the bounds are the caller's; a level is only handed out where the processor has its features.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => scan_avx512(first, rows),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => scan_avx2(first, rows),
            Level::Baseline => scan(first, rows),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn scan_avx512<T: Score, const L: usize>(first: *const T, rows: usize) -> Lanes<T, L> {
    // SAFETY: the caller's.
    unsafe { scan(first, rows) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn scan_avx2<T: Score, const L: usize>(first: *const T, rows: usize) -> Lanes<T, L> {
    // SAFETY: the caller's.
    unsafe { scan(first, rows) }
}

/// Sum of the weight bounds of `maxima`.
#[inline]
pub fn sum_of_weights<T: Score>(level: Level, maxima: &[T], top: T, scale: &Scale, weights: Weights) -> u64 {
    // SAFETY: a level is only handed out where the processor has its features.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => sum_of_weights_avx512(maxima, top, scale, weights),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => sum_of_weights_avx2(maxima, top, scale, weights),
            Level::Baseline => sum_of_weights_baseline(maxima, top, scale, weights),
        }
    }
}

/// The weight bounds of `maxima`, one by one; the two slices must have the same length.
#[inline]
pub fn fill_weights<T: Score>(level: Level, maxima: &[T], top: T, scale: &Scale, weights: Weights, bounds: &mut [u64]) {
    debug_assert_eq!(maxima.len(), bounds.len());
    // SAFETY: a level is only handed out where the processor has its features.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => fill_weights_avx512(maxima, top, scale, weights, bounds),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => fill_weights_avx2(maxima, top, scale, weights, bounds),
            Level::Baseline => fill_weights_baseline(maxima, top, scale, weights, bounds),
        }
    }
}

#[inline(always)]
fn sum_of_weights_baseline<T: Score>(maxima: &[T], top: T, scale: &Scale, weights: Weights) -> u64 {
    maxima.iter().map(|&maximum| weights.at(scale.octaves(top, maximum))).sum()
}

#[inline(always)]
fn fill_weights_baseline<T: Score>(maxima: &[T], top: T, scale: &Scale, weights: Weights, bounds: &mut [u64]) {
    for (bound, &maximum) in bounds.iter_mut().zip(maxima) {
        *bound = weights.at(scale.octaves(top, maximum));
    }
}

macro_rules! compiled_for {
    ($features:literal, $sum:ident, $fill:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $sum<T: Score>(maxima: &[T], top: T, scale: &Scale, weights: Weights) -> u64 {
            sum_of_weights_baseline(maxima, top, scale, weights)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $fill<T: Score>(maxima: &[T], top: T, scale: &Scale, weights: Weights, bounds: &mut [u64]) {
            fill_weights_baseline(maxima, top, scale, weights, bounds);
        }
    };
}

compiled_for!("avx512f,avx512bw,avx512dq,avx512vl", sum_of_weights_avx512, fill_weights_avx512);
compiled_for!("avx2", sum_of_weights_avx2, fill_weights_avx2);

/// Which instructions the pass may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// SSE2 on x86-64, NEON on AArch64.
    Baseline,
}

impl Level {
    /// The best level of this processor (the standard library caches the question).
    #[must_use]
    pub fn detect() -> Self {
        Self::available()[0]
    }

    /// All levels of this processor, the best one first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                levels.push(Self::Avx512);
            }
            if is_x86_feature_detected!("avx2") {
                levels.push(Self::Avx2);
            }
        }
        levels.push(Self::Baseline);
        levels
    }
}
