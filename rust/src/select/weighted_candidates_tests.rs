use super::*;
use crate::entropy::testing::seeded;
use crate::exact::rational::scaled;
use crate::testing::{assert_law, normalised, scale};

fn doubles(weights: &[f64]) -> Weights {
    Weights::of_doubles(weights.to_vec()).unwrap()
}

#[test]
fn weights_that_are_too_far_apart_are_refused() {
    let power = |bits| scaled(1, bits);
    assert!(Weights::of_ratios(vec![power(0), Rational::ZERO, power(8194)]).is_none());
    assert!(Weights::of_ratios(vec![Rational::ZERO]).is_some());
    // As far apart as may be: a score that far above makes up for the weight.
    let weights = Weights::of_ratios(vec![power(100_000), Rational::ZERO, power(108_192)]).unwrap();
    let scores = [2.0 * 8192.0 * std::f64::consts::LN_2, 1e9, 0.0];
    let mut draws = select_many(&weights, View::of(&scores), &scale(), 40_000).unwrap().into_iter();
    assert_law("far apart", 40_000, &[0.5, 0.0, 0.5], &[0.55, 0.0, 0.45], || draws.next().unwrap());
}

#[test]
fn rounds_leave_out_what_was_drawn() {
    let weights = doubles(&[1.0, 3.0, 0.0]);
    let scores: [i32; 3] = [0, 0, 7];
    let mut firsts = (0..20_000).map(|_| {
        let order = peel(&weights, View::of(&scores), &scale(), 2).unwrap();
        assert_eq!(order[0] + order[1], 1);
        order[0]
    });
    assert_law("first", 20_000, &[0.25, 0.75], &[0.5, 0.5], || firsts.next().unwrap());
    // The last that is left is drawn however small its weight is beside those before it.
    let weights = doubles(&[1e308, 1e-308]);
    assert_eq!(peel(&weights, View::of(&[1e6, -1e6]), &scale(), 2), Ok(vec![0, 1]));
}

#[test]
fn what_cannot_be_drawn_from_is_refused() {
    let weights = doubles(&[1.0, 0.0]);
    let select = |scores: &[f64]| select_many(&weights, View::of(scores), &scale(), 1);
    assert_eq!(select(&[]), Err(SelectError::NoCandidates));
    assert_eq!(select(&[1.0]), Err(SelectError::InvalidCount));
    assert_eq!(select(&[1.0, f64::NAN]), Err(SelectError::NotFinite));
    assert_eq!(peel(&weights, View::of(&[1.0, 2.0]), &scale(), 2), Err(SelectError::InvalidCount));
    let none = doubles(&[0.0]);
    assert_eq!(select_many(&none, View::of(&[1.0]), &scale(), 1), Err(SelectError::NoCandidates));
}

#[test]
fn many_candidates_keep_their_shares_whatever_the_first_score() {
    // Weights against scores: in every block some are heavy and low, others light and high. Two classes of candidates by weight.
    let count = 70_000;
    let heavy = |index: usize| index.is_multiple_of(3);
    for (first, shift) in [(0.0, 0.0), (-1.7e308, 1.7e308), (-1e12, 0.0), (0.0, 1e11)] {
        let mut scores: Vec<f64> = (0..count).map(|index| shift + if heavy(index) { 0.0 } else { 4.0 }).collect();
        scores[0] = first + if shift == 0.0 { 0.0 } else { -1.0 };
        let weights: Vec<f64> = (0..count).map(|index| if heavy(index) { 3.0 } else { 0.5 }).collect();
        let gain = if shift > 1e300 { 1.0 } else { libm::exp(2.0) };
        let heavies = (count / 3) as f64 * 3.0;
        let lights = (count - count / 3) as f64 * 0.5 * gain;
        let law = normalised(vec![heavies, lights]);
        let wrong = normalised(vec![heavies, lights * 1.2]);
        for size in [4, 20_000] {
            let rounds = if size == 4 { 400 } else { 1 };
            let mut drawn = (0..rounds)
                .flat_map(|_| select_many(&doubles(&weights), View::of(&scores), &scale(), size).unwrap())
                .map(|index| usize::from(!heavy(index)));
            let draws = if size == 4 { 1600 } else { 20_000 };
            if size == 4 {
                let light = drawn.filter(|&class| class == 1).count() as f64 / draws as f64;
                assert!((light - law[1]).abs() < 0.06, "{first}, {shift}: {light} against {}", law[1]);
            } else {
                assert_law("many candidates", draws, &law, &wrong, || drawn.next().unwrap());
            }
        }
    }
}

#[test]
fn keys_lie_above_weight_and_score_by_little() {
    let mut entropy = seeded(17);
    for scale in [scale(), Scale::new(1e-9, 3.0, 1).unwrap(), Scale::new(1e6, 0.1, 2).unwrap()] {
        for _ in 0..2000 {
            let weight = 2_f64.powi(entropy.below(600) as i32 - 300) * (1.0 + entropy.next_u32() as f64 / 1e10);
            let (score, from) = (entropy.below(5000) as f64 / 7.0 - 300.0, entropy.below(900) as f64 / 3.0);
            let weights = doubles(&[weight]);
            let keys = Keys::new(Cow::Borrowed(&weights.logs), &scale, from.into());
            let Score::Real(key) = keys.of(0, score.into()) else { panic!("a key is real") };
            let difference = (score - from) / (scale.gap_of(1.0)) / std::f64::consts::LN_2;
            let truth = libm::log2(weight) - weights.exponent as f64 + difference;
            let above = key - truth;
            assert!(above > 0.0 && above < 1e-6 + 1e-12 * difference.abs(), "{weight}, {score}, {from}: {above:e}");
        }
    }
}

#[test]
fn scores_further_apart_than_doubles_reach_keep_their_shares() {
    let scale = Scale::new(1e-300, 1e8, 1).unwrap();
    for (scores, law) in [
        ([-1.5e308, 1.5e308], [1.0 / (1.0 + libm::exp(3.0)), 1.0 / (1.0 + libm::exp(-3.0))]),
        ([1.5e308, -1.5e308], [1.0 / (1.0 + libm::exp(-3.0)), 1.0 / (1.0 + libm::exp(3.0))]),
    ] {
        let mut draws = select_many(&doubles(&[1.0, 1.0]), View::of(&scores), &scale, 20_000).unwrap().into_iter();
        let wrong = [law[0] + 0.03, law[1] - 0.03];
        assert_law("over the whole range", 20_000, &law, &wrong, || draws.next().unwrap());
    }
}
