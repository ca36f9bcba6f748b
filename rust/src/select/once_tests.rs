use super::*;
use crate::entropy::testing::seeded;
use crate::scores::score::Stored;
use crate::select::many_draws::Law;
use crate::testing::{assert_law, assert_orders, law_of, scale, simpson, wrong_scale};

/// Draw the indices alone.
fn picks<T: Stored>(scores: &[T], scale: &Scale, count: usize, entropy: &mut Entropy) -> Vec<usize> {
    largest(View::of(scores), scale, count, entropy).unwrap().iter().map(|candidate| candidate.index).collect()
}

/// P[i is first and j second]: the second arrives at some time t, the first before it, all others after it.
fn pairs(scores: &[f64], scale: &Scale) -> Vec<f64> {
    let count = scores.len();
    let lowest = scores.iter().copied().fold(f64::MAX, f64::min);
    // Rates measured from the lowest score: a candidate at it arrives by time 1.
    let rates: Vec<f64> = scores.iter().map(|&score| scale.exponent(score, lowest).exp()).collect();
    let mut kinks: Vec<f64> = rates.iter().map(|rate| 1.0 / rate).collect();
    kinks.push(0.0);
    kinks.sort_by(f64::total_cmp);
    let mut joint = vec![0.0; count * count];
    for (i, j) in (0..count).flat_map(|i| (0..count).map(move |j| (i, j))).filter(|(i, j)| i != j) {
        let density = |t: f64| {
            let others = (0..count).filter(|&l| l != i && l != j).map(|l| (1.0 - rates[l] * t).max(0.0));
            let second = if t * rates[j] <= 1.0 + 1e-12 { rates[j] } else { 0.0 };
            second * (rates[i] * t).min(1.0) * others.product::<f64>()
        };
        for ends in kinks.windows(2).filter(|ends| ends[1] * rates[j] <= 1.0 + 1e-12) {
            joint[i * count + j] += simpson(density, ends[0], ends[1], 200);
        }
    }
    joint
}

#[test]
fn ordered_pairs_follow_their_law() {
    let mut entropy = seeded(61);
    for scores in [[4.0, 3.0, 3.0, 1.0, 0.0], [30.0, 4.0, 3.0, 3.0, 2.0], [0.0, 0.0, 0.0, 1.0, 1.5]] {
        assert_law(&format!("{scores:?}"), 120_000, &pairs(&scores, &scale()), &pairs(&scores, &wrong_scale()), || {
            let picks = picks(&scores, &scale(), 2, &mut entropy);
            picks[0] * 5 + picks[1]
        });
    }
}

#[test]
fn noise_once_is_not_fresh_noise_each_round() {
    // (0, 0, -g): after one of the two best, the third is second with probability p/3 once, against p/2 - p^2/6 peeled.
    let (scores, p) = ([0.0, 0.0, -1.0], (-0.5_f64).exp());
    let joint = pairs(&scores, &scale());
    let third_is_in = |joint: &[f64]| joint[2] + joint[5] + joint[6] + joint[7];
    assert!((third_is_in(&joint) - 2.0 * p / 3.0).abs() < 1e-9);
    let first = law_of(Law::PermuteAndFlip, &scores, &scale());
    let peeled = first[2] + 2.0 * first[0] * law_of(Law::PermuteAndFlip, &[0.0, -1.0], &scale())[1];
    assert!((peeled - (5.0 * p / 6.0 - p * p / 6.0)).abs() < 1e-9);
    let mut entropy = seeded(62);
    let (once, peeled) = ([third_is_in(&joint), 1.0 - third_is_in(&joint)], [peeled, 1.0 - peeled]);
    assert_law("once", 60_000, &once, &peeled, || usize::from(!picks(&scores, &scale(), 2, &mut entropy).contains(&2)));
}

/// P[first of group g, second of group h], flattened, of groups of so many candidates with these rates, all at most 1.
fn groups(sizes: &[f64], rates: &[f64]) -> Vec<f64> {
    let mut joint = Vec::new();
    for (g, h) in (0..sizes.len()).flat_map(|g| (0..sizes.len()).map(move |h| (g, h))) {
        let own = |group: usize| f64::from(u8::from(group == g)) + f64::from(u8::from(group == h));
        let second = sizes[h] - f64::from(u8::from(g == h));
        joint.push(simpson(
            |t| {
                let others = (0..sizes.len()).map(|l| (1.0 - rates[l] * t).powf(sizes[l] - own(l)));
                sizes[g] * rates[g] * t * second * rates[h] * others.product::<f64>()
            },
            0.0,
            1.0,
            200_000,
        ));
    }
    joint
}

#[test]
fn many_candidates_are_listed_by_their_law() {
    // In many stripes, with one high score in each of some blocks, and the same far off.
    let mut entropy = seeded(64);
    for (len, apart, gap) in [(6000, 100, 6.0), (70_000, 700, 14.0), (300, 50, 3.0)] {
        let scores: Vec<f64> = (0..len).map(|index| if index % apart == 7 { gap } else { 0.0 }).collect();
        let high = (len / apart) as f64;
        let law = |scale: &Scale| groups(&[high, len as f64 - high], &[1.0, (-scale.exponent(gap, 0.0)).exp()]);
        assert_law(&format!("{len} by {apart}"), 15_000, &law(&scale()), &law(&wrong_scale()), || {
            let picks = picks(&scores, &scale(), 2, &mut entropy);
            let group = |pick: usize| usize::from(scores[pick] == 0.0);
            2 * group(picks[0]) + group(picks[1])
        });
    }
}

