//! The loops over many values, compiled for what the processor has: the one pass over all scores, and weight bounds.
//!
//! A row is `L` values side by side, up to 256 bytes; lane `l` of a stripe of rows is one block. So the pass has no
//! horizontal step within a stripe, and the compiler turns it into one load and one maximum per vector.

use std::mem::MaybeUninit;

use crate::scores::keys::{KEY_LANES, KeyLanes, LEFT_OUT, key_of};
use crate::scores::scale::Scale;
use crate::scores::score::{Lane, Stored};
use crate::scores::score_view::View;
use crate::scores::weight_bounds::WeightBounds;

/// Values in a row of a type of so many bytes: 256 bytes, four vectors of the widest kind, but never more than 64 values.
pub const fn lanes(size: usize) -> usize {
    let lanes = 256 / size;
    if lanes < MOST_LANES { lanes } else { MOST_LANES }
}

/// The most values a row has.
pub const MOST_LANES: usize = 64;

/// Groups of the blocks of a stripe: as many values as a vector of the widest kind has, so that they are summed up side by side.
pub const GROUPS: usize = 8;

/// How far ahead of the scan, and for every how many bytes, memory is asked for. The processor's own prefetching stops
/// at pages: to touch one line of each page in time starts it there. Measured: a third off the pass over 80 MB; to ask for
/// every line instead made that pass a third slower.
#[cfg(target_arch = "x86_64")]
const PREFETCH_BYTES: usize = 4 * PAGE_BYTES;
const PAGE_BYTES: usize = 4096;
/// From this many bytes on memory is asked for: fewer are mostly in a cache, where asking takes more than it gives.
const UNCACHED_BYTES: usize = 8 << 20;

/// Ask for the page that lies `PREFETCH_BYTES` behind `place`.
#[inline(always)]
fn prefetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, so any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.wrapping_add(PREFETCH_BYTES).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Where the pass leaves what it finds, widened: stripe after stripe, the maxima of the lanes and the largest of them.
pub struct Maxima<'m, W> {
    /// The stripe the other two begin with.
    pub first_stripe: usize,
    /// `L` to a stripe.
    pub of_blocks: &'m mut [MaybeUninit<W>],
    pub of_stripes: &'m mut [MaybeUninit<W>],
}

/// What the instructions change about the pass: over how many parts of a row one check for NaN and infinities is
/// spread, so that maxima and checks fit the registers together, and whether it is one operation.
struct Pass<const PARTS: usize, const FUSED: bool>;

/// Maxima and checks of `L` lanes.
struct Lanes<T, const L: usize> {
    maxima: [T; L],
    checks: [T; L],
}

impl<const PARTS: usize, const FUSED: bool> Pass<PARTS, FUSED> {
    /// Take one row in. Whole arrays in fixed loops, so that they live in vector registers.
    #[inline(always)]
    fn take<T: Stored, const L: usize>(lanes: &mut Lanes<T, L>, row: &[T; L]) {
        for lane in 0..L {
            lanes.maxima[lane] = lanes.maxima[lane].or_larger(row[lane]);
        }
        if T::MAY_BE_POISON {
            for part in 0..PARTS {
                for lane in 0..L / PARTS {
                    let (value, check) = (row[part * (L / PARTS) + lane], &mut lanes.checks[lane]);
                    *check = if FUSED { value.check_fused(*check) } else { value.check(*check) };
                }
            }
        }
    }

    #[inline(always)]
    fn scan<T: Stored, const L: usize, const ROWS: usize>(view: &View<'_>, maxima: Maxima<'_, T::Lane>) -> bool {
        let Maxima { first_stripe, of_blocks, of_stripes } = maxima;
        let contiguous = view.contiguous();
        let uncached = view.len() * size_of::<T>() >= UNCACHED_BYTES;
        let mut lanes = Lanes { maxima: [T::LOWEST; L], checks: [T::CLEAN; L] };
        let of_blocks = of_blocks.as_chunks_mut::<L>().0;
        for (stripe, blocks) in of_blocks.iter_mut().enumerate() {
            let start = (first_stripe + stripe) * ROWS * L;
            let count = (view.len() - start).min(ROWS * L);
            lanes.maxima = [T::LOWEST; L];
            if let Some(first) = contiguous.map(<*const u8>::cast::<T>) {
                for row in 0..count / L {
                    // Integer maxima may be reordered, and the compiler would vectorise across rows with slow gathers:
                    // the opaque place keeps it to one row at a time.
                    let place = std::hint::black_box(start + row * L);
                    if uncached && row % (PAGE_BYTES / size_of::<[T; L]>()) == 0 {
                        prefetch(first.wrapping_add(place).cast());
                    }
                    // SAFETY: the row lies within the view; foreign memory need not be aligned.
                    Self::take(&mut lanes, &unsafe { first.add(place).cast::<[T; L]>().read_unaligned() });
                }
            } else {
                for row in 0..count / L {
                    Self::take(&mut lanes, &gathered(view, start + row * L, L));
                }
            }
            let short = count % L;
            if short > 0 {
                Self::take(&mut lanes, &gathered(view, start + count - short, short));
            }
            // An opaque copy is widened, or the lanes of narrow types would lie in memory all along.
            for (block, maximum) in blocks.iter_mut().zip(std::hint::black_box(lanes.maxima)) {
                block.write(maximum.widened());
            }
        }
        // In a loop of its own: within the pass, the order of these steps would become that of the pass's lanes.
        for (blocks, top) in of_blocks.iter().zip(of_stripes) {
            // Opaque, like the places above, or the compiler would take several stripes at a time with slow gathers.
            let blocks = std::hint::black_box(blocks).as_ptr().cast::<[T::Lane; L]>();
            // SAFETY: the pass has written all of them.
            top.write(largest(unsafe { blocks.read() }));
        }
        !T::MAY_BE_POISON || !std::hint::black_box(lanes.checks).iter().any(|check| check.is_poison())
    }
}

