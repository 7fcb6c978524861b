//! The difference of two sides over its error as the values themselves tell it.
//!
//! Ranks say what noise does by chance; they do not say whether one side scatters more, or whether neighbours resemble
//! each other. So the means, of values clipped at 5 deviations, are compared with an error that has
//!
//! - the variance of the longer side, or what its last values before the split show if that is more;
//! - what the shorter side scatters beyond that, known only as well as its few values tell (Welch);
//! - what correlation does to a mean, and to the scatter within a stretch: n correlated values show a variance that is
//!   too small by 1 - f(n, r) / n, and count as n / f(n, r).
//!
//! Student's t with so many degrees of freedom (Satterthwaite) becomes a standard normal value as Wallace has it.
//!
//! Welch, "The Generalization of Student's Problem when Several Different Population Variances are Involved", Biometrika
//! 34 (1947); Wallace, "Bounds on Normal Approximations to Student's and the Chi-Square Distributions", Annals of
//! Mathematical Statistics 30 (1959).

use super::correlation::inflation;
use super::split::median;

/// Deviations from the middle of a side at which its values are clipped.
const FARTHEST: f64 = 5.0;

/// Values that the variance of the longer side counts as in that of the shorter one.
const OF_LONGER: f64 = 1.0;

/// Least share of the variance that correlated values are thought to show.
const LEAST_SHOWN: f64 = 0.1;

/// Returns what the difference of the means is worth, whichever side is higher. `scale` is the robust deviation of the
/// longer side.
pub(super) fn studentised(longer: &[f64], shorter: &[f64], scale: f64, correlation: f64) -> f64 {
    let f = |values: &[f64]| inflation(values.len(), correlation) / values.len() as f64;
    let reach = FARTHEST * scale;
    let level = median(longer);
    // Where most values are equal no deviation tells which of the others are far away.
    let equal = longer.iter().filter(|value| (*value - level).abs() <= 0.0).count();
    let clip = |value: f64, middle: f64| {
        if 2 * equal > longer.len() { value } else { value.clamp(middle - reach, middle + reach) }
    };
    let scatter = longer.iter().map(|value| (clip(*value, level) - level).powi(2)).sum::<f64>()
        / longer.len() as f64;
    let usual = (scale * scale).max(scatter) / (1.0 - f(longer)).max(LEAST_SHOWN);

    let middle = median(shorter);
    let count = shorter.len() as f64;
    let mean = shorter.iter().map(|value| clip(*value, middle)).sum::<f64>() / count;
    let sum = shorter.iter().map(|value| (clip(*value, middle) - mean).powi(2)).sum::<f64>();
    let own = ((OF_LONGER * usual + sum) / (OF_LONGER + count - 1.0)).max(usual);

    let error = own * f(shorter) + usual * f(longer);
    if error <= 0.0 {
        return f64::INFINITY;
    }
    let beyond = (own - usual) / own;
    let (n, m) = (1.0 / f(longer), 1.0 / f(shorter));
    let free = 1.0
        / ((1.0 - beyond).powi(2) / (n + m - 2.0).max(1.0) + beyond * beyond / (m - 1.0).max(1.0));
    normal_value((mean - level).powi(2) / error, free)
}

/// Returns the standard normal value that is as unlikely as the square of Student's t is.
pub(super) fn normal_value(square: f64, free: f64) -> f64 {
    (free * (square / free).ln_1p()).sqrt() * (8.0 * free + 1.0) / (8.0 * free + 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_t_becomes_the_normal_value_of_the_same_chance() {
        // Two-sided chances of 0.001: t of 5 and of 30 degrees, and the normal value.
        for (t, free) in [(6.869f64, 5.0), (3.646, 30.0)] {
            assert!((normal_value(t * t, free) - 3.291).abs() < 0.03, "{free} degrees");
        }
    }

    #[test]
    fn few_values_that_scatter_more_are_worth_less() {
        let longer: Vec<f64> = (0..60).map(|i| f64::from(i % 7) / 2.0).collect();
        let tight = studentised(&longer, &[9.0, 9.5, 8.5, 9.2], 1.0, 0.0);
        let wide = studentised(&longer, &[3.5, 15.0, 4.0, 13.5], 1.0, 0.0);
        assert!(tight > 8.0 && wide < 4.0, "{tight}, {wide}");
        assert!(studentised(&longer, &[9.0, 9.5, 8.5, 9.2], 1.0, 0.6) < tight);
        assert_eq!(studentised(&[1.0; 8], &[2.0; 4], 0.0, 0.2), f64::INFINITY);
    }
}
