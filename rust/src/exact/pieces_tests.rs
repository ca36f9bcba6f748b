use super::*;
use crate::entropy::testing::seeded;
use crate::numbers::scored_pieces::Scored;
use crate::scores::scale::Scale;
use crate::testing::{assert_law, normalised};

/// Intervals between breakpoints, scores of theirs, epsilon.
type Case<'a> = (&'a [f64], &'a [f64], f64);

fn scale(epsilon: f64) -> Scale {
    Scale::new(epsilon, 1.0, 2).unwrap()
}

fn scored<'a>(breakpoints: &'a [f64], scores: &[f64], scale: &'a Scale) -> Scored<'a> {
    Scored::new(breakpoints, scores.to_vec(), scale).unwrap()
}

fn law(pieces: &Scored<'_>) -> Vec<f64> {
    let log = |piece| pieces.length(piece).ln() - pieces.exponent(piece);
    let logs: Vec<f64> = (0..pieces.count()).map(log).collect();
    let top = logs.iter().copied().fold(f64::MIN, f64::max);
    normalised(logs.iter().map(|log| (log - top).exp()).collect())
}

impl Chooser {
    /// Whether the bound is no less than the weight: if it were, the whole of [0, 1) would be accepted.
    pub(crate) fn is_bounded<S: WeightedPieces>(&self, pieces: &S, index: usize) -> bool {
        let mut last = LazyUniform::draw(&mut Entropy::scripted(&[u64::MAX]));
        !accepts_exactly(pieces, index, self.claim(index), &mut last, &mut Entropy::scripted(&[u64::MAX; 4]))
    }

    /// Whether it is accepted by a coin of these words, the first of which is drawn.
    fn accepts<S: WeightedPieces>(&self, pieces: &S, index: usize, words: &[u64]) -> bool {
        let mut entropy = Entropy::scripted(words);
        let mut uniform = LazyUniform::draw(&mut entropy);
        accepts(pieces, index, self.claim(index), &mut uniform, &mut entropy)
    }
}

const CASES: [Case<'_>; 6] = [
    (&[0.0, 1.0, 1.5, 4.0], &[0.0, 1.0, -2.0], 1.0),
    (&[-3.0, -3.0, 5.0, 5.0, 6.0], &[9.0, 1.0, 7.0, 2.0], 1.0),
    // Lengths of 2^-1074, 1e-300 and 1e300; the scores bring them to comparable weight.
    (&[0.0, 5e-324, 1e-300, 1e300], &[2878.0, 2763.0, 0.0], 1.0),
    (&[-1.7e308, 0.0, 1.7e308], &[1.0, 0.0], 1.0),
    (&[0.0, 1.0, 2.0, 3.0], &[1e6, 2e6, 1.5e6], 1e-6),
    (&[0.0, 1.0, 1.0 + f64::EPSILON, 3.0], &[0.0, 0.072, 0.001], 1e3),
];

#[test]
fn draws_follow_the_law() {
    let mut entropy = seeded(61);
    for (number, (breakpoints, scores, epsilon)) in CASES.into_iter().enumerate() {
        let scale = scale(epsilon);
        let pieces = scored(breakpoints, scores, &scale);
        let law = law(&pieces);
        let likely = law.iter().position(|&p| p > 0.1).unwrap();
        let mut wrong = law.clone();
        wrong[likely] *= 1.5;
        let wrong = normalised(wrong);
        let chooser = Chooser::new(&pieces).unwrap();
        assert_law(&format!("case {number}"), 50_000, &law, &wrong, || chooser.draw(&pieces, &mut entropy));
    }
}

#[test]
fn the_bounds_are_bounds_and_tight() {
    for (breakpoints, scores, epsilon) in CASES {
        let scale = scale(epsilon);
        let pieces = scored(breakpoints, scores, &scale);
        let chooser = Chooser::new(&pieces).unwrap();
        for piece in 0..pieces.count() {
            let (bound, total) = chooser.share(piece);
            if pieces.length(piece).is_zero() {
                assert_eq!(bound, 0);
                continue;
            }
            assert!(chooser.is_bounded(&pieces, piece));
            if bound > total / 1000 {
                assert!(chooser.accepts(&pieces, piece, &[u64::MAX - (1 << 50)]));
            }
        }
    }
}

