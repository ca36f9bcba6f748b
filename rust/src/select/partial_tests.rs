use super::*;
use crate::entropy::testing::seeded;
use crate::exact::decision::Lazy;
use crate::scores::score::Stored;
use crate::select::partial_bytes::{from_bytes, to_bytes};
use crate::testing::{assert_law, law_of};

const LAWS: [Law; 2] = [Law::Exponential, Law::PermuteAndFlip];

fn terms(law: Law, factor: u8) -> Terms {
    Terms { law, epsilon: 1.0, sensitivity: 1.0, factor }
}

/// The law, and one that it is told from.
fn laws(law: Law, scores: &[f64]) -> [Vec<f64>; 2] {
    [2, 1].map(|factor| law_of(law, scores, &terms(law, factor).scale().unwrap()))
}

fn of<T: Stored>(terms: &Terms, scores: &[T], partition: u64, entropy: &mut Entropy) -> Option<Winner> {
    Winner::of(terms, View::of(scores), partition, entropy).unwrap()
}

#[test]
fn any_parts_merged_in_any_order_have_the_law_of_all() {
    let mut entropy = seeded(61);
    let scores = [0.0, 1.0, 3.0, 2.5, -1.0, 3.0];
    let cuts: [&[usize]; 4] = [&[0, 6], &[0, 3, 6], &[0, 1, 2, 2, 5, 6], &[0, 0, 4, 6]];
    for law in LAWS {
        let [right, wrong] = laws(law, &scores);
        let scale = terms(law, 2).scale().unwrap();
        for cut in cuts {
            for is_reversed in [false, true] {
                assert_law("merged", 6_000, &right, &wrong, || {
                    let parts = cut
                        .windows(2)
                        .map(|ends| of(&terms(law, 2), &scores[ends[0]..ends[1]], ends[0] as u64, &mut entropy));
                    let mut parts: Vec<_> = parts.collect();
                    if is_reversed {
                        parts.reverse();
                    }
                    let first = parts.into_iter().reduce(|one, other| merge(one, other, &scale, &mut entropy));
                    let first = first.unwrap().unwrap();
                    (first.partition + first.index) as usize
                });
            }
        }
    }
}

#[test]
fn forgetting_the_tops_would_give_another_law() {
    let mut entropy = seeded(62);
    let scores = [0.0, 3.0];
    for law in LAWS {
        let [right, _] = laws(law, &scores);
        let scale = terms(law, 2).scale().unwrap();
        assert_law("equal tops", 5000, &[0.5, 0.5], &right, || {
            let [one, other] = [0, 1].map(|index| of(&terms(law, 2), &[scores[index]], index as u64, &mut entropy));
            let (one, mut other) = (one.unwrap(), other.unwrap());
            other.top = one.top;
            one.first_of(other, &scale, &mut entropy).partition as usize
        });
    }
}

#[test]
fn merging_is_associative_and_commutative_on_what_is_known() {
    // With the first words known, almost always no further bit is drawn: the winner is a function of the states.
    let mut entropy = seeded(63);
    let scores = [[1.0, 2.0], [2.0, 0.5], [1.5, 1.5]];
    for law in LAWS {
        let scale = terms(law, 2).scale().unwrap();
        for _ in 0..500 {
            let [a, b, c] = [0, 1, 2].map(|part| of(&terms(law, 2), &scores[part], part as u64, &mut entropy));
            let both = |one: &Option<Winner>, other: &Option<Winner>| {
                merge(one.clone(), other.clone(), &scale, &mut Entropy::scripted(&[]))
            };
            let left = both(&both(&a, &b), &c);
            let right = both(&a, &both(&b, &c));
            let turned = both(&c, &both(&b, &a));
            assert!(left == right && left == turned);
            assert!(both(&None, &left) == left && both(&left, &None) == left && both(&None, &None).is_none());
        }
    }
}

#[test]
fn parts_may_have_scores_of_different_types() {
    let mut entropy = seeded(64);
    let scores = [7.0, 5.5, 6.0, -2.0, 9.0, 8.0];
    for law in LAWS {
        let [right, wrong] = laws(law, &scores);
        let scale = terms(law, 2).scale().unwrap();
        assert_law("types", 8_000, &right, &wrong, || {
            let parts = [
                of(&terms(law, 2), &[7.0_f64, 5.5], 0, &mut entropy),
                of(&terms(law, 2), &[6_u8], 2, &mut entropy),
                of(&terms(law, 2), &[-2.0_f32], 3, &mut entropy),
                of(&terms(law, 2), &[9_i64, 8], 4, &mut entropy),
            ];
            let first = parts.into_iter().reduce(|one, other| merge(one, other, &scale, &mut entropy));
            let first = first.unwrap().unwrap();
            (first.partition + first.index) as usize
        });
    }
}

