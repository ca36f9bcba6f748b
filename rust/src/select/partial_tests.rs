use super::*;
use crate::entropy::testing::seeded;
use crate::exact::decision::Lazy;
use crate::scores::score::Stored;
use crate::testing::{assert_law, law_of};

/// Where the numbers of a row with a winner stand in its bytes.
const COUNT: usize = 23;
const CANDIDATES: usize = 31;
const SIGN: usize = 55;
const BITS: usize = 66;
const PARTS: usize = 74;
const RATE: usize = 82;
const LENGTH: usize = 90;

fn terms(law: Law, factor: u8) -> Terms {
    Terms { law, epsilon: 1.0, sensitivity: 1.0, factor, count: 1 }
}

/// Those of noise once.
fn several(count: usize, factor: u8) -> Terms {
    Terms { count, ..terms(Law::PermuteAndFlip, factor) }
}

fn of<T: Stored>(terms: Terms, scores: &[T], partition: usize, entropy: &mut Entropy) -> Row {
    Row::of(terms, View::of(scores), partition as u64, entropy).unwrap()
}

/// Of parts that are numbered by the scores before them.
fn index(winner: &Winner) -> usize {
    (winner.partition + winner.index) as usize
}

/// As [`Row::merged`], by what is known: no bit is drawn.
fn known(one: &Row, other: &Row) -> Row {
    one.merged(other, &mut Entropy::scripted(&[])).unwrap()
}

/// What all scores at once answer with which probability, the winners as the digits of a number: of one exactly, of several
/// by many draws of the law that is tested in `once_tests.rs`.
fn at_once(terms: Terms, scores: &[f64], draws: u32) -> Vec<f64> {
    let scale = terms.scale().unwrap();
    if terms.count == 1 {
        return law_of(terms.law, scores, &scale);
    }
    let mut entropy = seeded(90);
    let mut chances = vec![0.0; scores.len().pow(terms.count as u32)];
    for _ in 0..draws {
        let first = once::largest(View::of(scores), &scale, terms.count, &mut entropy).unwrap();
        chances[first.iter().fold(0, |digits, each| scores.len() * digits + each.index)] += 1.0 / f64::from(draws);
    }
    chances
}

#[test]
fn any_parts_merged_in_any_order_have_the_law_of_all() {
    let mut entropy = seeded(61);
    let scores = [0.0, 1.0, 3.0, 2.5, 3.0];
    let cuts: [&[usize]; 4] = [&[0, 5], &[0, 3, 5], &[0, 1, 2, 2, 4, 5], &[0, 0, 4, 5]];
    for wanted in [terms(Law::Exponential, 2), terms(Law::PermuteAndFlip, 2), several(2, 2)] {
        let right = at_once(wanted, &scores, 800_000);
        let wrong = at_once(Terms { factor: 1, ..wanted }, &scores, 100_000);
        for cut in cuts {
            for is_reversed in [false, true] {
                assert_law("merged", 8_000, &right, &wrong, || {
                    let part = |ends: &[usize]| of(wanted, &scores[ends[0]..ends[1]], ends[0], &mut entropy);
                    let mut parts: Vec<_> = cut.windows(2).map(part).collect();
                    if is_reversed {
                        parts.reverse();
                    }
                    let all = parts.into_iter().reduce(|one, other| one.merged(&other, &mut entropy).unwrap()).unwrap();
                    assert_eq!((all.candidates, all.winners.len()), (5, wanted.count));
                    all.winners.iter().fold(0, |digits, winner| scores.len() * digits + index(winner))
                });
            }
        }
    }
}

#[test]
fn merging_is_associative_and_commutative_on_what_is_known() {
    // With the first words known, almost always no further bit is drawn: the winners are a function of the rows.
    let mut entropy = seeded(63);
    let scores = [[1.0, 2.0], [2.0, 0.5], [1.5, 1.5]];
    for wanted in [terms(Law::Exponential, 2), terms(Law::PermuteAndFlip, 2), several(2, 2), several(9, 2)] {
        for _ in 0..500 {
            let [a, b, c] = [0, 1, 2].map(|part| of(wanted, &scores[part], part, &mut entropy));
            let none = of::<f64>(wanted, &[], 3, &mut entropy);
            let left = known(&known(&a, &b), &c);
            assert!(left == known(&a, &known(&b, &c)) && left == known(&c, &known(&b, &a)));
            assert!(known(&none, &left) == left && known(&left, &none) == left && known(&none, &none) == none);
        }
    }
}

