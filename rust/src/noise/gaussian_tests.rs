use super::*;
use crate::entropy::testing::seeded;
use crate::testing::{assert_law, normalised};

fn gaussian(variance: f64, block: f64) -> Gaussian {
    Gaussian::new(variance, block).unwrap()
}

/// Cells -reach..=reach, the ends with all beyond.
fn law(variance: f64, reach: i32) -> Vec<f64> {
    let mut weights = vec![0.0; 2 * reach as usize + 1];
    for y in -2000..=2000_i32 {
        weights[(y.clamp(-reach, reach) + reach) as usize] += (-f64::from(y).powi(2) / (2.0 * variance)).exp();
    }
    normalised(weights)
}

#[test]
fn draws_have_the_law_whatever_the_proposals() {
    let cases = [(0.3, 1.0), (1.0, 1.0), (4.5, 3.0), (7.25, 1.0), (2.0, 5.0), (205.4, 15.0), (1000.0, 10.0)];
    for (seed, (variance, block)) in cases.into_iter().enumerate() {
        let gaussian = gaussian(variance, block);
        let mut entropy = seeded(110 + seed as u8);
        let reach = (2.5 * variance.sqrt()).ceil() as i32;
        assert_law("gaussian", 60_000, &law(variance, reach), &law(variance * 0.85, reach), || {
            let end = i128::from(reach);
            (gaussian.draw(&mut entropy).clamp(-end, end) + end) as usize
        });
    }
}

#[test]
fn exponents_in_doubles_are_the_exact_ones() {
    let tiny = 2_f64.powi(-101);
    for variance in [tiny, 1e-9, 0.3, 1.0, 4.5, 12.0, 1e6 + 0.125, 1e20 / 3.0, 2_f64.powi(100), 9e14] {
        let root = variance.sqrt().floor().max(0.0) + 1.0;
        for block in [1.0, 3.0, root, (2.0 * root + 1.0).min(LARGEST_BLOCK)] {
            let Ok(gaussian) = Gaussian::new(variance, block) else { continue };
            let near = (variance / block).min(1e30) as i128;
            for y in [0, 1, -1, 2, near - 1, near, near + 1, -near, 3 * near + 7, 40 * root as i128, 1 << 100] {
                let exact = gaussian.exact_exponent(y);
                let approximate = gaussian.exponent(y);
                let truth = nearest_f64(&exact);
                assert_eq!(approximate == 0.0, exact.is_zero(), "{variance} {block} {y}");
                assert!((approximate - truth).abs() <= truth * 2_f64.powi(-50), "{variance} {block} {y}");
            }
        }
    }
}

#[test]
fn what_is_kept_is_decided_by_the_exact_exponent_as_well() {
    // Variance 4, block 2: the centre is 2, where every proposal is kept, whatever the word.
    let gaussian = gaussian(4.0, 2.0);
    assert!(gaussian.keeps(2, &mut Entropy::scripted(&[u64::MAX])));
    assert!(gaussian.keeps(-2, &mut Entropy::scripted(&[u64::MAX])));
    // |y| = 6: exp(-16 / 8).
    assert_eq!(gaussian.exact_exponent(-6), exactly(2.0));
    let edge = ((-2.0_f64).exp() * 18_446_744_073_709_551_616.0) as u64;
    assert!(gaussian.keeps(6, &mut Entropy::scripted(&[edge - (1 << 30), 0, 0, 0])));
    assert!(!gaussian.keeps(6, &mut Entropy::scripted(&[edge + (1 << 30), 0, 0, 0])));
}

#[test]
fn what_is_no_variance_and_no_block_is_refused() {
    let variances = [0.0, -1.0, f64::NAN, f64::INFINITY].map(|variance| (variance, 1.0));
    let blocks = [0.0, 1.5, 1e17, f64::NAN].map(|block| (1.0, block));
    for (variance, block) in variances.into_iter().chain(blocks) {
        assert_eq!(Gaussian::new(variance, block).err(), Some(SelectError::InvalidScale), "{variance} {block}");
    }
}