#[test]
fn tops_beyond_the_doubles_are_compared_exactly() {
    // Neighbouring integers beyond 2^53, and the ends of the doubles: only exact differences tell.
    let mut entropy = seeded(65);
    let sharp = Terms { epsilon: 1e6, ..terms(Law::PermuteAndFlip, 1) };
    let scale = sharp.scale().unwrap();
    for (low, high) in [(i64::MAX - 1, i64::MAX), (i64::MIN, i64::MIN + 1), (-1, 0)] {
        let [low, high] = [low, high].map(|score| of(&sharp, &[score], score.cast_unsigned(), &mut entropy));
        let expected = high.as_ref().unwrap().partition;
        assert_eq!(merge(low, high, &scale, &mut entropy).unwrap().partition, expected);
    }
    let parts = [f64::MIN, -5e-324, 0.0, 5e-324, f64::MAX].map(|score| of(&sharp, &[score], 0, &mut entropy));
    let heights = parts.map(|part| part.unwrap().top.exactly());
    assert!(heights.windows(2).all(|pair| pair[1] > pair[0]));
}

#[test]
fn what_cannot_be_drawn_is_refused_and_draws_nothing() {
    let mut entropy = Entropy::scripted(&[]);
    let laplace = Winner::of(&terms(Law::LaplaceNoisyMax, 1), View::of(&[1.0]), 0, &mut entropy);
    assert_eq!(laplace.err(), Some(SelectError::NotMergeable));
    let poison = Winner::of(&terms(Law::Exponential, 1), View::of(&[1.0, f64::NAN]), 0, &mut entropy);
    assert_eq!(poison.err(), Some(SelectError::NotFinite));
    assert!(of::<f64>(&terms(Law::Exponential, 1), &[], 0, &mut entropy).is_none());
    assert_eq!(entropy.taken(), 0);
}

#[test]
fn bytes_are_the_state_and_nothing_else_is() {
    let mut entropy = seeded(66);
    for law in LAWS {
        let terms = terms(law, 2);
        for scores in [vec![-3.5, 2.25, 2.0], vec![1e300; 100], vec![]] {
            let mut winner = of(&terms, &scores, 77, &mut entropy);
            for _ in 0..3 {
                let bytes = to_bytes(&terms, winner.as_ref());
                assert!(bytes.len() < 130);
                let (read_terms, read) = from_bytes(&bytes).unwrap();
                assert!(read_terms == terms && read == winner);
                assert!((0..bytes.len()).all(|shorter| from_bytes(&bytes[..shorter]).is_none()));
                assert!(from_bytes(&[&bytes[..], &[0]].concat()).is_none());
                for (place, wrong) in [(0, b'x'), (4, 2), (5, 3), (6, 0), (23, 2)] {
                    let mut bytes = bytes.clone();
                    bytes[place] = wrong;
                    assert!(from_bytes(&bytes).is_none(), "byte {place}");
                }
                if let Some(winner) = &mut winner {
                    winner.clock.refine(&mut entropy);
                }
            }
        }
    }
    assert!(from_bytes(&[]).is_none());
}

#[test]
fn states_that_would_keep_a_merge_busy_are_refused() {
    const BITS: usize = 51;
    const PARTS: usize = BITS + 8;
    let mut entropy = seeded(67);
    for law in LAWS {
        let terms = terms(law, 2);
        let mut winner = of(&terms, &[3.0, 1.0], 1, &mut entropy);
        let bytes = to_bytes(&terms, winner.as_ref());
        let with = |place: usize, number: u64| {
            let mut bytes = bytes.clone();
            bytes[place..place + 8].copy_from_slice(&number.to_le_bytes());
            from_bytes(&bytes)
        };
        assert!(
            winner
                .as_ref()
                .is_some_and(|winner| with(BITS, winner.clock.bits as u64) == Some((terms, Some(winner.clone()))))
        );
        assert!(with(BITS, 4096).is_some() && with(PARTS, 1 << 20).is_some());
        for (place, number) in [(BITS, 4097), (BITS, 20_000), (BITS, u64::MAX), (PARTS, (1 << 20) + 1), (PARTS, 0)] {
            assert!(with(place, number).is_none(), "{number}");
        }
        // Far more words than a time ever gets are read, and no more than that.
        let mut refined = |words: usize| {
            let clock = &mut winner.as_mut().unwrap().clock;
            (0..words).for_each(|_| clock.refine(&mut entropy));
            let bytes = to_bytes(&terms, winner.as_ref());
            from_bytes(&bytes).map(|(_, read)| read == winner)
        };
        assert_eq!((refined(60), refined(60)), (Some(true), None));
        // Bits that are few, and more known than they can say.
        let mut long = bytes[..BITS + 24].to_vec();
        long.extend(1000_u64.to_le_bytes());
        long.extend([1; 1000]);
        assert!(from_bytes(&long).is_none());
    }
}