#[test]
fn merging_keeps_as_many_as_are_wanted_and_there_are() {
    let mut entropy = seeded(82);
    let mut of = |scores: &[f64], partition| of(several(3, 2), scores, partition, &mut entropy);
    let (few, many, none) = (of(&[1e6], 0), of(&[3e6, 4e6, 0.0, 0.0], 1), of(&[], 2));
    assert_eq!([&few, &many, &none].map(|row| (row.candidates, row.winners.len())), [(1, 1), (4, 3), (0, 0)]);
    let merged = known(&few, &many);
    let places: Vec<_> = merged.winners.iter().map(|winner| (winner.partition, winner.index)).collect();
    assert_eq!((merged.candidates, places), (5, vec![(1, 1), (1, 0), (0, 0)]));
    assert!(known(&many, &few) == merged);
}

#[test]
fn tops_beyond_the_doubles_are_compared_exactly() {
    // Neighbouring integers beyond 2^53, and the ends of the doubles: only exact differences tell.
    let mut entropy = seeded(65);
    let sharp = Terms { epsilon: 1e6, ..terms(Law::PermuteAndFlip, 1) };
    for (low, high) in [(i64::MAX - 1, i64::MAX), (i64::MIN, i64::MIN + 1), (-1, 0)] {
        let (low, high) = (of(sharp, &[low], 0, &mut entropy), of(sharp, &[high], 1, &mut entropy));
        assert_eq!(low.merged(&high, &mut entropy).unwrap().winners[0].partition, 1);
    }
    let parts = [f64::MIN, -5e-324, 0.0, 5e-324, f64::MAX].map(|score| of(sharp, &[score], 0, &mut entropy));
    let heights = parts.map(|part| part.winners[0].top.exactly());
    assert!(heights.windows(2).all(|pair| pair[1] > pair[0]));
}

#[test]
fn what_cannot_be_drawn_or_merged_is_refused_and_draws_nothing() {
    let mut entropy = Entropy::scripted(&[]);
    let several_of = |law, count| Terms { count, ..terms(law, 1) };
    for refused in [terms(Law::LaplaceNoisyMax, 1), several_of(Law::Exponential, 2), several_of(Law::PermuteAndFlip, 0)]
    {
        for scores in [&[1.0][..], &[]] {
            let row = Row::of(refused, View::of(scores), 0, &mut entropy);
            assert_eq!(row.err(), Some(SelectError::NotMergeable));
        }
    }
    for wanted in [terms(Law::Exponential, 1), terms(Law::PermuteAndFlip, 1), several(2, 1)] {
        let poison = Row::of(wanted, View::of(&[1.0, f64::NAN]), 0, &mut entropy);
        assert_eq!(poison.err(), Some(SelectError::NotFinite));
        let none = of::<f64>(wanted, &[], 0, &mut entropy);
        assert!(none.winners.is_empty());
        for other in [Terms { factor: 2, ..wanted }, Terms { epsilon: 2.0, ..wanted }, several(3, 1)] {
            let merged = none.merged(&of::<f64>(other, &[], 0, &mut entropy), &mut entropy);
            assert_eq!(merged.err(), Some(SelectError::NotMergeable));
        }
    }
    assert_eq!(entropy.taken(), 0);
}

