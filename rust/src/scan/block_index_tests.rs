use super::*;
use crate::entropy::Entropy;
use crate::entropy::testing::seeded;

fn check_index<T: Indexable + std::fmt::Debug>(scores: &[T]) {
    for level in Level::available() {
        for threads in [1, 3] {
            let blocks = Blocks::with_threads(View::of(scores), threads, level).unwrap();
            let mut seen = vec![0; scores.len()];
            for stripe in 0..blocks.stripes() {
                for (lane, &maximum) in blocks.block_maxima(stripe).iter().enumerate() {
                    let block = blocks.block(stripe, lane);
                    let items: Vec<usize> = blocks.items(block).collect();
                    assert_eq!(items.len(), block.len);
                    for &item in &items {
                        seen[item] += 1;
                        assert_eq!(blocks.block_of(item), block);
                        assert!(scores[item] <= maximum);
                    }
                    assert!(items.is_empty() || items.iter().any(|&item| scores[item] == maximum));
                    assert!(maximum <= blocks.stripe_maximum(stripe));
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "every item lies in exactly one block");
            assert!(scores.iter().all(|&score| score <= blocks.top()) && scores.contains(&blocks.top()));
        }
    }
}

macro_rules! indexes {
    ($($name:ident: $type:ty),*) => {$(
        #[test]
        fn $name() {
            let mut entropy = seeded(2);
            let stripe = <$type as Indexable>::LANES * <$type as Indexable>::ROWS;
            for len in [1, 2, 31, 32, 33, 255, 257, 1000, stripe - 1, stripe, stripe + 1, 3 * stripe + 777] {
                let scores: Vec<$type> = (0..len).map(|_| (entropy.next_u64() >> 32) as i32 as $type).collect();
                check_index(&scores);
            }
            check_index(&[<$type>::MAX; 100]);
            check_index(&[<$type>::MIN; 100]);
        }
    )*};
}

indexes!(index_of_f64: f64, index_of_f32: f32, index_of_i64: i64, index_of_u64: u64, index_of_i32: i32,
         index_of_u32: u32, index_of_i16: i16, index_of_u16: u16, index_of_i8: i8, index_of_u8: u8);

#[test]
fn strides_of_either_sign_are_read_in_place() {
    let mut entropy = seeded(3);
    let scores: Vec<i32> = (0..30_000).map(|_| entropy.next_u32() as i32).collect();
    // SAFETY: every third value, and all of them backwards, lie within the vector.
    let (thirds, backwards) =
        unsafe { (View::new(scores.as_ptr(), 10_000, 12), View::new(scores.as_ptr().add(29_999), 30_000, -4)) };
    let blocks = Blocks::new(thirds).unwrap();
    assert_eq!(blocks.top(), *scores.iter().step_by(3).max().unwrap());
    assert_eq!(blocks.get(17), scores[51]);
    let blocks = Blocks::new(backwards).unwrap();
    assert_eq!(blocks.top(), *scores.iter().max().unwrap());
    assert_eq!(blocks.get(0), scores[29_999]);
}

#[test]
fn no_position_hides_a_value_that_is_not_finite() {
    for len in [1_usize, 7, 33, 2048, 2049, 5000] {
        for position in [0, len / 2, len - 1] {
            for poison in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut scores = vec![1.0; len];
                scores[position] = poison;
                for level in Level::available() {
                    for threads in [1, 2] {
                        let result = Blocks::with_threads(View::of(&scores), threads, level).err();
                        assert_eq!(result, Some(SelectError::NotFinite), "{poison} at {position} of {len}");
                    }
                }
            }
        }
    }
    assert_eq!(Blocks::new(View::<f64>::of(&[])).err(), Some(SelectError::NoCandidates));
    assert!(Blocks::new(View::of(&[f64::MAX, -f64::MAX, 0.0, -0.0, 5e-324])).is_ok());
}

#[test]
fn stripe_weights_are_the_sum_over_their_items() {
    let mut entropy = seeded(4);
    let scale = Scale::new(1.0, 1.0, 2).unwrap();
    for len in [1_usize, 20, 1000, 2048, 7000] {
        let scores: Vec<f64> = (0..len).map(|_| entropy.below(300) as f64).collect();
        for level in Level::available() {
            let blocks = Blocks::with_threads(View::of(&scores), 1, level).unwrap();
            let weights = WeightBounds::for_count(len);
            for stripe in 0..blocks.stripes() {
                let mut bounds = [0; MOST_LANES];
                let bounds = blocks.block_weights(&scale, weights, stripe, &mut bounds);
                let sum: u64 =
                    (0..blocks.lanes()).map(|lane| bounds[lane] * blocks.block(stripe, lane).len as u64).sum();
                assert_eq!(blocks.stripe_weight(&scale, weights, stripe), sum);
            }
        }
    }
}
