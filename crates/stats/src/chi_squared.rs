//! The chi-squared distribution: what a sum of squares of normal values is, in units of their variance.
//!
//! Its cube root is nearly normal: Wilson and Hilferty, "The Distribution of Chi-Square", PNAS 17 (1931).

use crate::whole::place;
use crate::{Rng, normal};

/// Degrees of freedom up to which draws are sums of squares.
const FEW: f64 = 30.0;

/// Draws a value; `df` is at least 1.
pub(crate) fn draw(rng: &mut Rng, df: f64) -> f64 {
    if df < FEW {
        return (0..place(df)).map(|_| rng.normal().powi(2)).sum();
    }
    by_cube_root(rng.normal(), df)
}

/// Returns the quantile at `p`, within 2 % from 5 degrees of freedom on where `p` is from 5 to 95 %.
pub fn quantile(p: f64, df: f64) -> f64 {
    by_cube_root(normal::quantile(p), df)
}

fn by_cube_root(z: f64, df: f64) -> f64 {
    let spread = 2.0 / (9.0 * df);
    df * (1.0 - spread + spread.sqrt() * z).max(0.0).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_mean_and_the_variance_of_the_distribution() {
        let mut rng = Rng::new(4);
        for df in [1.0, 7.0, 29.0, 31.0, 400.0] {
            let draws: Vec<f64> = (0..4000).map(|_| draw(&mut rng, df)).collect();
            let mean = draws.iter().sum::<f64>() / 4000.0;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4000.0;
            assert!((mean / df - 1.0).abs() < 0.1, "{df}: {mean}");
            assert!((variance / (2.0 * df) - 1.0).abs() < 0.2, "{df}: {variance}");
        }
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (p, df, expected) in [(0.05, 5.0, 1.145), (0.95, 5.0, 11.07), (0.05, 38.0, 24.88)] {
            let found = quantile(p, df);
            assert!((found / expected - 1.0).abs() < 0.02, "{p} {df}: {found}");
        }
    }
}
