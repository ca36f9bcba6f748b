use super::*;
use crate::entropy::testing::seeded;
use crate::exact::rational::scaled;
use crate::testing::{assert_law, normalised};

fn ratio(numerator: u64, denominator: u64) -> Rational {
    Rational::new(numerator, denominator)
}

fn side(numerator: u64, denominator: u64, last: Option<u64>) -> Side {
    Side::new(ratio(numerator, denominator), last.map(UBig::from)).unwrap()
}

/// Cells -reach..=reach, the last ones with all beyond.
fn law(left: (f64, u32), right: (f64, u32), reach: usize) -> Vec<f64> {
    let mut weights = vec![0.0; 2 * reach + 1];
    for k in 1..=left.1.min(5000) {
        weights[reach - (k as usize).min(reach)] += (-left.0 * f64::from(k)).exp();
    }
    for k in 0..=right.1.min(5000) {
        weights[reach + (k as usize).min(reach)] += (-right.0 * f64::from(k)).exp();
    }
    normalised(weights)
}

#[test]
fn offsets_have_the_ceilings_law() {
    const OPEN: u32 = u32::MAX;
    let cases = [
        ((1, 10, None), (1, 10, None)),
        ((1, 2, None), (1, 20, None)),
        ((3, 1, None), (2, 1, Some(3))),
        ((0, 1, Some(4)), (1, 5, None)),
        ((0, 1, Some(0)), (0, 1, Some(6))),
        ((1, 100, Some(3)), (1, 100, Some(300))),
        ((1, 1_000_000, Some(2)), (9, 1, None)),
    ];
    for (seed, ((a, b, left), (c, d, right))) in cases.into_iter().enumerate() {
        let proposals = Offsets::new(side(a, b, left), side(c, d, right));
        let mut entropy = seeded(20 + seed as u8);
        let rates = (a as f64 / b as f64, c as f64 / d as f64);
        let ends = (left.map_or(OPEN, |last| last as u32), right.map_or(OPEN, |last| last as u32));
        let truth = law((rates.0, ends.0), (rates.1, ends.1), 8);
        let wrong = law((rates.0 * 1.3 + 0.1, ends.0), (rates.1 * 1.1 + 0.05, ends.1), 8);
        assert_law("offsets", 30_000, &truth, &wrong, || {
            let offset = i64::try_from(proposals.draw(&mut entropy)).unwrap();
            assert!(-offset <= i64::from(ends.0) && offset <= i64::from(ends.1));
            (offset.clamp(-8, 8) + 8) as usize
        });
    }
}

#[test]
fn blocks_are_passed_over_one_by_one() {
    // A word from 2^63 on keeps what there is, one below exp(-0.7) = 0.4966 passes a block over, those between refuse.
    let long = side(7, 20, None);
    assert_eq!(long.block, UBig::from(2_u8));
    let edge = ((-0.7_f64).exp() * 18_446_744_073_709_551_616.0) as u64;
    let walk = |side: &Side, words: &[u64]| side.keep(UBig::ZERO, &mut Entropy::scripted(words));
    assert_eq!(walk(&long, &[1 << 63]), Some(UBig::ZERO));
    assert_eq!(walk(&long, &[edge - (1 << 30), 0, u64::MAX]), Some(UBig::from(4_u8)));
    assert_eq!(walk(&long, &[0, edge + (1 << 30)]), None);
    assert_eq!(walk(&long, &[0, (1 << 63) - 1]), None);
    // A block beyond the last distance is never entered.
    let short = side(7, 20, Some(3));
    assert_eq!((walk(&short, &[0, 1 << 63]), walk(&short, &[0, 0])), (Some(UBig::from(2_u8)), None));
}

#[test]
fn uniform_integers_of_any_size() {
    let mut entropy = seeded(96);
    assert_law("below 5", 20_000, &[0.2; 5], &[0.21, 0.21, 0.21, 0.21, 0.16], || {
        u64::try_from(uniform_below(&UBig::from(5_u8), &mut entropy)).unwrap() as usize
    });
    let bound = (UBig::ONE << 129) + UBig::ONE;
    assert!((0..200).all(|_| uniform_below(&bound, &mut entropy) < bound));
    let mut scripted = Entropy::scripted(&[3 << 62, 0, 0, 1, 2, 3 << 62]);
    let number = (UBig::ONE << 66) + (UBig::from(2_u8) << 2) + UBig::from(3_u8);
    assert_eq!(uniform_below(&bound, &mut scripted), number, "130 bits of three words, and none that is too large");
}

#[test]
fn blocks_at_least_halve_the_weight_and_rates_of_any_size_do() {
    for (numerator, denominator) in [(1, 1), (1, 3), (70, 100), (69, 100), (1, u64::MAX), (u64::MAX, 1)] {
        let side = side(numerator, denominator, None);
        let x = &side.block * UBig::from(numerator) * UBig::from(10_u8);
        assert!(x >= UBig::from(denominator) * UBig::from(7_u8));
    }
    assert!(Side::new(ratio(0, 1), None).is_none());
    let mut entropy = seeded(8);
    let tiny = scaled(1, -2000);
    let open = || Side::new(tiny.clone(), None).unwrap();
    let proposals = Offsets::new(open(), open());
    assert!((0..50).any(|_| proposals.draw(&mut entropy) > IBig::ONE << 1900));
    let steep = scaled(1, 2000);
    let steep = || Side::new(steep.clone(), None).unwrap();
    let proposals = Offsets::new(steep(), steep());
    assert!((0..50).all(|_| proposals.draw(&mut entropy) == IBig::ZERO));
}
