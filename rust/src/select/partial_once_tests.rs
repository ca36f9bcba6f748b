use super::*;
use crate::entropy::testing::seeded;
use crate::select::many_draws::Law;
use crate::testing::assert_law;

fn terms(factor: u8) -> Terms {
    Terms { law: Law::PermuteAndFlip, epsilon: 1.0, sensitivity: 1.0, factor }
}

/// How often each ordered pair of five comes, drawn from all of them at once.
fn pairs(scores: &[f64], factor: u8, draws: u32) -> Vec<f64> {
    let mut entropy = seeded(90);
    let mut counts = vec![0.0; scores.len() * scores.len()];
    let scale = terms(factor).scale().unwrap();
    for _ in 0..draws {
        let comers = once::largest(View::of(scores), &scale, 2, &mut entropy).unwrap();
        counts[comers[0].index * scores.len() + comers[1].index] += 1.0 / f64::from(draws);
    }
    counts
}

#[test]
fn any_parts_merged_in_any_order_have_the_law_of_all() {
    let mut entropy = seeded(81);
    let scores = [0.0, 1.0, 3.0, 2.5, 3.0];
    // The law itself is tested in `once_tests.rs`; many more draws of it leave hardly any error beside that of the few below.
    let (right, wrong) = (pairs(&scores, 2, 800_000), pairs(&scores, 1, 100_000));
    let scale = terms(2).scale().unwrap();
    let cuts: [&[usize]; 3] = [&[0, 5], &[0, 3, 5], &[0, 1, 2, 2, 4, 5]];
    for cut in cuts {
        for is_reversed in [false, true] {
            assert_law("merged", 8_000, &right, &wrong, || {
                let parts = cut.windows(2).map(|ends| {
                    first_of(&terms(2), View::of(&scores[ends[0]..ends[1]]), 2, ends[0] as u64, &mut entropy).unwrap()
                });
                let mut parts: Vec<_> = parts.collect();
                if is_reversed {
                    parts.reverse();
                }
                let merged = parts.into_iter().reduce(|one, other| merge(one, other, 2, &scale, &mut entropy).unwrap());
                let index = |winner: &Winner| (winner.partition + winner.index) as usize;
                let merged = merged.unwrap();
                5 * index(&merged[0]) + index(&merged[1])
            });
        }
    }
}

#[test]
fn merging_keeps_as_many_as_are_wanted_and_there_are() {
    let mut entropy = seeded(82);
    let scale = terms(2).scale().unwrap();
    let mut of = |scores: &[f64], partition| first_of(&terms(2), View::of(scores), 3, partition, &mut entropy).unwrap();
    let (few, many, none) = (of(&[1e6], 0), of(&[3e6, 4e6, 0.0, 0.0], 1), of(&[], 2));
    assert_eq!((few.len(), many.len(), none.len()), (1, 3, 0));
    let both = |one: &[Winner], other: &[Winner]| {
        merge(one.to_vec(), other.to_vec(), 3, &scale, &mut Entropy::scripted(&[])).unwrap()
    };
    assert!(both(&few, &none) == few && both(&none, &few) == few && both(&none, &none).is_empty());
    let merged = both(&few, &many);
    let places: Vec<_> = merged.iter().map(|winner| (winner.partition, winner.index)).collect();
    assert_eq!(places, [(1, 1), (1, 0), (0, 0)]);
    assert!(both(&many, &few) == merged);
}

#[test]
fn bytes_are_the_state_and_nothing_else_is() {
    let mut entropy = seeded(83);
    for scores in [vec![-3.5, 2.25, 2.0], vec![1e300; 100], vec![]] {
        let winners = first_of(&terms(2), View::of(&scores), 4, 77, &mut entropy).unwrap();
        let bytes = to_bytes(&terms(2), 4, &winners);
        assert!(from_bytes(&bytes) == Some((terms(2), 4, winners.clone())));
        assert!((0..bytes.len()).all(|shorter| from_bytes(&bytes[..shorter]).is_none_or(|read| read.2 != winners)));
        assert!(from_bytes(&[&bytes[..], &[0]].concat()).is_none());
        // Another version, no winner wanted, fewer wanted than there are, another length of the first part.
        for (place, wrong) in [(4, 2), (5, 0), (13, 1)] {
            let mut bytes = bytes.clone();
            bytes[place] = wrong;
            assert!(from_bytes(&bytes).is_none(), "byte {place}");
        }
        if winners.len() > 1 {
            assert!(from_bytes(&to_bytes(&terms(2), 1, &winners)).is_none());
        }
        // Winners by other terms, and terms that come with a winner.
        let empty = to_bytes(&terms(1), 4, &[]);
        let of_winners = &bytes[to_bytes(&terms(2), 4, &[]).len()..];
        assert_eq!(from_bytes(&[&empty, of_winners].concat()).is_none(), !winners.is_empty());
        if !winners.is_empty() {
            assert!(from_bytes(&[&bytes[..13], of_winners].concat()).is_none());
        }
    }
}
