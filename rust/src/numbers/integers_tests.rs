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
fn many_blocks_are_made_up_for_in_parts() {
    // exp(-k x) against 2^-v over hundreds of blocks: kept with probability (2 / e^0.7)^v.
    let long = side(7, 10, None);
    assert_eq!(long.block, UBig::ONE);
    for (blocks, seed) in [(20_u32, 5), (40, 6), (100, 7)] {
        let mut entropy = seeded(seed);
        let chance = f64::from(blocks) * (2_f64.ln() - 0.7);
        let law = [chance.exp(), 1.0 - chance.exp()];
        assert_law("parts", 30_000, &law, &[law[0] * 0.9, 1.0 - law[0] * 0.9], || {
            usize::from(long.keep(UBig::ZERO, blocks, &mut entropy).is_none())
        });
    }
    let mut entropy = Entropy::scripted(&[0, 0, 1 << 5]);
    assert_eq!(halvings(&mut entropy), 133);
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

#[test]
fn coins_of_exact_exponents() {
    let mut entropy = seeded(9);
    let chance = (-1.0_f64 / 3.0).exp();
    assert_law("coin", 20_000, &[chance, 1.0 - chance], &[0.8, 0.2], || {
        usize::from(!flip_exactly(&ratio(1, 3), &mut entropy))
    });
    assert!(flip_exactly(&ratio(0, 1), &mut Entropy::scripted(&[u64::MAX])));
}
