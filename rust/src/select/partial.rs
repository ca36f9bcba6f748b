//! Selection from scores that lie in several places: each place's winners with their times, merged to the first of all.
//!
//! Proof: `proofs/partial_selection.md`; models: `tests/reference/partial_selection.py`, and for several winners
//! `tests/reference/exponential_once.py`.

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::error::{SelectError, reserved};
use crate::exact::lazy_time::Clock;
use crate::scores::block_index::Blocks;
use crate::scores::scale::Scale;
use crate::scores::score::Height;
use crate::scores::score_view::View;
use crate::select::many_draws::Law;
use crate::select::weight_line::Round;
use crate::select::{exponential_mechanism, once, permute_and_flip};

/// What the bytes of a row begin with: four letters and the version of all that follows.
const HEAD: [u8; 5] = *b"dpps\x01";

/// More parts than any time comes to but with a probability below 2^-5000, as each is the last with a bounded probability.
const MOST_PARTS: u64 = 1 << 20;
/// More bits than any time comes to but with a probability below 2^-500; a damaged row that claims more would keep a merge
/// busy for long. A time begins with two words of 64 bits at most, 2^-64 of a length within which its density is bounded.
/// It gets a word more where two times agree in all that is known of the coarser one: of two times with `MOST_PARTS` parts
/// with probability below 2^-40. For 4096 bits that has to happen 60 times: in 2^30 comparisons below (2^30 2^-40)^60.
const MOST_BITS: u64 = 4096;
/// The number known of a time has those bits, and less than 100 for the parts, the rate and whole numbers.
const MOST_BYTES: u64 = (MOST_BITS + 512) / 8;

/// What two rows have to share to be merged; public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    pub law: Law,
    pub epsilon: f64,
    pub sensitivity: f64,
    pub factor: u8,
    /// How many winners are wanted.
    pub count: usize,
}

impl Terms {
    /// # Errors
    /// As [`Scale::new`], and `NotMergeable` for a law without times or, unless one winner is wanted, another than noise once.
    pub fn scale(&self) -> Result<Scale, SelectError> {
        match (self.law, self.count) {
            (Law::Exponential, 1) | (Law::PermuteAndFlip, 1..) => {
                Scale::new(self.epsilon, self.sensitivity, self.factor)
            }
            _ => Err(SelectError::NotMergeable),
        }
    }
}

/// A candidate with its time.
#[derive(Clone, PartialEq, Eq)]
pub struct Winner {
    pub partition: u64,
    pub index: u64,
    /// The score from which its time is measured.
    pub top: Height,
    pub clock: Clock,
}

/// The first candidates of one or more partitions, the first one first, at most as many as are wanted. Everything but the
/// terms and the number of candidates is private: it depends on the scores and says more than the order of the winners.
#[derive(Clone, PartialEq)]
pub struct Row {
    pub terms: Terms,
    /// How many candidates all partitions have.
    pub candidates: u64,
    pub winners: Vec<Winner>,
}

impl Row {
    /// Draw the first of `scores`; a row without winners if there are none.
    ///
    /// # Errors
    /// As [`Terms::scale`], [`Blocks::new`] and [`once::largest`] but for `NoCandidates`.
    pub fn of(terms: Terms, scores: View<'_>, partition: u64, entropy: &mut Entropy) -> Result<Self, SelectError> {
        let (scale, kind) = (terms.scale()?, scores.kind());
        let winner = |index, top, clock| Winner { partition, index: index as u64, top: Height::of(top, kind), clock };
        let winners = if scores.is_empty() {
            Vec::new()
        } else if terms.count == 1 {
            let draw = match terms.law {
                Law::Exponential => exponential_mechanism::draw_with_time,
                _ => permute_and_flip::draw_with_time,
            };
            let blocks = Blocks::new(scores)?;
            let (index, clock) = draw(&Round::new(&blocks, &scale), entropy)?;
            vec![winner(index, blocks.top(), clock)]
        } else {
            let first = once::largest(scores, &scale, terms.count.min(scores.len()), entropy)?;
            first.into_iter().map(|each| winner(each.index, each.base, each.clock)).collect()
        };
        Ok(Self { terms, candidates: scores.len() as u64, winners })
    }