#[test]
fn all_of_them_is_a_permutation_and_large_gaps_an_order() {
    let mut entropy = seeded(66);
    assert_orders(5000, &mut |scores, count| picks(scores, &scale(), count, &mut entropy));
    // Exponents beyond the doubles' whole numbers, and scores that only integers tell apart.
    let far = [1e300, 1e308, 0.0, -1e308, 1e-300];
    assert_eq!(picks(&far, &Scale::new(1e300, 1e-3, 1).unwrap(), 5, &mut entropy), [1, 0, 4, 2, 3]);
    let close = [(1_i64 << 60) + 1, 1 << 60, (1 << 60) + 2];
    assert_eq!(picks(&close, &Scale::new(1e3, 1.0, 1).unwrap(), 3, &mut entropy), [2, 0, 1]);
}

#[test]
fn the_split_is_that_of_a_sorted_vector() {
    let mut entropy = seeded(67);
    for len in [1_usize, 5, 40, 700, 9000] {
        for kinds in [1, 2, 50, 1_000_000] {
            let mut scores: Vec<i32> = (0..len).map(|_| entropy.below(kinds) as i32).collect();
            if kinds == 50 {
                scores.sort_unstable();
            }
            let mut sorted = scores.clone();
            sorted.sort_unstable_by(|one, other| other.cmp(one));
            let blocks = Blocks::new(View::of(&scores)).unwrap();
            for count in [1, 2, 7, len / 2, len - 1, len].into_iter().filter(|count| (1..=len).contains(count)) {
                let (least, above) = split(&blocks, count).unwrap();
                assert_eq!(least, sorted[count - 1].into(), "{len} {kinds} {count}");
                let expected: Vec<i32> = sorted.iter().copied().filter(|score| score.score() > least).collect();
                let mut found: Vec<i32> = above.iter().map(|&(index, _)| scores[index]).collect();
                found.sort_unstable_by(|one, other| other.cmp(one));
                assert_eq!(found, expected, "{len} {kinds} {count}");
            }
        }
    }
}

#[test]
fn the_order_does_not_depend_on_what_doubles_say() {
    let scores: Vec<f64> = (0..60).map(|index| f64::from(index % 7)).collect();
    for seed in 0..20 {
        // Nothing is known, and the order to begin with is the last, the right one, or that of the candidates.
        for begin in [0, 1, 2] {
            let mut entropy = seeded(seed);
            let mut drawn = largest(View::of(&scores), &scale(), 50, &mut entropy).unwrap();
            let order: Vec<usize> = drawn.iter().map(|candidate| candidate.index).collect();
            match begin {
                0 => drawn.reverse(),
                1 => (),
                _ => drawn.sort_by_key(|candidate| candidate.index),
            }
            let unknown = |candidate| NoisyCandidate { low: f64::NEG_INFINITY, high: f64::INFINITY, ..candidate };
            let mut unknown: Vec<_> = drawn.into_iter().map(unknown).collect();
            sort(&mut unknown, &scale(), &mut entropy).unwrap();
            assert_eq!(unknown.iter().map(|candidate| candidate.index).collect::<Vec<_>>(), order);
        }
    }
}

#[test]
fn noisy_scores_lie_in_their_enclosures() {
    let mut entropy = seeded(68);
    for (stage, excess) in [
        (Stage::WHOLE, 0.0),
        (Stage::WHOLE, 700.0),
        (Stage { start: 0, end: 8, bits: 17 }, 0.0),
        (Stage { start: 24, end: 28, bits: 9 }, 0.0),
        (LAST, 0.0),
    ] {
        for _ in 0..500 {
            let candidate = NoisyCandidate::new(0, Score::Real(0.0), excess, stage, &LazyUniform::draw(&mut entropy));
            let truth = excess - crate::testing::middle(&candidate.clock).ln();
            assert!(
                candidate.low < truth
                    && truth < candidate.high
                    && candidate.high - candidate.low < 1e-11 * (1.0 + truth)
            );
        }
    }
}

#[test]
fn the_count_has_to_fit_and_scores_to_stay() {
    let mut entropy = seeded(69);
    for count in [0, 4] {
        let result = largest(View::of(&[1.0, 2.0, 3.0]), &scale(), count, &mut entropy);
        assert_eq!(result.err(), Some(SelectError::InvalidCount));
    }
    assert_eq!(largest(View::of(&[1.0, f64::NAN]), &scale(), 1, &mut entropy).err(), Some(SelectError::NotFinite));
    let scores: Vec<f64> = vec![1.0; 500];
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    let scale = Scale::new(1e3, 1.0, 1).unwrap();
    // No candidate is left near the score that times are measured from, as if all scores had been lowered meanwhile.
    let round = Round { top: Score::Real(1e6), ..Round::new(&blocks, &scale) };
    let mut candidates = Vec::new();
    add_others(&round, 3, &mut candidates, &mut entropy).unwrap();
    assert!(candidates.is_empty());
}
