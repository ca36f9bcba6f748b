use super::*;
use crate::entropy::testing::seeded;
use crate::testing::{LAWS, assert_law, assert_orders, law_of, scale, wrong_scale};

/// Law of ordered pairs by peeling, flattened over all pairs of five.
fn pairs(law: Law, scores: &[f64], scale: &Scale) -> Vec<f64> {
    let count = scores.len();
    let first = law_of(law, scores, scale);
    let mut joint = vec![0.0; count * count];
    for winner in 0..count {
        let left: Vec<usize> = (0..count).filter(|&item| item != winner).collect();
        let scores_left: Vec<f64> = left.iter().map(|&item| scores[item]).collect();
        for (&item, probability) in left.iter().zip(law_of(law, &scores_left, scale)) {
            joint[winner * count + item] = first[winner] * probability;
        }
    }
    joint
}

#[test]
fn pairs_follow_the_law_of_peeling() {
    let mut entropy = seeded(51);
    for law in LAWS {
        for scores in [[4.0, 3.0, 3.0, 1.0, 0.0], [30.0, 4.0, 3.0, 3.0, 2.0]] {
            let (right, wrong) = (pairs(law, &scores, &scale()), pairs(law, &scores, &wrong_scale()));
            assert_law(&format!("{law:?}"), 120_000, &right, &wrong, || {
                let picks = peel(law, View::of(&scores), &scale(), 2, &mut entropy).unwrap();
                picks[0] * 5 + picks[1]
            });
        }
    }
}

#[test]
fn k_has_to_fit() {
    let mut entropy = seeded(53);
    for k in [0, 4] {
        let result = peel(Law::Exponential, View::of(&[1.0, 2.0, 3.0]), &scale(), k, &mut entropy);
        assert_eq!(result, Err(SelectError::InvalidCount));
    }
}

#[test]
fn all_of_them_is_a_permutation_and_large_gaps_an_order() {
    let mut entropy = seeded(52);
    for law in LAWS {
        assert_orders(300, &mut |scores, k| peel(law, View::of(scores), &scale(), k, &mut entropy).unwrap());
    }
}
