//! Noise once on scores that lie in several places: each place's first comers with their times, merged to the first of all.
//!
//! Proof: `proofs/partial_selection.md`, "Several winners"; model: `tests/reference/exponential_once.py`.

use crate::entropy::Entropy;
use crate::error::{SelectError, reserved};
use crate::scores::scale::Scale;
use crate::scores::score::Height;
use crate::scores::score_view::View;
use crate::select::once;
use crate::select::partial::{Terms, Winner};
use crate::select::partial_bytes;

/// What a state begins with: four letters and the version of all that follows.
const HEAD: [u8; 5] = *b"dppo\x01";

/// The first of `scores`, at most `count`, the first one first: nobody if there are no scores.
///
/// # Errors
/// As [`once::largest`] but for `NoCandidates`.
pub fn first_of(
    terms: &Terms,
    scores: View<'_>,
    count: usize,
    partition: u64,
    entropy: &mut Entropy,
) -> Result<Vec<Winner>, SelectError> {
    let scale = terms.scale()?;
    if scores.is_empty() {
        return Ok(Vec::new());
    }
    let kind = scores.kind();
    let comers = once::largest(scores, &scale, count.min(scores.len()), entropy)?;
    let winner = |comer: once::Comer| {
        let once::Comer { index, base, clock, .. } = comer;
        Winner { partition, index: index as u64, top: Height::of(base, kind), clock }
    };
    Ok(comers.into_iter().map(winner).collect())
}

/// The first of two rows, at most `count`; further bits of their times are drawn as far as it takes.
///
/// # Errors
/// `Memory`.
pub fn merge(
    one: Vec<Winner>,
    other: Vec<Winner>,
    count: usize,
    scale: &Scale,
    entropy: &mut Entropy,
) -> Result<Vec<Winner>, SelectError> {
    let mut first = reserved(count.min(one.len() + other.len()))?;
    let (mut one, mut other) = (one.into_iter().peekable(), other.into_iter().peekable());
    while first.len() < count {
        let own_is_next = match (one.peek_mut(), other.peek_mut()) {
            (Some(own), Some(others)) => own.is_before(others, scale, entropy),
            (own, _) => own.is_some(),
        };
        let next = if own_is_next { one.next() } else { other.next() };
        let Some(next) = next else { break };
        first.push(next);
    }
    Ok(first)
}

/// The bytes of a state: about a hundred for each winner.
pub fn to_bytes(terms: &Terms, count: usize, winners: &[Winner]) -> Vec<u8> {
    let mut bytes = HEAD.to_vec();
    bytes.extend((count as u64).to_le_bytes());
    for winner in std::iter::once(None).chain(winners.iter().map(Some)) {
        let part = partial_bytes::to_bytes(terms, winner);
        bytes.extend((part.len() as u32).to_le_bytes());
        bytes.extend(part);
    }
    bytes
}

/// What went into [`to_bytes`]; `None` for everything else.
pub fn from_bytes(bytes: &[u8]) -> Option<(Terms, usize, Vec<Winner>)> {
    let (count, mut rest) = bytes.strip_prefix(&HEAD)?.split_first_chunk()?;
    let count = usize::try_from(u64::from_le_bytes(*count)).ok().filter(|&count| count > 0)?;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk()?;
        let (part, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        parts.push(partial_bytes::from_bytes(part)?);
        rest = behind;
    }
    let mut parts = parts.into_iter();
    let (terms, None) = parts.next()? else { return None };
    let winners: Option<Vec<Winner>> = parts.map(|(own, winner)| winner.filter(|_| own == terms)).collect();
    winners.filter(|winners| winners.len() <= count).map(|winners| (terms, count, winners))
}

#[cfg(test)]
#[path = "partial_once_tests.rs"]
mod tests;
