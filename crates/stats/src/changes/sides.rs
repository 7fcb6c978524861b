//! Both sides of a change, beside their medians: means, and how many values are in each of two modes.
//!
//! A change need not move the middle: where a program gets a second, slower mode that it is in at 40 % of its runs, the
//! median stays and the mean does not. So both are reported, and where a side has two modes
//! ([`crate::bimodality`]) the share of the values of each side that are in the upper one.

use super::split::median;
use crate::bimodality::{Bimodality, FEWEST_VALUES};
use crate::{Modes, Sample};

/// Sarle's coefficient, (skewness^2 + 1) / kurtosis, below which no modes are looked for: looking takes a thousand times as
/// long as this. It is 1/3 for normal values, 5/9 for equally likely ones and 1 for two values.
const WORTH_LOOKING: f64 = 0.42;

/// Values of both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sides {
    /// Median of the values before, and after.
    pub medians: [f64; 2],
    /// Their means.
    pub means: [f64; 2],
    /// The modes, if a side has two.
    pub modes: Option<SideModes>,
}

/// Two modes, and who is in which.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideModes {
    /// Centre of the lower mode.
    pub lower: f64,
    /// Centre of the upper mode.
    pub upper: f64,
    /// Share of the values before that are in the upper mode, and of those after.
    pub upper_shares: [f64; 2],
}

/// Returns what both sides of a change are, of which each has a value.
pub fn sides(before: &[f64], after: &[f64]) -> Sides {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    Sides {
        medians: [median(before), median(after)],
        means: [mean(before), mean(after)],
        modes: side_modes(before, after),
    }
}

/// Returns the modes of the side that shows them more clearly.
fn side_modes(before: &[f64], after: &[f64]) -> Option<SideModes> {
    let found = |values: &[f64]| -> Option<(f64, Modes)> {
        if values.len() < FEWEST_VALUES || coefficient(values) < WORTH_LOOKING {
            return None;
        }
        let found = Bimodality::of(&Sample::new(values.to_vec()).ok()?).ok()?;
        Some((found.evidence, found.modes?))
    };
    let both = [found(before), found(after)].into_iter().flatten();
    let (_, modes) = both.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let share = |values: &[f64]| {
        values.iter().filter(|value| **value > modes.split).count() as f64 / values.len() as f64
    };
    Some(SideModes {
        lower: modes.lower,
        upper: modes.upper,
        upper_shares: [share(before), share(after)],
    })
}

/// Returns Sarle's coefficient; 0 where all values are equal.
fn coefficient(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let moment =
        |power: i32| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / n;
    let square = moment(2);
    if square <= 0.0 {
        return 0.0;
    }
    let skewness = moment(3) / square.powf(1.5);
    let kurtosis = moment(4) / (square * square);
    (skewness * skewness + 1.0) / kurtosis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::changes::{Rules, Size, detect, shift, size};

    /// A new slow mode: from value 150 on, 40 % of the runs take 10 % more.
    fn with_a_new_mode() -> Vec<f64> {
        let noise = |i: usize| ((i * 7919 + 13) % 101) as f64 / 300.0;
        let is_slow = |i: usize| i >= 150 && (i * i * 45 + 13 * i) % 89 < 35;
        (0..300).map(|i| 100.0 + noise(i) + if is_slow(i) { 10.0 } else { 0.0 }).collect()
    }

    #[test]
    fn a_new_slow_mode_is_in_the_mean_and_in_the_shares_and_not_in_the_median() {
        let values = with_a_new_mode();
        let (before, after) = (&values[50..150], &values[150..250]);
        let typical = shift(before, after, 0.0, 0.95).unwrap();
        assert!(typical.ratio < 1.002, "{typical:?}");
        let by_mean = size(before, after, 0.0, 0.95, Size::Mean).unwrap();
        assert!((by_mean.ratio - 1.04).abs() < 0.005, "{by_mean:?}");
        assert!(by_mean.low < 1.04 && by_mean.high > 1.04 && by_mean.low > 1.02, "{by_mean:?}");
        let found = sides(before, after);
        let modes = found.modes.unwrap();
        assert!((modes.upper / modes.lower - 1.1).abs() < 0.005, "{modes:?}");
        assert!(modes.upper_shares[0] < 1e-9, "{modes:?}");
        assert!((modes.upper_shares[1] - 0.4).abs() < 0.02, "{modes:?}");
    }

    #[test]
    fn a_margin_sees_the_size_that_was_asked_for() {
        let values = with_a_new_mode();
        let found = |rules: Rules| !detect(values.iter().copied(), rules).confirmed.is_empty();
        let rules = Rules::new(0.03, 0.02);
        assert!(found(Rules::default()) && !found(rules) && found(rules.sized(Size::Mean)));
    }

    #[test]
    fn a_clean_step_has_no_modes() {
        let mut rng = Rng::new(41);
        let [before, after] =
            [100.0, 105.0].map(|level| (0..60).map(|_| level + rng.normal()).collect::<Vec<_>>());
        let found = sides(&before, &after);
        assert_eq!(found.modes, None);
        assert!((found.means[1] - found.means[0] - 5.0).abs() < 0.8, "{found:?}");
    }
}