#[test]
fn bytes_are_the_row_and_nothing_else_is() {
    let mut entropy = seeded(66);
    for wanted in [terms(Law::Exponential, 2), terms(Law::PermuteAndFlip, 2), several(2, 2), several(4, 2)] {
        for scores in [vec![-3.5, 2.25, 2.0], vec![1e300; 100], vec![]] {
            let mut row = of(wanted, &scores, 77, &mut entropy);
            for _ in 0..3 {
                let bytes = row.to_bytes();
                assert!(bytes.len() < 40 + 90 * row.winners.len());
                assert!(Row::from_bytes(&bytes).is_some_and(|read| read == row));
                assert!((0..bytes.len()).all(|shorter| Row::from_bytes(&bytes[..shorter]).is_none()));
                assert!(Row::from_bytes(&[&bytes[..], &[0]].concat()).is_none());
                // Another head or version; no law, factor or winner wanted; another number of winners than of such candidates.
                let least = row.winners.len() as u8;
                let damages = [(0, b'x'), (4, 2), (5, 0), (5, 3), (6, 0), (6, 3), (COUNT, 0), (CANDIDATES, least + 1)];
                for (place, wrong) in damages {
                    let mut damaged = bytes.clone();
                    damaged[place] = wrong;
                    let read = Row::from_bytes(&damaged);
                    let is_the_rest_alike = place == CANDIDATES && row.winners.len() == wanted.count;
                    assert_eq!(read.is_some(), is_the_rest_alike, "byte {place}");
                }
                if let Some(winner) = row.winners.first_mut() {
                    winner.clock.refine(&mut entropy);
                }
            }
            // Fewer wanted than there are winners; several of a law that has one.
            if row.winners.len() > 1 {
                let few = Terms { count: 1, ..wanted };
                assert!(Row::from_bytes(&Row { terms: few, ..row.clone() }.to_bytes()).is_none());
                let exponential = Terms { law: Law::Exponential, ..wanted };
                assert!(Row::from_bytes(&Row { terms: exponential, ..row }.to_bytes()).is_none());
            }
        }
    }
    assert!(Row::from_bytes(&[]).is_none());
}

#[test]
fn rows_that_would_keep_a_merge_busy_are_refused() {
    let mut entropy = seeded(67);
    for wanted in [terms(Law::Exponential, 2), terms(Law::PermuteAndFlip, 2), several(2, 2)] {
        let mut row = of(wanted, &[3.0, 1.0], 1, &mut entropy);
        let bytes = row.to_bytes();
        let with = |place: usize, number: u64| {
            let mut bytes = bytes.clone();
            bytes[place..place + 8].copy_from_slice(&number.to_le_bytes());
            Row::from_bytes(&bytes)
        };
        assert!(with(BITS, row.winners[0].clock.bits as u64).is_some_and(|read| read == row));
        assert!(with(BITS, 4096).is_some() && with(PARTS, 1 << 20).is_some());
        for (place, number) in
            [(BITS, 4097), (BITS, 20_000), (BITS, u64::MAX), (PARTS, (1 << 20) + 1), (PARTS, 0), (RATE, 0)]
        {
            assert!(with(place, number).is_none(), "{number}");
        }
        // More winners claimed than there are bytes for, which costs no memory.
        let mut many = bytes.clone();
        many[CANDIDATES..CANDIDATES + 8].fill(0x7f);
        many[COUNT..COUNT + 8].fill(0x7f);
        assert!(Row::from_bytes(&many).is_none());
        // A sign that is none, and a number known with a zero before its digits.
        let mut signed = bytes.clone();
        signed[SIGN] = 2;
        assert!(Row::from_bytes(&signed).is_none());
        let length = u64::from_le_bytes(bytes[LENGTH..LENGTH + 8].try_into().unwrap());
        let behind = LENGTH + 8 + length as usize;
        let longer =
            [&bytes[..LENGTH], &(length + 1).to_le_bytes(), &bytes[LENGTH + 8..behind], &[0], &bytes[behind..]];
        assert!(Row::from_bytes(&longer.concat()).is_none());
        // Bits that are few, and more known than they can say.
        let long = [&bytes[..LENGTH], &1000_u64.to_le_bytes(), &[1; 1000], &bytes[behind..]];
        assert!(Row::from_bytes(&long.concat()).is_none());
        // Far more words than a time ever gets are read, and no more than that.
        let mut refined = |words: usize| {
            (0..words).for_each(|_| row.winners[0].clock.refine(&mut entropy));
            Row::from_bytes(&row.to_bytes()).map(|read| read == row)
        };
        assert_eq!((refined(60), refined(60)), (Some(true), None));
    }
}
