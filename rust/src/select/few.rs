//! One draw from few candidates, as the mechanisms are defined: without an index, and without bounds.
//!
//! Permute-and-flip visits the candidates in random order, each once, until one shows heads. The exponential mechanism visits
//! them in random order with replacement. The scores are copied first, so that no one can change them meanwhile.
//! Proofs: `proofs/permute_and_flip.md` and `proofs/exponential_mechanism.md`, claim 3; the coins: `proofs/exact_sampling.md`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{Exponential, flip};
use crate::scores::scale::Scale;
use crate::scores::score::Score;
use crate::scores::score_view::View;

/// So many candidates are few: to visit all takes less time than to make an index and bounds.
pub const FEW: usize = 32;

/// A copy of their scores.
pub struct FewScores {
    scores: [Score; FEW],
    count: usize,
    top: Score,
}

impl FewScores {
    /// # Errors
    /// `NoCandidates` if there is no score, `NotFinite` if one is NaN or infinite.
    #[inline(always)]
    pub fn new(view: &View<'_>) -> Result<Self, SelectError> {
        let (mut scores, count) = ([Score::Whole(0); FEW], view.len());
        view.convert(0, &mut scores[..count], |score, _| score);
        if !scores[..count].iter().all(|score| score.is_finite()) {
            return Err(SelectError::NotFinite);
        }
        let top = scores[..count].iter().copied().reduce(Score::or_larger).ok_or(SelectError::NoCandidates)?;
        Ok(Self { scores, count, top })
    }

    /// Whether a candidate shows heads, with probability exp(-x).
    #[inline(always)]
    fn flip(&self, index: usize, scale: &Scale, entropy: &mut Entropy) -> bool {
        let (top, score) = (self.top, self.scores[index]);
        let exact = || scale.exact_exponent(top, score);
        flip(&Exponential { approximate: scale.exponent(top, score), exact }, entropy)
    }

    /// Draw by permute-and-flip, or else by the exponential mechanism.
    pub fn draw<const IS_PERMUTED: bool>(&self, scale: &Scale, entropy: &mut Entropy) -> usize {
        let mut unvisited: [u8; FEW] = std::array::from_fn(|index| index as u8);
        let mut count = self.count;
        // A best one shows heads: each candidate is visited once at most, or on average `FEW` visits at most are made.
        loop {
            let place = entropy.below_u32(count as u32) as usize;
            let index = unvisited[place].into();
            if self.flip(index, scale, entropy) {
                return index;
            }
            if IS_PERMUTED {
                count -= 1;
                unvisited[place] = unvisited[count];
            }
        }
    }
}
