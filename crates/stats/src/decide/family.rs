//! Several comparisons decided together at one look.
//!
//! Holm's step-down levels (Holm 1979): the smallest p value is held against the level of
//! `alpha / m`, the next against that of `alpha / (m - 1)`, until one fails, whose level then serves
//! for all that follow. What the level of `alpha / k` is at this look, the error spending says.

/// Returns the level of each comparison's interval, in the order of `p_values`. `level` returns the
/// two-sided level at which one of so many comparisons is tested.
pub fn levels(p_values: &[f64], mut level: impl FnMut(usize) -> f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut levels = vec![0.0; p_values.len()];
    let mut current = 0.0;
    let mut rejecting = true;
    for (step, index) in order.into_iter().enumerate() {
        if rejecting {
            current = level(p_values.len() - step);
            rejecting = p_values[index] <= current;
        }
        levels[index] = current;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_down_until_one_fails() {
        let of = |p: &[f64]| levels(p, |k| 0.75 / k as f64);
        assert_eq!(of(&[0.9, 0.1, 0.8]), [0.375, 0.25, 0.375]);
        assert_eq!(of(&[0.3, 0.1, 0.8]), [0.375, 0.25, 0.75]);
        assert_eq!(of(&[0.3, 0.9, 0.8]), [0.25, 0.25, 0.25]);
        assert!(of(&[]).is_empty());
    }
}
