use super::*;
use crate::entropy::testing::seeded;
use crate::scores::score::Stored;
use crate::scores::score_view::View;

/// From one end to the other: every item once, with a bound of its weight, and every place found from any position in it.
fn walk<L: WeightLine>(round: &Round<'_, '_>, mut line: L, context: &str) {
    let mut entropy = seeded(61);
    let one = (1_u64 << line.bits()) as f64;
    let (mut start, mut seen, mut likely) = (0, vec![false; round.blocks.len()], Vec::new());
    while start < line.total() {
        let place = line.at(start);
        assert_eq!(place.end - start, place.weight, "{context}");
        assert!(place.end <= place.equals_end && place.equals_end <= line.total(), "{context}");
        let probability = libm::exp(-round.scale.exponent(round.top, round.blocks.get(place.index)));
        assert!(place.weight as f64 / one >= probability * (1.0 - 1e-12), "{context}");
        assert!(!std::mem::replace(&mut seen[place.index], true), "{context}");
        let own = line.own_weight(&place);
        assert!(own as f64 / one >= probability * (1.0 - 1e-12) && own <= place.weight, "{context}");
        let into = entropy.below(place.weight);
        assert_eq!(line.at(start + into), Segment { into, ..place }, "{context}");
        if place.equals_end > place.end {
            assert_eq!(line.at(place.equals_end - 1).weight, place.weight, "{context}");
        }
        if place.weight > 1 << (line.bits() - 1) {
            likely.push(place.index);
        }
        start = place.end;
    }
    assert!(seen.into_iter().all(|seen| seen), "{context}");
    let mut visited = Vec::new();
    line.visit_likely(|index| visited.push(index));
    likely.sort_unstable();
    visited.sort_unstable();
    assert_eq!(likely, visited, "{context}");
}

fn walk_both<T: Stored>(scores: &[T], scale: &Scale, context: &str) {
    let mut blocks = Blocks::new(View::of(scores)).unwrap();
    let round = Round::new(&blocks, scale);
    let mut line = BlockLine::new(&round);
    walk(&round, line.of(&round), context);
    walk(&round, &ItemTable::new(&round).unwrap(), context);
    let lower = round.from(scores[scores.len() / 2].into());
    walk(&lower, BlockLine::new(&lower).of(&lower), context);
    // A block without its best, and measured from the same top.
    let block = blocks.block_of(scores.len() / 3);
    let maximum = blocks.items(block).map(|index| blocks.get(index)).reduce(Score::or_larger);
    blocks.set_maximum(block, maximum);
    let round = Round::new(&blocks, scale);
    line.refresh(&round, block.stripe);
    walk(&round, line.of(&round), context);
}

#[test]
fn lines_hold_every_item_with_a_bound_of_its_weight() {
    let mut entropy = seeded(44);
    let scale = Scale::new(1.0, 1.0, 2).unwrap();
    for len in [1_usize, 2, 37, 257, 2049, 9000, 40_000] {
        let slope: Vec<f64> = (0..len).map(|_| entropy.below(400) as f64 / 7.0).collect();
        walk_both(&slope, &scale, "slope");
        walk_both(&vec![3_u8; len], &scale, "equal");
        // One stripe with the best, all others far below it: one bound a stripe.
        let far: Vec<f64> = (0..len).map(|index| if index == len / 2 { 1e6 } else { 0.0 }).collect();
        walk_both(&far, &scale, "far");
    }
}