    /// The first of both, drawing further bits of their times as far as it takes; neither is changed.
    ///
    /// # Errors
    /// `NotMergeable` unless both have the same terms, or `Memory`.
    pub fn merged(&self, other: &Self, entropy: &mut Entropy) -> Result<Self, SelectError> {
        let (terms, scale) = (self.terms, self.terms.scale()?);
        if terms != other.terms {
            return Err(SelectError::NotMergeable);
        }
        let mut winners = reserved(terms.count.min(self.winners.len() + other.winners.len()))?;
        let [mut one, mut another] = [self, other].map(|row| row.winners.iter().cloned().peekable());
        while winners.len() < terms.count {
            let own_is_next = match (one.peek_mut(), another.peek_mut()) {
                (Some(own), Some(others)) => own.is_before(others, &scale, entropy),
                (own, _) => own.is_some(),
            };
            let next = if own_is_next { one.next() } else { another.next() };
            let Some(next) = next else { break };
            winners.push(next);
        }
        Ok(Self { terms, candidates: self.candidates.saturating_add(other.candidates), winners })
    }

    /// One version, every number at its full width, nothing left over: 39 bytes and about 75 for each winner, 8 more for every
    /// word of a time drawn beyond the first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Terms { law, epsilon, sensitivity, factor, count } = self.terms;
        let mut bytes = HEAD.to_vec();
        bytes.extend([if law == Law::Exponential { 1 } else { 2 }, factor]);
        write(&mut bytes, [epsilon.to_bits(), sensitivity.to_bits(), count as u64, self.candidates]);
        for Winner { partition, index, top, clock } in &self.winners {
            write(&mut bytes, [*partition, *index]);
            bytes.push(u8::from(top.is_negative));
            bytes.extend(top.exponent.to_le_bytes());
            let known = clock.known.to_le_bytes();
            write(&mut bytes, [top.magnitude, clock.bits as u64, clock.parts, clock.rate, known.len() as u64]);
            bytes.extend(known);
        }
        bytes
    }

    /// What went into [`Row::to_bytes`]; `None` for everything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&HEAD)?;
        let [law, factor] = take(&mut rest)?;
        let law = match law {
            1 => Law::Exponential,
            2 => Law::PermuteAndFlip,
            _ => return None,
        };
        let [epsilon, sensitivity, count, candidates] = read(&mut rest)?;
        let (epsilon, sensitivity) = (f64::from_bits(epsilon), f64::from_bits(sensitivity));
        let terms = Terms { law, epsilon, sensitivity, factor, count: usize::try_from(count).ok()? };
        if !matches!(factor, 1 | 2) || terms.scale().is_err() {
            return None;
        }
        // As many as these candidates have; not more are made than there are bytes for.
        let winners: Option<Vec<Winner>> = (0..count.min(candidates)).map(|_| Winner::read(&mut rest)).collect();
        winners.filter(|_| rest.is_empty()).map(|winners| Self { terms, candidates, winners })
    }
}

impl Winner {
    /// Whether its time comes before that of the other one.
    fn is_before(&mut self, other: &mut Self, scale: &Scale, entropy: &mut Entropy) -> bool {
        // Seen from the higher of the scores that times are measured from, the other one's times are exp(x) as long.
        let (own, others) = (self.top.exactly(), other.top.exactly());
        let x = scale.exact_exponent_of_gap(&(&own - &others).abs());
        if own < others {
            !other.clock.is_before(&x, &mut self.clock, entropy)
        } else {
            self.clock.is_before(&x, &mut other.clock, entropy)
        }
    }

    fn read(rest: &mut &[u8]) -> Option<Self> {
        let [partition, index] = read(rest)?;
        let [sign] = take(rest)?;
        let exponent = i16::from_le_bytes(take(rest)?);
        let [magnitude, bits, parts, rate, length] = read(rest)?;
        let is_bounded = (1..=MOST_PARTS).contains(&parts) && bits <= MOST_BITS && length <= MOST_BYTES;
        if sign > 1 || rate == 0 || !is_bounded {
            return None;
        }
        let (known, left) = rest.split_at_checked(length as usize)?;
        *rest = left;
        if known.last() == Some(&0) {
            return None; // a number has one spelling
        }
        let clock = Clock { known: UBig::from_le_bytes(known), bits: bits as usize, parts, rate };
        Some(Self { partition, index, top: Height { is_negative: sign == 1, magnitude, exponent }, clock })
    }
}

fn write<const N: usize>(bytes: &mut Vec<u8>, numbers: [u64; N]) {
    bytes.extend(numbers.map(u64::to_le_bytes).as_flattened());
}

fn read<const N: usize>(rest: &mut &[u8]) -> Option<[u64; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = u64::from_le_bytes(take(rest)?);
    }
    Some(numbers)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(*taken)
}

#[cfg(test)]
#[path = "partial_tests.rs"]
mod tests;
