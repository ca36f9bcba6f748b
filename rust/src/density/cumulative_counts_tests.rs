use super::*;
use crate::entropy::testing::seeded;
use crate::testing::multisets;

/// The definition: every boundary, both limits.
fn plain_distance(cumulative: &CumulativeCounts, cells: &[usize]) -> u64 {
    let (n, k) = (cumulative.n as i64, cumulative.k as i64);
    let at = |boundary: usize| {
        let reached = n * cells.iter().filter(|&&cell| cell < boundary).count() as i64;
        let (above, below) = (k * cumulative.before[boundary] as i64, k * cumulative.through[boundary] as i64);
        (reached - above).max(below - reached)
    };
    (0..=cumulative.cells()).map(at).max().unwrap().max(0) as u64
}

fn landscapes() -> Vec<CumulativeCounts> {
    let mut entropy = seeded(61);
    let mut all = Vec::new();
    for _ in 0..120 {
        let cells = 1 + entropy.below(4);
        let k = 1 + entropy.below(5);
        let (mut before, mut through) = (Vec::new(), Vec::new());
        let mut sum = 0;
        for boundary in 0..=cells {
            before.push(sum);
            sum += entropy.below(3);
            through.push(sum);
            sum += if boundary < cells && entropy.below(2) == 0 { entropy.below(3) } else { 0 };
        }
        if sum > 0 {
            *through.last_mut().unwrap() = sum;
            all.push(CumulativeCounts::new(before, through, k).unwrap());
        }
    }
    all.push(CumulativeCounts::of_counts(&[0, 5, 0, 2], 3).unwrap());
    all.push(CumulativeCounts::of_counts(&[1; 4], 5).unwrap());
    all
}

#[test]
fn gates_let_through_exactly_what_is_near_enough() {
    for cumulative in landscapes() {
        let samples = multisets(cumulative.cells(), cumulative.k as usize);
        let distances: Vec<u64> = samples.iter().map(|cells| cumulative.distance(cells)).collect();
        assert_eq!(cumulative.least_distance(), distances.iter().copied().min().unwrap());
        for radius in cumulative.least_distance()..=cumulative.largest_distance() {
            let gates = cumulative.gates(radius).unwrap();
            assert!(gates.windows(2).all(|pair| pair[0].boundary < pair[1].boundary));
            assert!(gates.windows(2).all(|pair| pair[0].low <= pair[1].low && pair[0].high <= pair[1].high));
            assert!(gates.iter().all(|gate| gate.low <= gate.high));
            for (cells, &distance) in samples.iter().zip(&distances) {
                let passes = gates.iter().all(|gate| {
                    let count = cells.iter().filter(|&&cell| cell < gate.boundary).count() as u64;
                    gate.low <= count && count <= gate.high
                });
                assert_eq!(passes, distance <= radius);
                assert_eq!(distance, plain_distance(&cumulative, cells));
            }
        }
    }
}

#[test]
fn both_ways_to_find_the_gates_find_equivalent_ones() {
    // 4000 cells against 3 points: by searching. Every gate of the plain way is implied.
    let counts: Vec<u64> = (0..4000).map(|cell| u64::from(cell % 7 == 0)).collect();
    let cumulative = CumulativeCounts::of_counts(&counts, 3).unwrap();
    for radius in [cumulative.least_distance(), 50, 400, cumulative.largest_distance()] {
        let gates = cumulative.gates(radius).unwrap();
        assert!(gates.len() <= 8);
        for boundary in 0..=cumulative.cells() {
            let wanted = cumulative.gate(boundary, radius);
            let implied_low = gates.iter().filter(|gate| gate.boundary <= boundary).map(|gate| gate.low).max();
            let implied_high = gates.iter().filter(|gate| gate.boundary >= boundary).map(|gate| gate.high).min();
            assert_eq!((implied_low, implied_high), (Some(wanted.low), Some(wanted.high)), "{boundary} at {radius}");
        }
    }
}

#[test]
fn what_has_no_distance_is_refused() {
    assert_eq!(CumulativeCounts::of_counts(&[], 1).err(), Some(SelectError::NoCandidates));
    assert_eq!(CumulativeCounts::of_counts(&[0, 0], 1).err(), Some(SelectError::NoCandidates));
    assert_eq!(CumulativeCounts::of_counts(&[1, 0], 0).err(), Some(SelectError::InvalidCount));
    assert_eq!(CumulativeCounts::of_counts(&[u64::MAX, 1], 1).err(), Some(SelectError::Memory));
    assert_eq!(CumulativeCounts::of_counts(&[1 << 40], 1 << 40).err(), Some(SelectError::Memory));
}
