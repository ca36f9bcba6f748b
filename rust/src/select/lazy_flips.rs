//! Coins of items whose scores are asked for one by one: each item has one lazy uniform V, which may be compared with more
//! than one probability, and the order in which items are asked is random.
//!
//! Proof: `proofs/early_stop.md`.

use zeroize::Zeroize;

use crate::entropy::Entropy;
use crate::error::{SelectError, reserved};
use crate::exact::coin::LazyUniform;
use crate::exact::decision::is_below_exponential;
use crate::exact::rational::Rational;
use crate::scores::scale::Scale;

/// The uniforms of the items that were asked so far.
pub struct LazyFlips {
    scale: Scale,
    uniforms: Vec<Option<LazyUniform>>,
}

impl LazyFlips {
    /// For `size` items.
    ///
    /// # Errors
    /// `Memory`.
    pub fn new(size: usize, scale: Scale) -> Result<Self, SelectError> {
        let mut uniforms = reserved(size)?;
        uniforms.resize(size, None);
        Ok(Self { scale, uniforms })
    }

    /// A uniformly random order of the items (Fisher and Yates).
    ///
    /// # Errors
    /// `Memory`.
    pub fn order(&self, entropy: &mut Entropy) -> Result<Vec<usize>, SelectError> {
        let mut order = reserved(self.uniforms.len())?;
        order.extend(0..self.uniforms.len());
        for last in (1..order.len()).rev() {
            order.swap(last, entropy.below(last as u64 + 1) as usize);
        }
        Ok(order)
    }

    /// Whether the uniform of `item`, which is there, is below exp(-gap / b).
    pub fn is_head(&mut self, item: usize, gap: &Rational, entropy: &mut Entropy) -> bool {
        let uniform = self.uniforms[item].get_or_insert_with(|| LazyUniform::draw(entropy));
        is_below_exponential(uniform, &Rational::ONE, &self.scale.exact_exponent_of_gap(gap), entropy)
    }

    pub fn len(&self) -> usize {
        self.uniforms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.uniforms.is_empty()
    }
}

impl Drop for LazyFlips {
    fn drop(&mut self) {
        self.uniforms.iter_mut().flatten().for_each(Zeroize::zeroize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::testing::assert_law;

    fn gap(whole: u64) -> Rational {
        whole.into()
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut entropy = seeded(11);
        let flips = LazyFlips::new(3, Scale::new(1.0, 1.0, 1).unwrap()).unwrap();
        let all = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let wrong = [0.2, 0.16, 0.16, 0.16, 0.16, 0.16];
        assert_law("orders", 60_000, &[1.0 / 6.0; 6], &wrong, || {
            let order = flips.order(&mut entropy).unwrap();
            all.iter().position(|each| each[..] == order[..]).unwrap()
        });
    }

    #[test]
    fn an_item_is_compared_by_the_same_number_again() {
        // exp(-1) is 0.3679: the first word, a half, is above it and below exp(-1/2) = 0.6065.
        let mut entropy = Entropy::scripted(&[1 << 63, 1 << 63]);
        let mut flips = LazyFlips::new(2, Scale::new(1.0, 2.0, 1).unwrap()).unwrap();
        assert!(!flips.is_head(1, &gap(2), &mut entropy));
        assert!(flips.is_head(1, &gap(1), &mut entropy));
        assert_eq!(entropy.taken(), 1, "one uniform for both");
        assert!(flips.is_head(0, &gap(0), &mut entropy), "a gap of 0 is certain");
        assert_eq!(entropy.taken(), 2);
    }
}
