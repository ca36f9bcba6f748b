//! Selection from scores that lie in several places: each place's winner with its time, merged to the first of all.
//!
//! Proof: `proofs/partial_selection.md`; model: `tests/reference/partial_selection.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::lazy_time::Clock;
use crate::scores::block_index::Blocks;
use crate::scores::scale::Scale;
use crate::scores::score::Height;
use crate::scores::score_view::View;
use crate::select::many_draws::Law;
use crate::select::weight_line::Round;
use crate::select::{exponential_mechanism, permute_and_flip};

/// What two partial selections have to share to be merged; public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    pub law: Law,
    pub epsilon: f64,
    pub sensitivity: f64,
    pub factor: u8,
}

impl Terms {
    pub fn scale(&self) -> Result<Scale, SelectError> {
        Scale::new(self.epsilon, self.sensitivity, self.factor)
    }
}

/// The first of one or more partitions. Everything in it is private: it depends on the scores and says more than who won.
#[derive(Clone, PartialEq, Eq)]
pub struct Winner {
    pub partition: u64,
    pub index: u64,
    /// The best score of its partition, from which its time is measured.
    pub top: Height,
    pub clock: Clock,
}

impl Winner {
    /// Draw the first of `scores`; nobody if there are none.
    ///
    /// # Errors
    /// As [`Blocks::new`] but for `NoCandidates`, `NotMergeable` for a law without times, `Interrupted` and `Changed`.
    pub fn of(
        terms: &Terms,
        scores: View<'_>,
        partition: u64,
        entropy: &mut Entropy,
    ) -> Result<Option<Self>, SelectError> {
        let scale = terms.scale()?;
        let first = match terms.law {
            Law::Exponential => exponential_mechanism::draw_with_time,
            Law::PermuteAndFlip => permute_and_flip::draw_with_time,
            Law::LaplaceNoisyMax => return Err(SelectError::NotMergeable),
        };
        if scores.is_empty() {
            return Ok(None);
        }
        let blocks = Blocks::new(scores)?;
        let (index, clock) = first(&Round::new(&blocks, &scale), entropy)?;
        Ok(Some(Self { partition, index: index as u64, top: Height::of(blocks.top(), scores.kind()), clock }))
    }

    /// The first of both; further bits of their times are drawn as far as it takes.
    pub fn first_of(mut self, mut other: Self, scale: &Scale, entropy: &mut Entropy) -> Self {
        if self.is_before(&mut other, scale, entropy) { self } else { other }
    }

    /// Whether its time comes before that of the other one.
    pub fn is_before(&mut self, other: &mut Self, scale: &Scale, entropy: &mut Entropy) -> bool {
        // Seen from the partition with the higher top, the other one's times are exp(x) as long.
        let (own, others) = (self.top.exactly(), other.top.exactly());
        let x = scale.exact_exponent_of_gap(&(&own - &others).into());
        if own < others {
            !other.clock.is_before(&x, &mut self.clock, entropy)
        } else {
            self.clock.is_before(&x, &mut other.clock, entropy)
        }
    }
}

/// `None` is the selection from no scores, neutral in every merge.
pub fn merge(one: Option<Winner>, other: Option<Winner>, scale: &Scale, entropy: &mut Entropy) -> Option<Winner> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.first_of(other, scale, entropy)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
#[path = "partial_tests.rs"]
mod tests;
