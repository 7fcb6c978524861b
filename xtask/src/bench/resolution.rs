//! The smallest slowdown that an estimator resolves: found with 80 % power when the critical value
//! is the one that gives 5 % false alarms on identical programs.

use becalm_stats::Sample;
use becalm_stats::quantile::quantile;

/// What an estimator can resolve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Resolution {
    /// Smallest relative slowdown found with 80 % power, as a share.
    pub(super) smallest: f64,
    /// Median size of the error, on the log scale.
    pub(super) median_error: f64,
}

/// Computes it from the log ratios that an estimator gave for identical programs; `None` without
/// any.
///
/// Both signs of every error are used, because the names of two identical programs can be swapped.
pub(super) fn resolution(log_ratios: &[f64]) -> Option<Resolution> {
    let both: Vec<f64> = log_ratios.iter().flat_map(|&error| [error, -error]).collect();
    let sizes = Sample::new(both.iter().map(|error| error.abs()).collect()).ok()?;
    let both = Sample::new(both).ok()?;
    let critical = quantile(&sizes, 0.95);
    Some(Resolution {
        smallest: (critical - quantile(&both, 0.2)).exp_m1(),
        median_error: quantile(&sizes, 0.5),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_between_plus_and_minus_one_percent_resolve_a_slowdown_of_about_their_size() {
        // Uniform: critical value 0.95 %, 80 % of the errors lie above -0.6 %.
        let errors: Vec<f64> = (-1000..=1000).map(|i| f64::from(i) * 1e-5).collect();
        let found = resolution(&errors).unwrap();
        assert!((found.smallest - (0.0095_f64 + 0.006).exp_m1()).abs() < 1e-4, "{found:?}");
        assert!((found.median_error - 0.005).abs() < 1e-4, "{found:?}");
        assert_eq!(resolution(&[]), None);
    }
}
