//! Whether values that scatter more explain what is found as well as another level does.
//!
//! Ranks say what noise does by chance; they do not say whether one side scatters more. A host that gets noisier at a
//! place makes a few values there that are far away, on one side by chance. So the shorter side is thought to scatter as
//! the longer one, or from 1.4 to 8 times as much, and
//!
//! w = 2 log(sum of weight x likelihood around a level of its own / sum of weight x likelihood around that of the longer
//! side),
//!
//! of normal values with the deviation of the longer side, or of its values next to the split if that is more, clipped at
//! 5 deviations. Where more scatter is out of the question w is the square of the difference of the means over its error.
//!
//! Welch, "The Generalization of Student's Problem when Several Different Population Variances are Involved", Biometrika
//! 34 (1947), has the problem.

use super::log_sum::log_sum;

/// Deviations from the middle of a side at which its values are clipped.
const FARTHEST: f64 = 5.0;

/// How many times as much the shorter side may scatter, and what that weighs.
const TIMES: [(f64, f64); 6] =
    [(1.0, 1.0), (1.4, 0.14), (2.0, 0.25), (3.0, 0.18), (5.0, 0.18), (8.0, 0.09)];

/// Returns the root of w, whichever side is higher. `scale` is the robust deviation of the longer side, `level` its median;
/// the shorter side comes with its own; where most of its values are equal (`is_coarse`) its mean and its deviation count instead.
pub(super) fn beyond_scatter(
    longer: &[f64],
    level: f64,
    (shorter, middle): (&[f64], f64),
    scale: f64,
    is_coarse: bool,
) -> f64 {
    let (n, m) = (longer.len() as f64, shorter.len() as f64);
    let (level, scale, reach) = if is_coarse {
        let level = longer.iter().sum::<f64>() / n;
        let squares = longer.iter().map(|value| (value - level).powi(2)).sum::<f64>();
        (level, (squares / n).sqrt(), f64::INFINITY)
    } else {
        (level, scale, FARTHEST * scale)
    };
    if scale <= 0.0 {
        return f64::INFINITY;
    }
    let clip = |value: f64| value.clamp(middle - reach, middle + reach);
    let mean = shorter.iter().map(|value| clip(*value)).sum::<f64>() / m;
    let square = scale * scale;
    let within = shorter.iter().map(|value| (clip(*value) - mean).powi(2)).sum::<f64>() / square;
    let around = within + m * n / (n + m) * (mean - level).powi(2) / square;
    let log =
        |squares: f64| {
            log_sum(&TIMES.map(|(times, weight)| {
                weight.ln() - m * times.ln() - 0.5 * squares / (times * times)
            }))
        };
    (2.0 * (log(within) - log(around))).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_that_scatter_more_are_worth_less() {
        let longer: Vec<f64> = (0..60).map(|i| f64::from(i % 7) / 2.0).collect();
        let tight = beyond_scatter(&longer, 1.5, (&[9.0, 9.5, 8.5, 9.2], 9.1), 1.0, false);
        let wide = beyond_scatter(&longer, 1.5, (&[3.5, 15.0, 4.0, 13.5], 8.75), 1.0, false);
        assert!(tight > 3.8 && wide < 3.0, "{tight}, {wide}");
        assert_eq!(beyond_scatter(&[1.0; 8], 1.0, (&[2.0; 4], 2.0), 0.0, true), f64::INFINITY);
    }

    #[test]
    fn a_small_step_of_many_values_is_worth_what_it_is_over_its_error() {
        let longer: Vec<f64> = (0..100).map(|i| f64::from(i % 9) / 2.6 - 1.54).collect();
        let shorter: Vec<f64> = longer.iter().take(45).map(|value| value + 1.0).collect();
        let w = beyond_scatter(&longer, 0.0, (&shorter, 1.0), 1.0, false);
        let z = 1.0 / (1.0 / 100.0 + 1.0 / 45.0f64).sqrt();
        assert!((w - z).abs() < 0.7, "{w} is not {z}");
    }
}
