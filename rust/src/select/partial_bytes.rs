//! Partial selections as bytes: one version, every number at its full width, nothing left over.

use dashu_int::UBig;

use crate::exact::lazy_time::Clock;
use crate::scores::score::Height;
use crate::select::many_draws::Law;
use crate::select::partial::{Terms, Winner};

/// What a state begins with: four letters and the version of all that follows.
const HEAD: [u8; 5] = *b"dpps\x01";

/// More parts than any time comes to but with a probability below 2^-5000, as each is the last with a bounded probability.
const MOST_PARTS: u64 = 1 << 20;
/// More bits than any time comes to but with a probability below 2^-500; a damaged state that claims more would keep a merge
/// busy for long. A time begins with two words of 64 bits at most, 2^-64 of a length within which its density is bounded.
/// It gets a word more where two times agree in all that is known of the coarser one: of two times with `MOST_PARTS` parts
/// with probability below 2^-40. For 4096 bits that has to happen 60 times: in 2^30 comparisons below (2^30 2^-40)^60.
const MOST_BITS: u64 = 4096;
/// The number known of a time has those bits, and less than 100 for the parts, the rate and whole numbers.
const MOST_BYTES: u64 = (MOST_BITS + 512) / 8;

/// The bytes of a state; a little more than a hundred, and 8 more for every word drawn beyond the first.
pub fn to_bytes(terms: &Terms, winner: Option<&Winner>) -> Vec<u8> {
    let mut bytes = HEAD.to_vec();
    bytes.push(code_of(terms.law));
    bytes.push(terms.factor);
    bytes.extend(terms.epsilon.to_le_bytes());
    bytes.extend(terms.sensitivity.to_le_bytes());
    bytes.push(u8::from(winner.is_some()));
    if let Some(winner) = winner {
        bytes.extend(winner.partition.to_le_bytes());
        bytes.extend(winner.index.to_le_bytes());
        bytes.push(u8::from(winner.top.is_negative));
        bytes.extend(winner.top.magnitude.to_le_bytes());
        bytes.extend(winner.top.exponent.to_le_bytes());
        bytes.extend((winner.clock.bits as u64).to_le_bytes());
        bytes.extend(winner.clock.parts.to_le_bytes());
        bytes.extend(winner.clock.rate.to_le_bytes());
        let known = winner.clock.known.to_le_bytes();
        bytes.extend((known.len() as u64).to_le_bytes());
        bytes.extend(known);
    }
    bytes
}

/// What went into [`to_bytes`]; `None` for everything else.
pub fn from_bytes(bytes: &[u8]) -> Option<(Terms, Option<Winner>)> {
    let mut rest = bytes.strip_prefix(&HEAD)?;
    let law = law_of(take::<1>(&mut rest)?[0])?;
    let [factor] = take(&mut rest)?;
    let epsilon = f64::from_le_bytes(take(&mut rest)?);
    let sensitivity = f64::from_le_bytes(take(&mut rest)?);
    let terms = Terms { law, epsilon, sensitivity, factor };
    if !matches!(factor, 1 | 2) || terms.scale().is_err() {
        return None;
    }
    let winner = match take(&mut rest)? {
        [0] if rest.is_empty() => None,
        [1] => Some(winner_of(rest)?),
        _ => return None,
    };
    Some((terms, winner))
}

fn winner_of(mut rest: &[u8]) -> Option<Winner> {
    let partition = u64::from_le_bytes(take(&mut rest)?);
    let index = u64::from_le_bytes(take(&mut rest)?);
    let is_negative = flag_of(take(&mut rest)?)?;
    let magnitude = u64::from_le_bytes(take(&mut rest)?);
    let exponent = i16::from_le_bytes(take(&mut rest)?);
    let bits = usize::try_from(u64::from_le_bytes(take(&mut rest)?)).ok()?;
    let parts = u64::from_le_bytes(take(&mut rest)?);
    let rate = u64::from_le_bytes(take(&mut rest)?);
    let len = u64::from_le_bytes(take(&mut rest)?);
    let has_one_spelling = rest.last().is_none_or(|&last| last != 0);
    if len != rest.len() as u64 || !has_one_spelling {
        return None;
    }
    if !(1..=MOST_PARTS).contains(&parts) || bits as u64 > MOST_BITS || len > MOST_BYTES || rate == 0 {
        return None;
    }
    let clock = Clock { known: UBig::from_le_bytes(rest), bits, parts, rate };
    Some(Winner { partition, index, top: Height { is_negative, magnitude, exponent }, clock })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(*taken)
}

fn flag_of([byte]: [u8; 1]) -> Option<bool> {
    matches!(byte, 0 | 1).then_some(byte == 1)
}

fn code_of(law: Law) -> u8 {
    match law {
        Law::Exponential => 1,
        Law::PermuteAndFlip => 2,
        Law::LaplaceNoisyMax => 3,
    }
}

fn law_of(code: u8) -> Option<Law> {
    match code {
        1 => Some(Law::Exponential),
        2 => Some(Law::PermuteAndFlip),
        _ => None,
    }
}
