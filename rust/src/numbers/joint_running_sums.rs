//! Sums over all later gaps of a message times exp(-cost), where the cost grows linearly to both sides of the gap that
//! has the ranks wanted: running sums, so that all of them together take as long as there are gaps.

use crate::error::SelectError;
use crate::error::reserved;
use crate::exact::extended_float::Extended;
use crate::numbers::cuts::Cuts;
use crate::numbers::joint_costs::RankCosts;

/// For each gap, the sum over all later ones, which have these `messages` of answer `index`.
pub fn sums_after(
    messages: &[Extended],
    cuts: &Cuts<'_>,
    index: usize,
    costs: &RankCosts<'_>,
) -> Result<Vec<Extended>, SelectError> {
    let count = messages.len();
    let power = |low: usize, high: usize| costs.power(cuts.rank(high) - cuts.rank(low));
    // Of each gap, from here on, with the costs of ranks too many.
    let mut from_here = reserved(count)?;
    from_here.extend_from_slice(messages);
    for gap in (1..count).rev() {
        from_here[gap - 1] = messages[gap - 1].plus(power(gap - 1, gap).times(from_here[gap]));
    }
    // Gaps before `beyond` have no more ranks than wanted. Each of those before `middle` knows the sum from there to the
    // middle, with the costs of ranks missing there; the others are in one sum, with the costs of those missing at its end.
    let mut to_middle: Vec<Extended> = reserved(count)?;
    to_middle.resize(count, Extended::ZERO);
    let (mut from_middle, mut middle, mut beyond) = (Extended::ZERO, 0, 0);
    let mut sums = reserved(count)?;
    for gap in 0..count {
        let wanted = cuts.rank(gap).saturating_add(costs.whole(index));
        while beyond < count && cuts.rank(beyond) <= wanted {
            from_middle = messages[beyond].plus(power(beyond.saturating_sub(1), beyond).times(from_middle));
            beyond += 1;
        }
        let mut sum = Extended::ZERO;
        if beyond < count {
            sum = costs.excess(index, cuts.rank(beyond) - wanted - 1).times(from_here[beyond]);
        }
        if gap + 1 < beyond {
            let last = beyond - 1;
            if gap + 1 >= middle {
                let mut so_far = Extended::ZERO;
                for at in (gap + 1..beyond).rev() {
                    so_far = messages[at].times(power(at, last)).plus(so_far);
                    to_middle[at] = so_far;
                }
                (from_middle, middle) = (Extended::ZERO, beyond);
            }
            let missing = costs.missing(index, wanted - cuts.rank(last));
            let window = from_middle.plus(power(middle - 1, last).times(to_middle[gap + 1]));
            sum = sum.plus(missing.times(window));
        }
        sums.push(sum);
    }
    Ok(sums)
}