#[inline(always)]
fn scan_baseline<T: Stored, const L: usize, const ROWS: usize>(view: &View<'_>, maxima: Maxima<'_, T::Lane>) -> bool {
    Pass::<4, false>::scan::<T, L, ROWS>(view, maxima)
}

/// `count` values from `start` on, and behind them what changes neither maximum nor check.
#[inline(never)]
fn gathered<T: Stored, const L: usize>(view: &View<'_>, start: usize, count: usize) -> [T; L] {
    let mut values = [T::LOWEST; L];
    view.copy_to(start, &mut values[..count]);
    values
}

/// Halves onto halves, which stays in vectors until few are left.
#[inline(always)]
fn largest<W: Lane, const L: usize>(mut values: [W; L]) -> W {
    let mut width = L;
    while width > 1 {
        width /= 2;
        let (low, high) = values.split_at_mut(width);
        for lane in 0..width {
            low[lane] = low[lane].or_larger(high[lane]);
        }
    }
    values[0]
}

#[inline(always)]
fn largest_baseline<W: Lane>(values: &[W]) -> W {
    let (rows, rest) = values.as_chunks::<32>();
    let mut running = [W::LOWEST; 32];
    for row in rows {
        for lane in 0..32 {
            running[lane] = running[lane].or_larger(row[lane]);
        }
    }
    rest.iter().fold(largest(running), |top, &value| top.or_larger(value))
}

#[inline(always)]
fn group_sums_baseline<W: Lane>(
    maxima: &[W],
    (lanes, rows): (usize, usize),
    top: W,
    scale: &Scale,
    (bounds, whole_stripes): (WeightBounds, &[u64]),
    into: &mut [[u64; GROUPS]],
) {
    for ((maxima, sums), &whole) in maxima.chunks_exact(lanes).zip(into).zip(whole_stripes) {
        if whole > 0 {
            continue;
        }
        // Many at a time, so that whole vectors are summed up.
        let mut running = [0; 4 * GROUPS];
        for row in maxima.as_chunks::<{ 4 * GROUPS }>().0 {
            for lane in 0..4 * GROUPS {
                running[lane] += bounds.at(scale.octaves(row[lane].gap_below(top)));
            }
        }
        for group in 0..GROUPS {
            let [one, two, three, four] = [0, 1, 2, 3].map(|row| running[row * GROUPS + group]);
            sums[group] = (one + two + three + four) * rows as u64;
        }
    }
}

#[inline(always)]
fn fill_bounds_baseline<W: Lane>(
    scores: &[W],
    top: W,
    scale: &Scale,
    bounds: WeightBounds,
    into: &mut [u64],
) -> Filled {
    let mut filled = Filled { sum: 0, largest: 0 };
    for (bound, &score) in into.iter_mut().zip(scores) {
        *bound = bounds.at(scale.octaves(score.gap_below(top)));
        filled.sum += *bound;
        filled.largest = filled.largest.max(*bound);
    }
    filled
}

#[inline(always)]
fn take_keys<W: Lane>(lanes: &mut KeyLanes<W>, scores: &[W], logs: &[f32], from: W, scale: &Scale) {
    for (lane, (&score, &log)) in scores.iter().zip(logs).enumerate().take(KEY_LANES) {
        lanes.maxima[lane] = lanes.maxima[lane].or_larger(key_of(log, score, from, scale));
        lanes.largest[lane] = lanes.largest[lane].or_larger(if log > LEFT_OUT { score } else { W::LOWEST });
        lanes.checks[lane] = score.check(lanes.checks[lane]);
    }
}

#[inline(always)]
fn scan_keys_baseline<W: Lane>(scores: &[W], logs: &[f32], from: W, scale: &Scale) -> KeyLanes<W> {
    let mut lanes = KeyLanes { maxima: [f64::MIN; _], largest: [W::LOWEST; _], checks: [W::CLEAN; _] };
    let ((rows, rest), (logs, logs_of_rest)) = (scores.as_chunks::<KEY_LANES>(), logs.as_chunks::<KEY_LANES>());
    for (row, logs) in rows.iter().zip(logs) {
        take_keys(&mut lanes, row, logs, from, scale);
    }
    take_keys(&mut lanes, rest, logs_of_rest, from, scale);
    lanes
}

