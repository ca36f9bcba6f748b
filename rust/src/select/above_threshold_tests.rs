use super::*;
use crate::entropy::testing::seeded;
use crate::testing::assert_law;

/// b1 = 1 / first and b2 = 1 / second around a threshold of 0.
fn terms(first: f64, second: f64) -> Setting {
    Setting::new(Rational::ZERO, first, second, 1.0).unwrap()
}

/// Which of the numbers is the first that is above, or their count.
fn first_above(terms: Setting, numbers: &[f64], is_exact: bool, entropy: &mut Entropy) -> usize {
    let mut stream = Stream::begin(terms, 1, entropy);
    numbers
        .iter()
        .position(|&number| {
            let answer =
                if is_exact { stream.test_exactly(&exactly(number), entropy) } else { stream.test(number, entropy) };
            answer.unwrap()
        })
        .unwrap_or(numbers.len())
}

/// The law of `first_above` at b1 = b2 = 1, where exp(-R) = u is uniform: the chance of each number is min(1, e^number u).
fn law(numbers: &[f64]) -> Vec<f64> {
    let steps = 200_000;
    let mut law = vec![0.0; numbers.len() + 1];
    for step in 0..steps {
        let u = (f64::from(step) + 0.5) / f64::from(steps);
        let mut still = 1.0 / f64::from(steps);
        for (place, number) in numbers.iter().enumerate() {
            let chance = (number.exp() * u).min(1.0);
            law[place] += still * chance;
            still *= 1.0 - chance;
        }
        law[numbers.len()] += still;
    }
    law
}

#[test]
fn the_first_above_follows_its_law() {
    let numbers = [-1.0, 0.5, -2.0, 1.5];
    let expected = law(&numbers);
    let wrong = law(&[-0.8, 0.5, -2.0, 1.5]);
    for is_exact in [false, true] {
        let mut entropy = seeded(if is_exact { 5 } else { 4 });
        assert_law("first above", 20_000, &expected, &wrong, || {
            first_above(terms(1.0, 1.0), &numbers, is_exact, &mut entropy)
        });
    }
}

#[test]
fn doubles_decide_as_the_real_numbers_do() {
    // The same bits through both comparisons, at numbers near and far and at extreme rates.
    let mut numbers = vec![0.0, 5e-324, -1e-9, 0.1, -0.7, 3.0, -40.0, 59.9, -61.0, -1e6, 1e6, -1e120, 1e120, f64::MAX];
    numbers.extend((0..40).map(|step| f64::from(step) / 3.0 - 9.0));
    let mut decided = 0;
    for (first, second) in [(1.0, 1.0), (0.1, 0.03), (1e-3, 2.0), (5.0, 1e-4), (1e-200, 1.0), (1.0, 1e200)] {
        for seed in 0..8 {
            let mut entropy = seeded(seed);
            let mut stream = Stream::begin(terms(first, second), 100_000, &mut entropy);
            for &number in &numbers {
                let mut coin = LazyUniform::draw(&mut entropy);
                if let Some(decision) = stream.at_a_glance(coin.head(), number) {
                    decided += 1;
                    let exact = stream.is_above(&mut coin, &exactly(number), &mut entropy);
                    assert_eq!(exact, Ok(decision), "{first} {second} {number}");
                }
            }
        }
    }
    assert!(decided > 1500, "{decided}");
}

#[test]
fn a_threshold_that_is_no_double_is_compared_exactly() {
    // A third less than a millionth: the double nearest to the threshold is on its other side for numbers near it.
    let threshold = Rational::new(1, 3_u8);
    let terms = Setting::new(threshold, 1.0, 1e30, 1.0).unwrap();
    assert!(terms.error > 0.0);
    let mut entropy = seeded(2);
    let stream = Stream::begin(terms, 9, &mut entropy);
    assert_eq!(stream.at_a_glance(1 << 40, 1.0 / 3.0), None, "beyond what doubles can tell");
}

#[test]
fn bits_that_do_not_decide_are_followed_by_more_of_both_numbers() {
    // At a gap of 0 and b1 = b2 the coin is compared with exp(-R). R = 1/2 (word 1 << 63, then one above it ends the run).
    let half = 1 << 63;
    let near = 0x9b45_97e3_7cb0_4ff3; // exp(-1/2) * 2^64, rounded down
    for (further, expected) in [([0, 0], true), ([u64::MAX, u64::MAX], false)] {
        let mut entropy = Entropy::scripted(&[half, u64::MAX, near, further[0], further[1]]);
        let mut stream = Stream::begin(terms(1.0, 1.0), 2, &mut entropy);
        assert_eq!(entropy.taken(), 2);
        assert_eq!(stream.test(0.0, &mut entropy), Ok(expected));
        assert!(entropy.taken() >= 5, "{}", entropy.taken());
        assert_eq!(stream.offset.as_ref().unwrap().cell().1 % 64, 0);
    }
}