#[test]
fn the_forced_fallback_agrees_with_the_filter() {
    let mut entropy = seeded(62);
    let (mut decided, mut accepted) = (0, 0);
    for round in 0..4000 {
        let mut random = |bound: f64| entropy.next_u64() as f64 / 1.9e19 * bound;
        let width = 2_f64.powf(random(1000.0) - 500.0);
        let breakpoints = [0.0, width, width + 1.0 + random(3.0), 4.0 + 2.0 * width + random(1e3)];
        let scale = scale(if round % 2 == 0 { 1.0 } else { 0.1 });
        let pieces = scored(&breakpoints, &[random(600.0), random(20.0), 0.0], &scale);
        let chooser = Chooser::new(&pieces).unwrap();
        for piece in 0..3 {
            // Bounds smaller than they should be do no harm here, and make the threshold likely to be met.
            let (bound, unit) = chooser.claim(piece);
            let (claim, mut uniform) = ((bound.max(1), unit), LazyUniform::draw(&mut entropy));
            if let Some(quick) = at_a_glance(&pieces, piece, claim, uniform.head()) {
                let exact = accepts_exactly(&pieces, piece, claim, &mut uniform, &mut Entropy::scripted(&[]));
                assert_eq!(exact, quick);
                decided += 1;
                accepted += u32::from(exact);
            }
        }
    }
    assert!(decided > 11_000 && accepted > 4_000, "{decided} decided, {accepted} accepted");
}

/// V runs over all multiples of 2^-12, further bits are zero: V is below p for ceil(p 2^12) of them.
#[test]
fn all_words_of_a_truncated_generator_give_the_law() {
    let scale = scale(1.0);
    let pieces = scored(&[0.0, 1.0, 1.75, 4.0], &[1.0, 0.0, -2.0], &scale);
    let chooser = Chooser::new(&pieces).unwrap();
    for (piece, (length, exponent)) in [(1.0, 0.0), (0.75, 0.5), (2.25, 1.5)].into_iter().enumerate() {
        let (bound, unit) = chooser.claim(piece);
        for bound in [bound, 1 << 42, (1 << 43) + 12_345] {
            let probability: f64 = length * f64::exp(-exponent) / (bound as f64 * 2_f64.powi(unit as i32));
            let mut accepted = 0;
            for word in 0..4096_u64 {
                let mut uniform = LazyUniform::draw(&mut Entropy::scripted(&[word << 52]));
                let mut zeros = Entropy::scripted(&[0; 6]);
                let quick = at_a_glance(&pieces, piece, (bound, unit), uniform.head());
                let exact = accepts_exactly(&pieces, piece, (bound, unit), &mut uniform, &mut zeros);
                assert!(quick.is_none_or(|quick| quick == exact));
                accepted += u32::from(exact);
            }
            assert_eq!(accepted, (probability * 4096.0).ceil() as u32, "piece {piece}, bound {bound}");
        }
    }
}

#[test]
fn nothing_is_rounded_to_zero() {
    // exp(-100): a piece whose bound is the least there is and whose weight is far below it can still be accepted.
    let scale = scale(1.0);
    let pieces = scored(&[0.0, 1.0, 2.0], &[200.0, 0.0], &scale);
    let chooser = Chooser::new(&pieces).unwrap();
    assert_eq!(chooser.share(1).0, 1);
    // 2^(bits - unit) exp(-100) = 2^(40 - 2 - 144.27) = 2^-106.27 at the least: words 0 and 2^21 are below it.
    assert!(chooser.accepts(&pieces, 1, &[0, 1 << 20]));
    assert!(!chooser.accepts(&pieces, 1, &[0, 1 << 30]));
    assert!(!chooser.accepts(&pieces, 1, &[1]));
}

#[test]
fn absurd_exponents_are_decided_without_absurd_work() {
    let scale = scale(1e3);
    let pieces = scored(&[0.0, 5e-324, 1e300], &[0.0, -1e300], &scale);
    let chooser = Chooser::new(&pieces).unwrap();
    assert!(!chooser.accepts(&pieces, 1, &[0, 0, 0, 1]));
    let mut entropy = seeded(63);
    assert!((0..1000).all(|_| chooser.draw(&pieces, &mut entropy) == 0));
}

#[test]
fn no_length_at_all_is_refused() {
    for points in [&[1.0, 1.0][..], &[1.0]] {
        let scores = vec![0.0; points.len() - 1];
        let refused = Scored::new(points, scores, &scale(1.0)).err();
        assert_eq!(refused, Some(SelectError::NoCandidates));
    }
}
