use super::*;
use crate::entropy::testing::seeded;
use crate::exact::rational::nearest_f64;
use crate::testing::assert_law;

fn geometric(epsilon: f64, sensitivity: f64) -> Geometric {
    Geometric::new(Scale::new(epsilon, sensitivity, 1).unwrap())
}

/// Cells -reach..=reach, the ends with all beyond.
fn law(x: f64, reach: i32) -> Vec<f64> {
    let ratio = (-x).exp();
    let point = |y: i32| (1.0 - ratio) / (1.0 + ratio) * (-x * f64::from(y.abs())).exp();
    let end = (-x * f64::from(reach)).exp() / (1.0 + ratio);
    (-reach..=reach).map(|y| if y.abs() == reach { end } else { point(y) }).collect()
}

fn cell(noise: &Noise, reach: i128) -> usize {
    let Noise::Small(noise) = noise else { panic!("large") };
    ((*noise).clamp(-reach, reach) + reach) as usize
}

#[test]
fn zero_with_a_minus_is_drawn_again() {
    // bits = 0: the word gives the sign alone; the coins of the blocks are the halves of the second word, tails both.
    let geometric = geometric(2.0, 1.0);
    assert_eq!(geometric.bits, 0);
    let mut entropy = Entropy::scripted(&[1 << 63, u64::MAX, 0]);
    assert_eq!(geometric.draw(&mut entropy), Noise::Small(0));
    assert_eq!(entropy.taken(), 3);
}

#[test]
fn blocks_are_counted_and_places_rejected() {
    // b = 8: 2^3 / 8 is 1, so blocks of 2^2 numbers have exponent 1/2.
    let geometric = geometric(1.0, 8.1);
    assert_eq!(geometric.bits, 3);
    let word = |negative: u64, place: u64| negative << 63 | place << 60;
    // Place 5 refused, place 6 kept, each by half a word; two blocks passed over, minus.
    let mut entropy = Entropy::scripted(&[word(0, 5), u64::MAX << 32, word(1, 6), 0, u64::MAX]);
    assert_eq!(geometric.draw(&mut entropy), Noise::Small(-22));
    assert_eq!(entropy.taken(), 5);
}

#[test]
fn any_scale_that_doubles_have() {
    let mut entropy = seeded(99);
    for (epsilon, sensitivity) in [(5e-324, 1.7e308), (1e-200, 1.0), (1e-6, 1e15), (1.0, 2_f64.powi(61))] {
        let geometric = geometric(epsilon, sensitivity);
        // |y| / b has mean 1 for large b.
        let mut total = 0.0;
        for _ in 0..2000 {
            let noise = match geometric.draw(&mut entropy) {
                Noise::Small(noise) => Rational::from(noise),
                Noise::Large(noise) => Rational::from(noise),
            };
            total += nearest_f64(&geometric.scale.exact_exponent_of_gap(&noise.abs()));
        }
        assert!((total / 2000.0 - 1.0).abs() < 0.16, "{epsilon} {sensitivity}: {total}");
    }
    for (epsilon, sensitivity) in [(1e6, 1.0), (1.7e308, 5e-324)] {
        assert!((0..500).all(|_| geometric(epsilon, sensitivity).draw(&mut entropy) == Noise::Small(0)));
    }
}

#[test]
fn machine_integers_and_large_ones_draw_the_same() {
    let x = 1.0 / 6.0;
    let large = Geometric::in_big_integers(&Scale::new(1.0, 6.0, 1).unwrap()).unwrap();
    let mut entropy = seeded(98);
    assert_law("large", 40_000, &law(x, 20), &law(0.15, 20), || {
        let noise = i128::try_from(large.draw(&mut entropy)).unwrap();
        cell(&Noise::Small(noise), 20)
    });
}
