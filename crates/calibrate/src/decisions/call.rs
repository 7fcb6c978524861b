//! What other tools say about two series of times.

use becalm_stats::Sample;
use becalm_stats::center::mean;
use becalm_stats::spread::standard_deviation;

use crate::peers::{mann_whitney, welch};

/// Level of all tests.
pub const LEVEL: f64 = 0.05;

/// What a rule says about the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// It takes longer.
    Slower,
    /// It takes less time.
    Faster,
    /// Nothing.
    Neither,
}

impl Call {
    /// Returns the call from a direction and whether it counts.
    pub fn of(is_significant: bool, difference: f64) -> Self {
        match difference {
            _ if !is_significant => Self::Neither,
            above if above > 0.0 => Self::Slower,
            below if below < 0.0 => Self::Faster,
            _ => Self::Neither,
        }
    }

    /// Returns the call of an interval around `neutral`.
    pub fn of_interval(low: f64, high: f64, neutral: f64) -> Self {
        if low > neutral {
            Self::Slower
        } else if high < neutral {
            Self::Faster
        } else {
            Self::Neither
        }
    }

    /// Returns the word that files hold.
    pub fn word(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Neither => "neither",
        }
    }

    /// Reads what [`Call::word`] writes; other words are no call.
    pub fn from_word(word: &str) -> Self {
        [Self::Slower, Self::Faster]
            .into_iter()
            .find(|call| call.word() == word)
            .unwrap_or(Self::Neither)
    }
}

/// A rule for two separate series of times, baseline first.
pub type Rule = fn(&Sample, &Sample) -> Call;

/// Rules that people apply to the times that hyperfine exports.
pub const RULES: &[(&str, Rule)] = &[
    ("hyperfine, printed interval", printed_interval),
    ("hyperfine, Welch", by_welch),
    ("hyperfine, Mann-Whitney (benchstat)", by_mann_whitney),
];

/// Hyperfine's summary, "X ran R +- S times faster than Y", read as a difference when R - 1 > S.
///
/// R is the ratio of means, slower over faster, and S its standard deviation as in hyperfine 1.20,
/// `benchmark/relative_speed.rs`; both before rounding.
fn printed_interval(baseline: &Sample, candidate: &Sample) -> Call {
    let (a, b) = (mean(baseline), mean(candidate));
    let cv = |sample, mean: f64| standard_deviation(sample).map_or(f64::INFINITY, |sd| sd / mean);
    let ratio = a.max(b) / a.min(b);
    let deviation = ratio * cv(baseline, a).hypot(cv(candidate, b));
    Call::of(ratio - 1.0 > deviation, b - a)
}

/// What hyperfine's script `welch_ttest.py` says.
fn by_welch(baseline: &Sample, candidate: &Sample) -> Call {
    welch(candidate, baseline, 0.95)
        .map_or(Call::Neither, |test| Call::of(test.p < LEVEL, test.difference.estimate))
}

/// What benchstat says.
fn by_mann_whitney(baseline: &Sample, candidate: &Sample) -> Call {
    let test = mann_whitney(candidate, baseline);
    Call::of(test.p < LEVEL, test.superiority - 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(centre: f64) -> Sample {
        Sample::new((0..15).map(|i| centre + 0.01 * f64::from(i * 7 % 15)).collect()).unwrap()
    }

    #[test]
    fn every_rule_sees_a_large_difference_with_its_direction() {
        for (name, rule) in RULES {
            assert_eq!(rule(&sample(1.0), &sample(2.0)), Call::Slower, "{name}");
            assert_eq!(rule(&sample(2.0), &sample(1.0)), Call::Faster, "{name}");
            assert_eq!(rule(&sample(1.0), &sample(1.0)), Call::Neither, "{name}");
        }
    }

    #[test]
    fn the_printed_interval_is_one_standard_deviation_of_the_ratio() {
        // Means 1 and 1.1, both with a CV of 5 %: 1.10 +- 0.078.
        let of = |mean: f64| {
            let step = 0.05 * mean / 2.0_f64.sqrt() * 2.0_f64.sqrt();
            Sample::new(vec![mean - step, mean, mean + step]).unwrap()
        };
        assert_eq!(printed_interval(&of(1.0), &of(1.1)), Call::Slower);
        assert_eq!(printed_interval(&of(1.0), &of(1.07)), Call::Neither);
    }

    #[test]
    fn words_are_read_back() {
        for call in [Call::Slower, Call::Faster, Call::Neither] {
            assert_eq!(Call::from_word(call.word()), call);
        }
    }
}
