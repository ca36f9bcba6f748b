use super::*;
use crate::entropy::testing::seeded;
use crate::testing::assert_law;

fn ratio(numerator: u64, denominator: u64) -> Rational {
    Rational::new(numerator, denominator)
}

/// The cell of the number in quarters, the last one for all above.
fn quarters(variate: &Variate, last: u64) -> usize {
    let (low, bits) = variate.cell();
    usize::try_from(low >> (bits - 2)).unwrap().min(last as usize)
}

#[test]
fn exponentials_follow_their_law() {
    let mut entropy = seeded(81);
    let above = |quarter: f64| (-quarter / 4.0).exp();
    let law: Vec<f64> =
        (0..20).map(|i| above(f64::from(i)) - if i == 19 { 0.0 } else { above(f64::from(i + 1)) }).collect();
    // What a run that counts its length wrongly would give: uniform fractions.
    let wrong: Vec<f64> = (0..20).map(|i| law[i / 4 * 4..i / 4 * 4 + 4].iter().sum::<f64>() / 4.0).collect();
    assert_law("exponential", 100_000, &law, &wrong, || quarters(&Variate::exponential(&mut entropy), 19));
}

#[test]
fn a_fraction_is_kept_after_an_even_number_of_falls() {
    let drawn = |words: &[u64]| {
        let mut entropy = Entropy::scripted(words);
        let variate = Variate::exponential(&mut entropy);
        (variate.whole, variate.fraction.head(), entropy.taken())
    };
    assert_eq!(drawn(&[5, 6]), (0, 5, 2));
    assert_eq!(drawn(&[5, 4, 3, 9]), (0, 5, 4));
    assert_eq!(drawn(&[5, 4, 9, 7, 8]), (1, 7, 5));
    assert_eq!(drawn(&[5, 4, 9, 7, 6, 9, 3, 8]), (2, 3, 8));
}

#[test]
fn equal_heads_are_told_apart_by_further_bits() {
    // 5 against 5: the second words decide, and the fraction keeps the word it was given.
    let mut entropy = Entropy::scripted(&[5, 5, 2, 1]);
    let variate = Variate::exponential(&mut entropy);
    assert_eq!((variate.whole, variate.cell()), (0, ((UBig::from(5_u8) << 64) + UBig::ONE, 128)));
    let mut entropy = Entropy::scripted(&[5, 5, 7, 7, 4, 3]);
    assert_eq!(Variate::exponential(&mut entropy).cell().1, 192);
    assert_eq!(entropy.taken(), 6);
    // One of them already has more bits than the other.
    let mut entropy = Entropy::scripted(&[9, 8, 9, 3]);
    let mut long = LazyUniform::draw(&mut entropy);
    long.refine(&mut entropy);
    let mut short = LazyUniform::draw(&mut entropy);
    assert!(is_below(&mut short, &mut long, &mut entropy));
    assert_eq!((entropy.taken(), short.cell().1), (4, 128));
}

#[test]
fn a_bound_is_compared_with_the_number_and_not_with_its_first_bits() {
    for (second, expected) in [(0, true), (u64::MAX, false)] {
        // The first word leaves [1/3 - 2^-64 / 3, 1/3 + 2^-64 2/3) open.
        let mut entropy = Entropy::scripted(&[u64::MAX / 3, second, second]);
        let mut variate = Variate::uniform(&mut entropy);
        assert_eq!(variate.is_below(&ratio(1, 3), &mut entropy), expected);
        assert_eq!(entropy.taken(), 2);
    }
    let mut entropy = Entropy::scripted(&[1 << 63]);
    let mut variate = Variate { whole: 3, ..Variate::uniform(&mut entropy) };
    assert!(!variate.is_below(&ratio(7, 2), &mut entropy));
    assert!(variate.is_below(&ratio(71, 20), &mut entropy));
}

/// The coin's words run over all multiples of 2^-10, further bits are zero: it is below p for ceil(p 2^10) of them.
#[test]
fn all_words_of_a_truncated_coin_give_the_probability() {
    let half = Variate::uniform(&mut Entropy::scripted(&[1 << 63]));
    for (rate, probability) in [(1, f64::exp(-0.5)), (3, f64::exp(-1.5)), (9, f64::exp(-4.5))] {
        let heads = (0..1024_u64).filter(|word| {
            let (rate, none) = (ratio(rate, 1), ratio(0, 1));
            let mut entropy = Entropy::scripted(&[0; 6]);
            let mut variate = Variate { whole: 0, fraction: half.fraction.clone() };
            let mut coin = LazyUniform::draw(&mut Entropy::scripted(&[word << 54]));
            let quick = variate.certainly_survives(coin.head(), &rate, &none);
            let exact = variate.survives_exactly(&mut coin, |t| t * &rate, &mut entropy);
            assert!(quick.is_none_or(|quick| quick == exact));
            exact
        });
        assert_eq!(heads.count(), (probability * 1024.0).ceil() as usize);
    }
}

#[test]
fn doubles_decide_as_the_integers_do_or_not_at_all() {
    let mut entropy = seeded(83);
    let mut decided = 0;
    for round in 0..3000_u64 {
        let mut variate = Variate::exponential(&mut entropy);
        let (linear, quadratic) = (ratio(round % 3, 5), ratio(1 + round % 97, 7));
        let mut coin = LazyUniform::draw(&mut entropy);
        if let Some(quick) = variate.certainly_survives(coin.head(), &linear, &quadratic) {
            let cost = |t: &Rational| (&linear + &quadratic * t) * t;
            assert_eq!(variate.survives_exactly(&mut coin, cost, &mut entropy), quick);
            decided += 1;
        }
    }
    assert!(decided > 2000, "{decided}");
}

#[test]
fn a_coin_on_the_edge_asks_for_more_bits_of_both() {
    // exp(-1/2) = 0.9b4597e3 7cb04ff3... in hexadecimal: a coin that agrees with it in all 64 bits.
    let mut entropy = Entropy::scripted(&[1 << 63, 0x9b45_97e3_7cb0_4ff3, 0, 0, 0, 0]);
    let mut variate = Variate::uniform(&mut entropy);
    assert!(variate.survives(&ratio(1, 1), &ratio(0, 1), &mut entropy));
    assert_eq!((entropy.taken(), variate.cell().1), (4, 128));
}
