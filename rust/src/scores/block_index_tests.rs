use super::*;
use crate::entropy::testing::seeded;
use crate::scores::score::Kind;

fn check_index<T: Stored + std::fmt::Debug>(scores: &[T]) {
    for level in Instructions::available() {
        for (is_few, threads) in [(true, 1), (true, 3), (false, 1), (false, 3)] {
            let blocks = Blocks::of_few_or_many(View::of(scores), is_few, threads, level).unwrap();
            let mut seen = vec![0; scores.len()];
            for stripe in 0..blocks.stripes() {
                for lane in 0..blocks.lanes() {
                    let maximum = blocks.block_maximum(stripe, lane);
                    let block = blocks.block(stripe, lane);
                    let items: Vec<usize> = blocks.items(block).collect();
                    assert_eq!(items.len(), block.len);
                    for &item in &items {
                        seen[item] += 1;
                        assert_eq!(blocks.block_of(item), block);
                        assert!(scores[item].score() <= maximum);
                    }
                    assert!(items.is_empty() || items.iter().any(|&item| scores[item].score() == maximum));
                    assert!(maximum <= blocks.stripe_maximum(stripe));
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "every item lies in exactly one block");
            assert!(
                scores.iter().all(|&score| score.score() <= blocks.top())
                    && scores.iter().any(|&score| score.score() == blocks.top())
            );
        }
    }
}

macro_rules! indexes {
    ($($name:ident: $type:ty),*) => {$(
        #[test]
        fn $name() {
            let mut entropy = seeded(2);
            let stripe = <$type as Scanned>::LANES * rows(size_of::<$type>());
            let lens = [1, 33, stripe + 1, 2, 31, 32, 255, 257, 1000, stripe - 1, stripe, 3 * stripe + 777];
            // An interpreter takes a thousand times as long.
            for &len in if cfg!(miri) { &lens[..3] } else { &lens } {
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
    let (thirds, backwards) = unsafe {
        (
            View::new(scores.as_ptr().cast(), Kind::I32, 10_000, 12),
            View::new(scores.as_ptr().add(29_999).cast(), Kind::I32, 30_000, -4),
        )
    };
    let blocks = Blocks::new(thirds).unwrap();
    assert_eq!(blocks.top(), (*scores.iter().step_by(3).max().unwrap()).into());
    assert_eq!(blocks.get(17), scores[51].into());
    let blocks = Blocks::new(backwards).unwrap();
    assert_eq!(blocks.top(), (*scores.iter().max().unwrap()).into());
    assert_eq!(blocks.get(0), scores[29_999].into());
}

/// Every position of a stripe, of a short last row and of the rest, in memory of every kind, at every level.
macro_rules! poison_is_found {
    ($type:ty) => {{
        let stripe = <$type as Scanned>::LANES * ROWS_OF_FEW;
        let len = stripe + 2 * <$type as Scanned>::LANES + 5;
        let size = size_of::<$type>();
        // Contiguous, one byte off its alignment, every other value, backwards.
        for (offset, stride) in [(0, 1_isize), (1, 1), (0, 2), (0, -1)] {
            let mut bytes = vec![0_u8; 2 * size * len + 1];
            let first = if stride < 0 { (len - 1) * size } else { offset };
            let place = |index: usize| (first as isize + index as isize * stride * size as isize) as usize;
            for index in 0..len {
                bytes[place(index)..][..size].copy_from_slice(&<$type>::MAX.to_ne_bytes());
            }
            for index in 0..len {
                let poison = [<$type>::NAN, <$type>::INFINITY, <$type>::NEG_INFINITY][index % 3];
                bytes[place(index)..][..size].copy_from_slice(&poison.to_ne_bytes());
                for level in Instructions::available() {
                    // SAFETY: `len` values from there on lie within the bytes.
                    let view =
                        unsafe { View::new(bytes[first..].as_ptr(), <$type>::KIND, len, stride * size as isize) };
                    let found = Blocks::with_threads(view, 1, level).err();
                    assert_eq!(found, Some(SelectError::NotFinite), "{poison} at {index}, stride {stride}, {level:?}");
                }
                bytes[place(index)..][..size].copy_from_slice(&(-<$type>::MAX).to_ne_bytes());
            }
            // SAFETY: as above.
            let view = unsafe { View::new(bytes[first..].as_ptr(), <$type>::KIND, len, stride * size as isize) };
            assert!(Instructions::available().all(|level| Blocks::with_threads(view, 1, level).is_ok()));
        }
    }};
}

#[test]
fn no_position_hides_a_value_that_is_not_finite() {
    poison_is_found!(f64);
    poison_is_found!(f32);
    for position in [0, 99_999, 200_000, 399_999] {
        let mut scores = vec![1.0; 400_000];
        scores[position] = f64::NAN;
        assert_eq!(
            Blocks::with_threads(View::of(&scores), 2, Instructions::detect()).err(),
            Some(SelectError::NotFinite)
        );
    }
    assert_eq!(Blocks::new(View::of::<f64>(&[])).err(), Some(SelectError::NoCandidates));
    assert!(Blocks::new(View::of(&[f64::MAX, -f64::MAX, 0.0, -0.0, 5e-324])).is_ok());
}

#[test]
fn weights_of_groups_are_the_sums_over_their_items() {
    let mut entropy = seeded(4);
    let scale = Scale::new(1.0, 1.0, 2).unwrap();
    for len in [1_usize, 20, 1000, 2048, 7000] {
        let scores: Vec<f64> = (0..len).map(|_| entropy.below(300) as f64).collect();
        for level in Instructions::available() {
            let blocks = Blocks::with_threads(View::of(&scores), 1, level).unwrap();
            let (top, weights, stripes) = (blocks.top(), WeightBounds::for_count(len), blocks.stripes());
            let mut groups = vec![[0; GROUPS]; stripes];
            blocks.group_weights(top, &scale, weights, 0, &vec![0; stripes], &mut groups);
            for (stripe, groups) in groups.into_iter().enumerate() {
                let mut sums = [0; GROUPS];
                for lane in 0..blocks.lanes() {
                    let bound = weights.of(&scale, top, blocks.block_maximum(stripe, lane));
                    sums[lane % GROUPS] += bound * blocks.block(stripe, lane).len as u64;
                }
                assert_eq!(groups, sums);
            }
        }
    }
}

/// `make foreign` says which one is the best of a processor, and shows what this prints.
#[test]
fn levels_of_this_processor() {
    let levels: Vec<_> = Instructions::available().collect();
    println!("instructions: {levels:?}");
    assert_eq!(levels.last(), Some(&Instructions::Baseline));
    if let Ok(best) = std::env::var("BEST_LEVEL") {
        assert_eq!(format!("{:?}", levels[0]), best);
    }
}
