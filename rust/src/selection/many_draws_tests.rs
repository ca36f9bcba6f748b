use super::*;
use crate::entropy::testing::seeded;
use crate::testing::{
    NO_CHANCE, assert_law, chi_square_deviations, exponential_law, exponents, laplace_law, permute_and_flip_law,
};

fn scale() -> Scale {
    Scale::new(1.0, 1.0, 2).unwrap()
}

fn wrong_scale() -> Scale {
    Scale::new(0.8, 1.0, 2).unwrap()
}

/// Vectors that lead into different routes: ties at the top, one far ahead, a slope, a long tail.
fn shapes() -> Vec<(&'static str, Vec<f64>)> {
    vec![
        ("slope", (0..12).map(f64::from).collect()),
        ("ties", [vec![9.0; 6], vec![6.0; 4], vec![0.0; 5]].concat()),
        ("far ahead", vec![60.0, 58.0, 53.0, 52.0, 1.0, 0.0]),
        // Each of the others is thinned, and one of them is a head about as often as not.
        ("faint", std::iter::once(9.69).chain(std::iter::repeat_n(0.0, 127)).collect()),
        ("rows", (0..70).map(|index| f64::from(index % 35) / 4.0).collect()),
    ]
}

fn law_of(law: Law, scores: &[f64], scale: &Scale) -> Vec<f64> {
    let exponents = exponents(scores, scale);
    match law {
        Law::Exponential => exponential_law(&exponents),
        Law::PermuteAndFlip => permute_and_flip_law(&exponents),
        Law::LaplaceNoisyMax => laplace_law(&exponents),
    }
}

#[test]
fn every_law_by_single_draws() {
    let mut entropy = seeded(41);
    for law in [Law::Exponential, Law::PermuteAndFlip, Law::LaplaceNoisyMax] {
        for (name, scores) in shapes() {
            let blocks = Blocks::new(View::of(&scores)).unwrap();
            let (right, wrong) = (law_of(law, &scores, &scale()), law_of(law, &scores, &wrong_scale()));
            let scale = scale();
            assert_law(&format!("{law:?}, {name}"), 150_000, &right, &wrong, || {
                draw(law, &blocks, &scale, &mut entropy).unwrap()
            });
        }
    }
}

#[test]
fn every_law_by_many_draws() {
    for law in [Law::Exponential, Law::PermuteAndFlip, Law::LaplaceNoisyMax] {
        for (name, scores) in shapes() {
            let (right, wrong) = (law_of(law, &scores, &scale()), law_of(law, &scores, &wrong_scale()));
            let mut draws = select_many(law, View::of(&scores), &scale(), 200_000).unwrap().into_iter();
            assert_law(&format!("{law:?}, {name}"), 200_000, &right, &wrong, || draws.next().unwrap());
        }
    }
}

#[test]
fn integers_and_floats_have_the_same_law() {
    let integers: Vec<i64> = (0..12).collect();
    for law in [Law::Exponential, Law::PermuteAndFlip] {
        let floats: Vec<f64> = (0..12).map(f64::from).collect();
        let mut draws = select_many(law, View::of(&integers), &scale(), 200_000).unwrap().into_iter();
        let (right, wrong) = (law_of(law, &floats, &scale()), law_of(law, &floats, &wrong_scale()));
        assert_law("integers", 200_000, &right, &wrong, || draws.next().unwrap());
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
    let (scores, laws, wrong_laws) = grouped(200); // 10,000 items in five stripes
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    let scale = scale();
    let mut entropy = seeded(42);
    for (law, part) in [(Law::Exponential, 0..50), (Law::PermuteAndFlip, 50..100)] {
        let (right, wrong) = (&laws[part.clone()], &wrong_laws[part]);
        assert_law(&format!("{law:?}, single"), 60_000, right, wrong, || {
            scores[draw(law, &blocks, &scale, &mut entropy).unwrap()] as usize
        });
        let mut draws = select_many(law, View::of(&scores), &scale, 100_000).unwrap().into_iter();
        assert_law(&format!("{law:?}, many"), 100_000, right, wrong, || scores[draws.next().unwrap()] as usize);
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
    for len in [2049, 4097] {
        let mut scores = vec![-1e6; len];
        (scores[700], scores[len - 1]) = (0.0, -0.21);
        let law = permute_and_flip_law(&exponents(&[0.0, -0.21], &scale));
        let blocks = Blocks::new(View::of(&scores)).unwrap();
        assert_law("lone", 60_000, &law, &[law[0] - 0.03, law[1] + 0.03], || {
            usize::from(draw(Law::PermuteAndFlip, &blocks, &scale, &mut entropy).unwrap() != 700)
        });
    }
}

#[test]
fn the_rest_of_the_time_has_the_law_too() {
    // With no thinned stage long enough to matter, draws come from the plain rest: force it by a stage of length 2^-40.
    let scores = [0.0, 1.0, 3.0];
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    let scale = scale();
    let mut plan = ArrivalPlan::new(&blocks, &scale).unwrap();
    plan.near.clear();
    plan.stages = vec![Stage { start: 0, end: 1, bits: 17 }];
    plan.far = ItemTable::new(&blocks, &scale, |weight| weight).unwrap();
    let mut entropy = seeded(43);
    let (right, wrong) =
        (law_of(Law::PermuteAndFlip, &scores, &scale), law_of(Law::PermuteAndFlip, &scores, &wrong_scale()));
    assert_law("rest", 100_000, &right, &wrong, || plan.draw(&blocks, &scale, &mut entropy).unwrap());
}

#[test]
fn extreme_scales_and_scores_draw() {
    let scores = [1.7e308, -1.7e308, 0.0, 1.7e308];
    for (epsilon, sensitivity) in [(1e300, 5e-324), (5e-324, 1e300), (1e300, 1e300), (5e-324, 5e-324), (1.0, 1e308)] {
        let scale = Scale::new(epsilon, sensitivity, 2).unwrap();
        for law in [Law::Exponential, Law::PermuteAndFlip, Law::LaplaceNoisyMax] {
            for _ in 0..20 {
                let pick = select(law, View::of(&scores), &scale).unwrap();
                // Where 1/b is huge only the best can win; ties at the top must both stay possible.
                assert!(pick < 4 && (epsilon / sensitivity < 1e300 || scores[pick] == 1.7e308));
            }
        }
    }
}

#[test]
fn tables_find_the_piece_of_every_position() {
    let mut entropy = seeded(44);
    for len in [1_usize, 2, 37, 5000] {
        let scores: Vec<f64> = (0..len).map(|_| entropy.below(400) as f64 / 7.0).collect();
        let blocks = Blocks::new(View::of(&scores)).unwrap();
        let table = ItemTable::new(&blocks, &scale(), |weight| if weight % 5 == 0 { 0 } else { weight }).unwrap();
        if table.total() == 0 {
            continue;
        }
        for _ in 0..2000 {
            let position = entropy.below(table.total());
            assert_eq!(table.item_at(position), table.ends.partition_point(|&end| end <= position));
        }
        for position in [0, table.total() - 1] {
            assert_eq!(table.item_at(position), table.ends.partition_point(|&end| end <= position));
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
