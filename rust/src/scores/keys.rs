//! Scores with a public weight each, as one number: what the block index holds where candidates have weights.
//!
//! The key of candidate i is a double no less than log2(w_i) + (s_i - from) / (b ln 2), for some score `from`, and above it by 2^-22
//! of the logarithm and 2^-45 of the rest at most. Proof: `proofs/weighted_candidates.md`, claim 4.

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use crate::scores::kernels::{Instructions, Maxima, scan_keys};
use crate::scores::scale::Scale;
use crate::scores::score::{Lane, Score, Stored};
use crate::scores::score_view::View;

/// Blocks of a stripe of keys.
pub const KEY_LANES: usize = 32;
/// The most scores of a stripe.
const MOST_SCORES: usize = 32 * KEY_LANES;
/// In place of the logarithm of weight zero. No score makes up for it.
pub const LEFT_OUT: f32 = f32::MIN;
/// More than all rounding errors in a key, relative to its terms.
const SLACK: f64 = 1.0 / (1_u64 << 46) as f64;

/// What turns scores into keys.
pub struct Keys<'a> {
    /// Bounds of the weights' binary logarithms from above, or [`LEFT_OUT`].
    logs: Cow<'a, [f32]>,
    scale: &'a Scale,
    from: Score,
    /// The largest score with a weight, once all have been scanned.
    largest: Mutex<Option<Score>>,
}

/// Largest keys of a stripe's blocks, and of each lane the largest score with a weight and the check for NaN and infinities.
pub struct KeyLanes<W> {
    pub maxima: [f64; KEY_LANES],
    pub largest: [W; KEY_LANES],
    pub checks: [W; KEY_LANES],
}

/// How many octaves lie between two scores: a lower bound as that of [`Scale::octaves`], whatever their distance.
#[inline(always)]
fn octaves_apart<W: Lane>(one: W, other: W, scale: &Scale) -> f64 {
    let distance = one.distance_to(other).abs();
    // Beyond the doubles, which hold its half.
    let far = 2.0 * scale.octaves(one.half_distance_to(other).abs());
    if distance <= f64::MAX { scale.octaves(distance) } else { far }
}

/// The key of a score.
#[inline(always)]
pub fn key_of<W: Lane>(log: f32, score: W, from: W, scale: &Scale) -> f64 {
    let (log, rise) = (f64::from(log), from.distance_to(score));
    let rise = if let Some(unit) = scale.plain_octaves_per_unit() {
        // Beyond the doubles all lies too far away for an infinite number to do harm.
        (rise * (unit * (1.0 + SLACK))).or_larger(rise * (unit * (1.0 - SLACK)))
    } else {
        let octaves = octaves_apart(score, from, scale);
        octaves.copysign(rise) + octaves * SLACK
    };
    // What lies infinitely far below is no number here, and gets the lowest key. Logarithms have room for the rounding of the sum.
    f64::MIN.or_larger(log + rise)
}

impl<'a> Keys<'a> {
    pub fn new(logs: Cow<'a, [f32]>, scale: &'a Scale, from: Score) -> Self {
        Self { logs, scale, from, largest: Mutex::new(None) }
    }

    /// The same weights, measured from another score.
    pub fn from(self, from: Score) -> Self {
        Self::new(self.logs, self.scale, from)
    }

    #[inline]
    pub fn of(&self, index: usize, score: Score) -> Score {
        Score::Real(match (score, self.from) {
            (Score::Real(score), Score::Real(from)) => key_of(self.logs[index], score, from, self.scale),
            (Score::Whole(score), Score::Whole(from)) => key_of(self.logs[index], score, from, self.scale),
            _ => unreachable!("scores of one kind"),
        })
    }

    pub fn has_weight(&self, index: usize) -> bool {
        self.logs[index] > LEFT_OUT
    }

    pub fn leave_out(&mut self, index: usize) {
        self.logs.to_mut()[index] = LEFT_OUT;
    }

    /// How many octaves the largest score that was scanned lies above the one that keys are measured from; a lower bound as that
    /// of [`Scale::octaves`]. And that score.
    pub fn rise(&self) -> (f64, Score) {
        let largest = self.largest.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(self.from);
        let rise = match (self.from, largest) {
            (Score::Real(from), Score::Real(largest)) if largest > from => octaves_apart(from, largest, self.scale),
            (Score::Whole(from), Score::Whole(largest)) if largest > from => octaves_apart(from, largest, self.scale),
            _ => 0.0, // it is that score itself, or none has a weight
        };
        (rise, largest)
    }

    /// Scan the stripes that `maxima` has room for: write it in full, return whether all scores were finite.
    pub fn scan(&self, view: &View<'_>, rows: usize, level: Instructions, maxima: Maxima<'_, f64>) -> bool {
        match self.from {
            Score::Real(from) => self.scan_lanes(from, Score::Real, view, rows, level, maxima),
            Score::Whole(from) => self.scan_lanes(from, Score::Whole, view, rows, level, maxima),
        }
    }

    fn scan_lanes<W: Lane>(
        &self,
        from: W,
        score: fn(W) -> Score,
        view: &View<'_>,
        rows: usize,
        level: Instructions,
        maxima: Maxima<'_, f64>,
    ) -> bool {
        let (mut copy, mut all_largest, mut is_finite) = ([W::LOWEST; MOST_SCORES], W::LOWEST, true);
        let in_place = view.in_place::<W>();
        let stripes = maxima.of_blocks.chunks_mut(KEY_LANES).zip(maxima.of_stripes).zip(maxima.first_stripe..);
        for ((of_blocks, of_stripe), stripe) in stripes {
            let first = stripe * rows * KEY_LANES;
            let count = (view.len() - first).min(rows * KEY_LANES);
            let scores = if let Some(scores) = in_place {
                &scores[first..first + count]
            } else {
                view.convert(first, &mut copy[..count], |score, _| W::of(score));
                &copy[..count]
            };
            let lanes = scan_keys(level, scores, &self.logs[first..first + count], from, self.scale);
            of_blocks.copy_from_slice(&lanes.maxima.map(MaybeUninit::new));
            of_stripe.write(lanes.maxima.into_iter().fold(f64::MIN, Stored::or_larger));
            all_largest = lanes.largest.into_iter().fold(all_largest, W::or_larger);
            is_finite &= !W::MAY_BE_POISON || !lanes.checks.iter().any(|check| check.is_poison());
        }
        let mut largest = self.largest.lock().unwrap_or_else(PoisonError::into_inner);
        let found = score(all_largest);
        *largest = Some(largest.map_or(found, |largest| largest.or_larger(found)));
        is_finite
    }
}
