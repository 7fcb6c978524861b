//! What the random order alone can vouch for when rounds are few.
//!
//! If the programs are equal, a round's log ratio would have had the other sign with the other
//! order, so every pattern of signs is equally likely and the share of patterns with a sum as
//! extreme is a p value that needs no assumption about the noise (Fisher 1935, *The Design of
//! Experiments*, section 21). A fit that sets outliers aside can claim more than that: with two
//! modes and 8 rounds it took 3 or 4 of the 16 runs for outliers and rejected 4 % of equal programs
//! however strict the level was.

use crate::center::median_of;

/// Ratios further out than this many median absolute ratios count no more than that.
const CLIP: f64 = 3.0;

/// Returns the two-sided p value of all patterns of signs of at most 30 ratios, of which there is
/// at least one.
pub(super) fn p(ratios: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = ratios.iter().map(|ratio| ratio.abs()).collect();
    let clip = CLIP * median_of(&mut sizes);
    let values: Vec<f64> = ratios.iter().map(|ratio| ratio.clamp(-clip, clip)).collect();
    let mut sum: f64 = values.iter().sum();
    // A pattern with the same sum must count although its terms were added in another order.
    let limit = sum.abs() - 1e-9 * values.iter().map(|value| value.abs()).sum::<f64>();
    let mut flipped = vec![false; values.len()];
    let patterns = 1_u32 << (values.len() - 1);
    let mut extreme = u32::from(sum.abs() >= limit);
    for pattern in 1..patterns {
        // Gray code: one sign changes from pattern to pattern. The last never does, since a pattern
        // and its mirror image have the same absolute sum.
        let index = pattern.trailing_zeros() as usize;
        let change = 2.0 * values[index];
        sum += if flipped[index] { change } else { -change };
        flipped[index] ^= true;
        extreme += u32::from(sum.abs() >= limit);
    }
    f64::from(extreme) / f64::from(patterns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn it_agrees_with_the_plain_test_of_the_mean() {
        let mut rng = Rng::new(1);
        for n in 5..12 {
            let ratios: Vec<f64> = (0..n).map(|_| 0.7 + rng.uniform() - 0.5).collect();
            let sum = |pattern: u32| -> f64 {
                let turned = |i: usize| if pattern >> i & 1 == 1 { -1.0 } else { 1.0 };
                ratios.iter().enumerate().map(|(i, ratio)| turned(i) * ratio).sum()
            };
            let patterns = 1_u32 << n;
            let limit = sum(0).abs() * (1.0 - 1e-9);
            let extreme = (0..patterns).filter(|&pattern| sum(pattern).abs() >= limit).count();
            assert_eq!(p(&ratios), extreme as f64 / f64::from(patterns));
        }
    }

    #[test]
    fn when_all_agree_nothing_is_more_extreme() {
        assert_eq!(p(&[0.3; 8]), 1.0 / 128.0);
        assert_eq!(p(&[0.0; 8]), 1.0);
    }
}
