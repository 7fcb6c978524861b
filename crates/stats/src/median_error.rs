//! Standard error of the median, by Maritz and Jarrett.
//!
//! "A Note on Estimating the Variance of the Sample Median", Journal of the American Statistical Association
//! 73 (1978). With `W_i = I(i/n; a, a) - I((i-1)/n; a, a)`, a = (n + 1) / 2, I the regularised incomplete beta
//! function, and `C_k` the sum of `W_i x_(i)^k`, it is `sqrt(C_2 - C_1^2)`: the exact standard deviation of the median
//! of samples that are drawn from the sample. No assumption beside independence; a value far away from all
//! others has next to no weight, unlike in the standard deviation. Of two values it is half their distance,
//! as for their mean.

use statrs::function::beta::beta_reg;

use crate::Sample;

/// Order statistics further from the middle than so many standard deviations of the weights have none.
const REACH: f64 = 9.0;

/// Returns the standard error of the median, in the unit of the values; `None` of a single value.
pub fn median_error(sample: &Sample) -> Option<f64> {
    let sorted = sample.sorted();
    if sorted.len() < 2 {
        return None;
    }
    let n = sorted.len() as f64;
    let a = f64::midpoint(n, 1.0);
    let reach = (REACH / (2.0 * n.sqrt()) + 1.0 / n).min(0.5);
    // Values far from zero would be lost in their squares.
    let origin = sorted[sorted.len() / 2];
    let (mut first, mut second, mut below) = (0.0, 0.0, 0.0);
    for (index, value) in sorted.iter().enumerate() {
        let share = (index + 1) as f64 / n;
        if share < 0.5 - reach {
            continue;
        }
        let up_to = if share >= 1.0 { 1.0 } else { beta_reg(a, a, share) };
        let weight = up_to - below;
        below = up_to;
        first += weight * (value - origin);
        second += weight * (value - origin).powi(2);
        if share > 0.5 + reach {
            break;
        }
    }
    Some((second - first * first).max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn of(values: &[f64]) -> f64 {
        median_error(&Sample::new(values.to_vec()).unwrap()).unwrap()
    }

    #[test]
    fn of_two_values_it_is_half_their_distance() {
        assert!((of(&[1.0, 2.0]) - 0.5).abs() < 1e-12);
        assert_eq!(median_error(&Sample::new(vec![1.0]).unwrap()), None);
    }

    #[test]
    fn equal_values_have_none_and_far_ones_no_say() {
        assert_eq!(of(&[1e9; 7]), 0.0);
        let near = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0];
        let mut far = near;
        far[10] = 20.0;
        assert!(of(&far) < of(&near) * 1.01, "{} {}", of(&far), of(&near));
    }

    #[test]
    fn it_is_the_spread_of_medians() {
        // Of normal values the median's is sqrt(pi / 2) / sqrt(n), and 5 % less at 25 values.
        let mut rng = Rng::new(5);
        for (n, expected) in [(25, 0.2475), (400, 0.0626)] {
            let mean = (0..400).map(|_| of(&(0..n).map(|_| rng.normal()).collect::<Vec<_>>()));
            let mean = mean.sum::<f64>() / 400.0;
            assert!((mean / expected - 1.0).abs() < 0.08, "{n}: {mean}");
        }
    }

    #[test]
    fn many_values_cost_no_more_than_those_in_the_middle() {
        let mut rng = Rng::new(6);
        let values: Vec<f64> = (0..200_000).map(|_| rng.normal()).collect();
        let expected = (std::f64::consts::PI / 2.0 / 200_000.0).sqrt();
        assert!((of(&values) / expected - 1.0).abs() < 0.15);
    }
}
