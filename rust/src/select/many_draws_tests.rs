use super::*;
use crate::entropy::testing::seeded;
use crate::testing::{LAWS, NO_CHANCE, assert_law, chi_square_deviations, law_of, scale, wrong_scale};

/// Vectors that lead into different routes: ties at the top, one far ahead, a slope, a long tail.
fn shapes() -> Vec<(&'static str, Vec<f64>)> {
    vec![
        ("slope", (0..12).map(f64::from).collect()),
        ("ties", [vec![9.0; 6], vec![6.0; 4], vec![0.0; 5]].concat()),
        ("far ahead", vec![60.0, 58.0, 53.0, 52.0, 1.0, 0.0]),
        // Each of the others is thinned, and one of them is a head about as often as not.
        ("faint", std::iter::once(9.69).chain(std::iter::repeat_n(0.0, 127)).collect()),
        // Two are near, and the others have one bound together.
        ("far behind", [vec![17.3; 2], vec![0.0; 126]].concat()),
        ("rows", (0..70).map(|index| f64::from(index % 35) / 4.0).collect()),
    ]
}

#[test]
fn every_law_by_single_draws() {
    let mut entropy = seeded(41);
    for law in LAWS {
        for (name, scores) in shapes() {
            let blocks = Blocks::new(View::of(&scores)).unwrap();
            let (right, wrong) = (law_of(law, &scores, &scale()), law_of(law, &scores, &wrong_scale()));
            let scale = scale();
            assert_law(&format!("{law:?}, {name}"), 150_000, &right, &wrong, || {
                draw(law, &Round::new(&blocks, &scale), &mut entropy).unwrap()
            });
        }
    }
}

#[test]
fn every_law_by_many_draws_of_floats_and_integers() {
    for law in LAWS {
        for (name, scores) in shapes() {
            let (right, wrong) = (law_of(law, &scores, &scale()), law_of(law, &scores, &wrong_scale()));
            let integers: Vec<i64> = scores.iter().map(|&score| (score * 100.0).round() as i64).collect();
            let hundredths = Scale::new(0.01, 1.0, 2).unwrap();
            for draws in [
                select_many(law, View::of(&scores), &scale(), 60_000).unwrap(),
                select_many(law, View::of(&integers), &hundredths, 60_000).unwrap(),
            ] {
                let mut draws = draws.into_iter();
                assert_law(&format!("{law:?}, {name}"), 60_000, &right, &wrong, || draws.next().unwrap());
            }
        }
    }
}

/// Values 0..49, each `copies` times, shuffled over several stripes: the law of a value is known from 50 groups.
fn grouped(copies: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let len = 50 * copies;
    let scores: Vec<f64> = (0..len).map(|index| ((index * 7919) % len / copies) as f64).collect();
    let law = |scale: &Scale, law: Law| -> Vec<f64> {
        let heads: Vec<f64> = (0..50).map(|value| (-scale.exponent(49.0, f64::from(value))).exp()).collect();
        if law == Law::Exponential {
            let total: f64 = heads.iter().sum();
            heads.iter().map(|head| head / total).collect()
        } else {
            // copies * p_i * integral prod_j (1 - t p_j)^(copies or copies - 1); midpoint rule in t.
            let steps = 200_000;
            let mut sums = vec![0.0; 50];
            for step in 0..steps {
                let t = (f64::from(step) + 0.5) / f64::from(steps);
                let all: f64 = heads.iter().map(|p| copies as f64 * (-t * p).ln_1p()).sum();
                for (sum, p) in sums.iter_mut().zip(&heads) {
                    *sum += copies as f64 * p * all.exp() / (1.0 - t * p) / f64::from(steps);
                }
            }
            sums
        }
    };
    let both = [law(&scale(), Law::Exponential), law(&scale(), Law::PermuteAndFlip)].concat();
    let wrong = [law(&wrong_scale(), Law::Exponential), law(&wrong_scale(), Law::PermuteAndFlip)].concat();
    (scores, both, wrong)
}

#[test]
fn large_vectors_keep_their_laws_on_every_route() {
    let (scores, laws, wrong_laws) = grouped(200); // 10,000 items in many stripes
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    let scale = scale();
    let mut entropy = seeded(42);
    for (law, part) in [(Law::Exponential, 0..50), (Law::PermuteAndFlip, 50..100)] {
        let (right, wrong) = (&laws[part.clone()], &wrong_laws[part]);
        assert_law(&format!("{law:?}, single"), 60_000, right, wrong, || {
            scores[draw(law, &Round::new(&blocks, &scale), &mut entropy).unwrap()] as usize
        });
        let mut draws = select_many(law, View::of(&scores), &scale, 100_000).unwrap().into_iter();
        assert_law(&format!("{law:?}, many"), 100_000, right, wrong, || scores[draws.next().unwrap()] as usize);
        // So few at a time that no table of items is made.
        let mut draws = (0..600).flat_map(|_| select_many(law, View::of(&scores), &scale, 100).unwrap());
        assert_law(&format!("{law:?}, few"), 60_000, right, wrong, || scores[draws.next().unwrap()] as usize);
    }
    // The items of one value are equally likely, wherever they lie.
    let mut counts = vec![0; 200];
    let tops: Vec<usize> = (0..scores.len()).filter(|&index| scores[index] == 49.0).collect();
    for draw in select_many(Law::PermuteAndFlip, View::of(&scores), &scale, 200_000).unwrap() {
        if let Ok(place) = tops.binary_search(&draw) {
            counts[place] += 1;
        }
    }
    assert!(chi_square_deviations(&counts, &[1.0 / 200.0; 200]) < NO_CHANCE);
}

/// A last stripe of a single item near the top: too likely to be thinned, although its stripe is short.
#[test]
fn a_lone_item_in_the_last_stripe_is_not_thinned() {
    let scale = scale();
    let mut entropy = seeded(45);
    for len in [769, 4097, 33 * 1024 + 1] {
        let mut scores = vec![-1e6; len];
        (scores[700], scores[len - 1]) = (0.0, -0.21);
        let law = law_of(Law::PermuteAndFlip, &[0.0, -0.21], &scale);
        let blocks = Blocks::new(View::of(&scores)).unwrap();
        assert_law("lone", 60_000, &law, &[law[0] - 0.03, law[1] + 0.03], || {
            let drawn = draw(Law::PermuteAndFlip, &Round::new(&blocks, &scale), &mut entropy).unwrap();
            usize::from(drawn != 700)
        });
    }
}

#[test]
fn extreme_scales_and_scores_draw() {
    let scores = [1.7e308, -1.7e308, 0.0, 1.7e308];
    for (epsilon, sensitivity) in [(1e300, 5e-324), (5e-324, 1e300), (1e300, 1e300), (5e-324, 5e-324), (1.0, 1e308)] {
        let scale = Scale::new(epsilon, sensitivity, 2).unwrap();
        for law in LAWS {
            for _ in 0..20 {
                let pick = select(law, View::of(&scores), &scale).unwrap();
                // Where 1/b is huge only the best can win; ties at the top must both stay possible.
                assert!(pick < 4 && (epsilon / sensitivity < 1e300 || scores[pick] == 1.7e308));
            }
        }
    }
}

#[test]
fn threads_draw_from_streams_of_their_own() {
    let scores = vec![0_u8; 100_000];
    let draws = select_many(Law::PermuteAndFlip, View::of(&scores), &scale(), 20_000).unwrap();
    let half = draws.len() / 2;
    let agreeing = (0..half).filter(|&index| draws[index] == draws[half + index]).count();
    assert!(agreeing < 20, "{agreeing} of {half} draws agree between the halves");
}
