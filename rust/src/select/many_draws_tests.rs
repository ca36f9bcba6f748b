use super::*;
use crate::entropy::testing::seeded;
use crate::scores::score::Kind;
use crate::testing::{LAWS, assert_law, law_of, scale, wrong_scale};

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
fn every_law_by_single_and_many_draws_of_floats_and_integers() {
    let mut entropy = seeded(41);
    for (law, (name, scores)) in LAWS.into_iter().flat_map(|law| shapes().into_iter().map(move |shape| (law, shape))) {
        let name = format!("{law:?}, {name}");
        let (right, wrong) = (law_of(law, &scores, &scale()), law_of(law, &scores, &wrong_scale()));
        let (blocks, scale) = (Blocks::new(View::of(&scores)).unwrap(), scale());
        assert_law(&name, 150_000, &right, &wrong, || draw(law, &Round::new(&blocks, &scale), &mut entropy).unwrap());
        assert_law(&name, 50_000, &right, &wrong, || select(law, View::of(&scores), &scale).unwrap());
        let integers: Vec<i64> = scores.iter().map(|&score| (score * 100.0).round() as i64).collect();
        let hundredths = Scale::new(0.01, 1.0, 2).unwrap();
        for draws in [
            select_many(law, View::of(&scores), &scale, 60_000).unwrap(),
            select_many(law, View::of(&integers), &hundredths, 60_000).unwrap(),
        ] {
            let mut draws = draws.into_iter();
            assert_law(&name, 60_000, &right, &wrong, || draws.next().unwrap());
        }
    }
}

#[test]
fn draws_from_scores_that_were_changed_after_the_index_end() {
    // Raised ones may stand where any will do.
    for (law, later) in LAWS.into_iter().map(|law| (law, -1e6)).chain([(Law::LaplaceNoisyMax, 1e6)]) {
        let mut scores: Vec<f64> = (0..5000).map(|index| f64::from(index % 90)).collect();
        let memory = scores.as_mut_ptr();
        // SAFETY: as many doubles, alive and not moved to the end of the test.
        let view = unsafe { View::new(memory.cast_const().cast(), Kind::F64, 5000, 8) };
        let (blocks, scale) = (Blocks::new(view).unwrap(), Scale::new(1.0, 1.0, 1).unwrap());
        let round = Round::new(&blocks, &scale);
        let (line, mut entropy) = (BlockLine::new(&round), seeded(44));
        // One draw from a fresh index, and one of many.
        let mut draws = || match law {
            Law::LaplaceNoisyMax => [draw(law, &round, &mut entropy), draw(law, &round, &mut entropy)],
            _ => [draw(law, &round, &mut entropy), draw_from(law, &round, &mut line.of(&round), &mut entropy)],
        };
        assert!(draws().iter().all(Result::is_ok));
        // SAFETY: as above; no reference to them is left.
        (0..5000).for_each(|index| unsafe { memory.add(index).write(later) });
        let ends: Vec<_> = (0..40).flat_map(|_| draws()).collect();
        assert!(ends.contains(&Err(SelectError::Changed)) || later > 0.0, "{law:?}");
        assert!(later > 0.0 || law == Law::LaplaceNoisyMax || ends.iter().all(Result::is_err), "{law:?}");
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