/// What some bounds come to.
#[derive(Clone, Copy, Debug)]
pub struct Filled {
    pub sum: u64,
    pub largest: u64,
}

macro_rules! compiled_for {
    ($features:literal, $pass:ty, $scan:ident, $largest:ident, $sums:ident, $fill:ident, $scan_keys:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $scan<T: Stored, const L: usize, const ROWS: usize>(view: &View<'_>, maxima: Maxima<'_, T::Lane>) -> bool {
            <$pass>::scan::<T, L, ROWS>(view, maxima)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $largest<W: Lane>(values: &[W]) -> W {
            largest_baseline(values)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $sums<W: Lane>(
            maxima: &[W],
            shape: (usize, usize),
            top: W,
            scale: &Scale,
            bounds: (WeightBounds, &[u64]),
            into: &mut [[u64; GROUPS]],
        ) {
            group_sums_baseline(maxima, shape, top, scale, bounds, into);
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $fill<W: Lane>(scores: &[W], top: W, scale: &Scale, bounds: WeightBounds, into: &mut [u64]) -> Filled {
            fill_bounds_baseline(scores, top, scale, bounds, into)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $scan_keys<W: Lane>(scores: &[W], logs: &[f32], from: W, scale: &Scale) -> KeyLanes<W> {
            scan_keys_baseline(scores, logs, from, scale)
        }
    };
}

// Thirty-two registers of 64 bytes hold four maxima and four checks; sixteen of 32 bytes eight maxima and four checks.
compiled_for!("avx512f,avx512bw,avx512dq,avx512vl,fma", Pass<1, true>, scan_avx512, largest_avx512, sums_avx512, fill_avx512, keys_avx512);
compiled_for!("avx2,fma", Pass<2, true>, scan_avx2, largest_avx2, sums_avx2, fill_avx2, keys_avx2);

/// Call one of the compilations above.
macro_rules! at_level {
    ($level:expr, $avx512:path, $avx2:path, $baseline:path, ($($argument:expr),*)) => {
        match $level {
            // SAFETY: a level is only handed out where the processor has its features.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { $avx512($($argument),*) },
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { $avx2($($argument),*) },
            Instructions::Baseline => $baseline($($argument),*),
        }
    };
}

/// Scan the stripes that `maxima` has room for: `ROWS` rows of `L` values, the last stripe possibly shorter, its last row
/// possibly incomplete. Writes `maxima` in full and returns whether all values were
/// finite. (With a number of rows that the compiler does not know, the loop takes a tenth longer.)
#[inline]
pub fn scan<T: Stored, const L: usize, const ROWS: usize>(
    level: Instructions,
    view: &View<'_>,
    maxima: Maxima<'_, T::Lane>,
) -> bool {
    at_level!(level, scan_avx512::<T, L, ROWS>, scan_avx2::<T, L, ROWS>, scan_baseline::<T, L, ROWS>, (view, maxima))
}

/// The largest of `values`, none of which is NaN.
#[inline]
pub fn largest_of<W: Lane>(level: Instructions, values: &[W]) -> W {
    at_level!(level, largest_avx512, largest_avx2, largest_baseline, (values))
}

/// For stripes of so many lanes and rows, the sums over the items of each group of blocks of their blocks' weight bounds, but for
/// stripes with a bound of their own.
#[inline]
pub fn fill_group_sums<W: Lane>(
    level: Instructions,
    maxima: &[W],
    shape: (usize, usize),
    top: W,
    scale: &Scale,
    bounds: (WeightBounds, &[u64]),
    into: &mut [[u64; GROUPS]],
) {
    at_level!(level, sums_avx512, sums_avx2, group_sums_baseline, (maxima, shape, top, scale, bounds, into));
}

/// The weight bounds of `scores`, one by one; the two slices must have the same length.
#[inline]
pub fn fill_bounds<W: Lane>(
    level: Instructions,
    scores: &[W],
    top: W,
    scale: &Scale,
    bounds: WeightBounds,
    into: &mut [u64],
) -> Filled {
    debug_assert_eq!(scores.len(), into.len());
    at_level!(level, fill_avx512, fill_avx2, fill_bounds_baseline, (scores, top, scale, bounds, into))
}

/// The largest keys of a stripe's blocks, and the largest scores with a weight.
#[inline]
pub fn scan_keys<W: Lane>(level: Instructions, scores: &[W], logs: &[f32], from: W, scale: &Scale) -> KeyLanes<W> {
    debug_assert_eq!(scores.len(), logs.len());
    at_level!(level, keys_avx512, keys_avx2, scan_keys_baseline, (scores, logs, from, scale))
}

/// Which instructions the loops may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// SSE2 on x86-64, NEON on AArch64.
    Baseline,
}

impl Instructions {
    /// All levels, the best one first.
    const ALL: &[Self] = &[
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        Self::Baseline,
    ];

    /// The best level of this processor (the standard library caches the question).
    #[inline]
    pub fn detect() -> Self {
        Self::available().next().unwrap_or(Self::Baseline)
    }

    /// All levels of this processor, the best one first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|level| level.is_available())
    }

    #[inline]
    fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            Self::Baseline => true,
        }
    }
}
