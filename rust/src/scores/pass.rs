//! The pass over all scores: stripes in turns that threads take, the maxima of their blocks in full.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{SelectError, reserved};
use crate::scores::kernels::{self, Instructions, Maxima};
use crate::scores::score::{Lane, Score, Stored};
use crate::scores::score_view::View;
use crate::scores::threads::{Turns, available_threads, with_helpers};

/// Scores (in bytes) that one more thread is worth its start.
const BYTES_PER_THREAD: usize = 1 << 20;
/// Bytes a thread takes at a time.
const BYTES_PER_TURN: usize = 256 << 10;
/// The same if there is one thread: short enough to be interrupted.
const BYTES_PER_TURN_ALONE: usize = 16 * BYTES_PER_TURN;

/// Largest values: of each block, `lanes` to a stripe, and of each stripe.
pub(super) struct Best<W> {
    pub of_blocks: Vec<W>,
    pub of_stripes: Vec<W>,
}

/// The same for either kind of score.
pub(super) enum Index {
    Real(Best<f64>),
    Whole(Best<i64>),
}

impl Index {
    pub fn largest(&self, level: Instructions) -> Score {
        match self {
            Self::Real(best) => Score::Real(kernels::largest_of(level, &best.of_stripes)),
            Self::Whole(best) => Score::Whole(kernels::largest_of(level, &best.of_stripes)),
        }
    }
}

impl<W: Lane> Best<W> {
    pub fn of_stripe(&self, stripe: usize, lanes: usize) -> &[W] {
        &self.of_blocks[stripe * lanes..][..lanes]
    }

    pub fn replace(&mut self, stripe: usize, lanes: usize, lane: usize, maximum: W, level: Instructions) {
        self.of_blocks[stripe * lanes + lane] = maximum;
        self.of_stripes[stripe] = kernels::largest_of(level, self.of_stripe(stripe, lanes));
    }
}

/// What the pass is compiled for: a type in memory, with the number of lanes that is best for it.
pub(super) trait Scanned: Stored {
    const LANES: usize = kernels::lanes(size_of::<Self>());

    /// Scan the stripes that `maxima` has room for, with blocks of so many scores: write it in full, return whether all was
    /// finite.
    fn scan<const ROWS: usize>(level: Instructions, view: &View<'_>, maxima: Maxima<'_, Self::Lane>) -> bool;

    /// The index of maxima of this type.
    fn index(best: Best<Self::Lane>) -> Index;
}

macro_rules! scanned {
    ($($kind:ident: $($type:ty),*;)*) => {$($(
        impl Scanned for $type {
            #[inline]
            fn scan<const ROWS: usize>(level: Instructions, view: &View<'_>, maxima: Maxima<'_, Self::Lane>) -> bool {
                kernels::scan::<Self, { kernels::lanes(size_of::<$type>()) }, ROWS>(level, view, maxima)
            }

            fn index(best: Best<Self::Lane>) -> Index {
                Index::$kind(best)
            }
        }
    )*)*};
}

scanned! {
    Real: f64, f32;
    Whole: i64, u64, i32, u32, i16, u16, i8, u8;
}

/// The maxima of blocks of so many scores.
pub(super) fn best_of<T: Scanned, const ROWS: usize>(
    view: &View<'_>,
    threads: usize,
    level: Instructions,
) -> Result<Best<T::Lane>, SelectError> {
    let shape = Shape { stripes: view.len().div_ceil(T::LANES * ROWS), lanes: T::LANES };
    let per_turn = stripes_per_turn(T::LANES * ROWS * size_of::<T>(), threads);
    shape.filled(per_turn, threads, &|maxima| T::scan::<ROWS>(level, view, maxima))
}

/// How many stripes of so many bytes are scanned at a time.
pub(super) fn stripes_per_turn(bytes: usize, threads: usize) -> usize {
    (if threads > 1 { BYTES_PER_TURN } else { BYTES_PER_TURN_ALONE } / bytes).max(1)
}

/// Numbers of stripes, and of blocks in each.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub stripes: usize,
    pub lanes: usize,
}

/// Scan some stripes: write all their maxima, return whether all scores were finite.
type ScanSome<'s, W> = dyn Fn(Maxima<'_, W>) -> bool + Sync + 's;

impl Shape {
    /// Maxima in full, `per_turn` stripes at a time by `threads` threads.
    pub fn filled<W: Lane>(
        self,
        per_turn: usize,
        threads: usize,
        scan: &ScanSome<'_, W>,
    ) -> Result<Best<W>, SelectError> {
        let Self { stripes, lanes } = self;
        let mut best = Best { of_blocks: reserved(stripes * lanes)?, of_stripes: reserved(stripes)? };
        let of_blocks = &mut best.of_blocks.spare_capacity_mut()[..stripes * lanes];
        let of_stripes = &mut best.of_stripes.spare_capacity_mut()[..stripes];
        if !self.scan(per_turn, threads, scan, of_blocks, of_stripes)? {
            return Err(SelectError::NotFinite);
        }
        // SAFETY: the pass wrote all of both.
        unsafe {
            best.of_blocks.set_len(stripes * lanes);
            best.of_stripes.set_len(stripes);
        }
        Ok(best)
    }

    /// The pass over all stripes, in turns.
    fn scan<W: Lane>(
        self,
        per_turn: usize,
        threads: usize,
        scan: &ScanSome<'_, W>,
        of_blocks: &mut [MaybeUninit<W>],
        of_stripes: &mut [MaybeUninit<W>],
    ) -> Result<bool, SelectError> {
        if self.stripes <= per_turn {
            return Ok(scan(Maxima { first_stripe: 0, of_blocks, of_stripes }));
        }
        let turns = Turns::new(self.stripes, per_turn);
        let parts = of_blocks.chunks_mut(per_turn * self.lanes).zip(of_stripes.chunks_mut(per_turn)).enumerate();
        let (parts, finite) = (Mutex::new(parts), AtomicBool::new(true));
        with_helpers(threads - 1, &|| {
            // As many parts as turns; which is whose does not matter.
            while turns.take().is_some() {
                let part = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((turn, (of_blocks, of_stripes))) = part else { return };
                if !scan(Maxima { first_stripe: turn * per_turn, of_blocks, of_stripes }) {
                    finite.store(false, Ordering::Relaxed);
                }
            }
        });
        turns.outcome()?;
        Ok(finite.into_inner())
    }
}

/// How many threads a pass is worth.
pub(super) fn threads_for(view: &View<'_>) -> usize {
    let worth = view.bytes() / BYTES_PER_THREAD;
    if worth > 1 { worth.min(available_threads()) } else { 1 }
}
