//! Numbers with their unit. The unit is chosen once per table, so that a column can be compared
//! by eye.

use becalm_model::{RatioInterval, Unit, counted};
use becalm_stats::Summary;

/// Joins a number and its unit, so that no line break comes between them.
pub(crate) const NBSP: char = '\u{a0}';

/// From this ratio on, "3.1 times" is easier to understand than "+210 %".
pub(crate) const TIMES_FROM: f64 = 2.0;

/// From here on a number has more digits than anybody reads, and they are not exact any more.
const TOO_LONG: f64 = 1e16;

/// One unit and one number of decimals for everything in a table or on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    unit: String,
    factor: f64,
    decimals: usize,
}

impl Scale {
    /// Chooses the unit that suits the largest of `values`, and the decimals that show it with
    /// four significant digits. Counts are neither scaled nor rounded: they may be exact.
    pub fn of(unit: &Unit, values: impl IntoIterator<Item = f64>, unicode: bool) -> Self {
        let mut largest = 0.0_f64;
        let mut whole = true;
        for value in values.into_iter().filter(|value| value.is_finite()) {
            largest = largest.max(value.abs());
            whole &= value.fract() == 0.0;
        }
        let (name, factor) = unit_for(unit, largest, unicode);
        let shown = largest / factor;
        let decimals = if whole && factor <= 1.0 && *unit != Unit::Second {
            0
        } else {
            decimals_for_digits(shown, 4)
        };
        Self { unit: name, factor, decimals }
    }

    /// Chooses what suits the medians of samples. They are whole only if the other statistics of
    /// the samples are: with values from 97.6 to 98.3 the median may be 98 by chance.
    pub fn of_summaries<'a>(
        unit: &Unit,
        summaries: impl IntoIterator<Item = &'a Summary>,
        unicode: bool,
    ) -> Self {
        let mut medians = Vec::new();
        let mut are_whole = true;
        for summary in summaries {
            let interval = summary.median_interval;
            let ends = interval.into_iter().flat_map(|interval| [interval.low, interval.high]);
            let told = [summary.minimum, summary.median, summary.maximum];
            are_whole &= told.into_iter().chain(ends).all(|value| value.fract() == 0.0);
            // Of values of which most are zero the others tell the unit.
            let is_zero = summary.median == 0.0;
            medians.push(if is_zero { summary.maximum } else { summary.median });
        }
        let largest = medians.iter().fold(0.0, |most: f64, median| most.max(median.abs()));
        let scale = Self::of(unit, medians, unicode);
        if are_whole {
            return scale;
        }
        let decimals = decimals_for_digits(largest / scale.factor, 4).max(scale.decimals);
        scale.with_decimals(decimals)
    }

    /// Writes a value without its unit. A value much smaller than the largest one gets more
    /// decimals rather than being shown as zero.
    pub fn number(&self, value: f64) -> String {
        let shown = value / self.factor;
        if !shown.is_finite() {
            return "-".to_owned();
        }
        if shown.abs() >= TOO_LONG {
            return format!("{shown:.3e}");
        }
        let smallest = 10.0_f64.powi(1 - i32::try_from(self.decimals).unwrap_or(0));
        let is_whole = self.decimals == 0 && shown.fract() == 0.0;
        let decimals = if !is_whole && shown != 0.0 && shown.abs() < smallest {
            decimals_for_digits(shown.abs(), 2).max(self.decimals)
        } else {
            self.decimals
        };
        // Below a thousandth of a nanosecond nothing is measured; do not print 300 zeros.
        format!("{shown:.*}", decimals.min(9))
    }

    /// Writes a value with its unit.
    pub fn with_unit(&self, value: f64) -> String {
        let number = self.number(value);
        if self.unit.is_empty() || number == "-" {
            number
        } else {
            format!("{number}{NBSP}{}", self.unit)
        }
    }

    /// Writes `low .. high` with the unit once.
    pub fn range(&self, low: f64, high: f64) -> String {
        format!("{}{NBSP}..{NBSP}{}", self.number(low), self.with_unit(high))
    }

    /// Returns the unit chosen; empty for counts.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Returns what a value is divided by to be shown.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// Returns the same unit with two more decimals, for raw data; whole numbers stay whole.
    #[must_use]
    pub fn with_more_digits(&self) -> Self {
        self.with_decimals(if self.decimals == 0 { 0 } else { self.decimals + 2 })
    }

    /// Returns the same unit with another number of decimals.
    #[must_use]
    pub fn with_decimals(&self, decimals: usize) -> Self {
        Self { decimals, ..self.clone() }
    }
}

fn unit_for(unit: &Unit, largest: f64, unicode: bool) -> (String, f64) {
    match unit {
        Unit::Second => {
            let (name, factor) = match largest {
                // Nothing but zeros: nanoseconds would claim a resolution that nobody has.
                0.0 => ("s", 1.0),
                l if l < 0.999_95e-6 => ("ns", 1e-9),
                l if l < 0.999_95e-3 => (if unicode { "µs" } else { "us" }, 1e-6),
                l if l < 0.999_95 => ("ms", 1e-3),
                _ => ("s", 1.0),
            };
            (name.to_owned(), factor)
        }
        Unit::Byte => {
            const KIB: f64 = 1024.0;
            let (name, factor) = match largest {
                l if l < KIB => ("B", 1.0),
                l if l < KIB * KIB => ("KiB", KIB),
                l if l < KIB * KIB * KIB => ("MiB", KIB * KIB),
                _ => ("GiB", KIB * KIB * KIB),
            };
            (name.to_owned(), factor)
        }
        Unit::Count => (String::new(), 1.0),
        Unit::Named(name) if name == "B/s" => {
            let (bytes, factor) = unit_for(&Unit::Byte, largest, unicode);
            (format!("{bytes}/s"), factor)
        }
        Unit::Named(name) => (crate::width::printable(name), 1.0),
    }
}

/// Returns how many decimals show `value` with `digits` significant digits.
fn decimals_for_digits(value: f64, digits: i32) -> usize {
    if value <= 0.0 || !value.is_finite() {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a decimal exponent is below 400")]
    let exponent = value.log10().floor() as i32;
    usize::try_from(digits - 1 - exponent).unwrap_or(0)
}

/// A ratio and its interval as texts with the same decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RatioText {
    /// The change: `+2.1 %`, or `3.10 times` when it is large.
    pub(crate) change: String,
    /// The interval: `+1.6 % .. +2.6 %`.
    pub(crate) interval: String,
}

/// Writes a ratio as a percentage change, or as a factor when it is a large increase. A decrease
/// cannot pass -100 %, so it stays readable as a percentage.
pub(crate) fn ratio(ratio: &RatioInterval) -> RatioText {
    if ratio.estimate >= TIMES_FROM {
        let interval = if ratio.high.is_finite() {
            format!("{}{NBSP}..{NBSP}{}{NBSP}times", times(ratio.low), times(ratio.high))
        } else {
            format!("{}{NBSP}times or more", times(ratio.low))
        };
        return RatioText { change: format!("{}{NBSP}times", times(ratio.estimate)), interval };
    }
    let decimals = percent_decimals(ratio);
    let change = |value: f64| signed_percent(value - 1.0, decimals);
    let interval = if ratio.high.is_finite() {
        format!("{}{NBSP}..{NBSP}{}", change(ratio.low), change(ratio.high))
    } else if ratio.low > 0.0 {
        format!("{} or more", change(ratio.low))
    } else {
        "unknown".to_owned()
    };
    RatioText { change: change(ratio.estimate), interval }
}

/// Says whether a ratio is clearer as a factor.
pub(crate) fn is_large(ratio: f64) -> bool {
    !(1.0 / TIMES_FROM..TIMES_FROM).contains(&ratio)
}

/// Writes a factor with three significant digits.
pub(crate) fn times(value: f64) -> String {
    if value.is_finite() && value >= TOO_LONG {
        format!("{value:.2e}")
    } else if value.is_finite() {
        format!("{value:.*}", decimals_for_digits(value, 3).clamp(0, 6))
    } else {
        "unlimited".to_owned()
    }
}

/// Returns the decimals that show the width of the interval, and no more: digits inside the
/// uncertainty only look precise. But an interval that excludes 0 must not be written with a 0 at
/// its end.
pub(crate) fn percent_decimals(ratio: &RatioInterval) -> usize {
    /// Nobody reads more decimals than that.
    const MOST: usize = 9;
    let half_width = (ratio.high - ratio.low) / 2.0 * 100.0;
    let reference =
        if half_width > 0.0 { half_width * 2.0 } else { (ratio.estimate - 1.0).abs() * 10.0 };
    let least = match reference {
        r if !r.is_finite() => 1,
        r if r >= 20.0 => 0,
        r if r >= 0.95 => 1,
        r if r >= 0.095 => 2,
        _ => 3,
    };
    if !ratio.excludes_one() {
        return least;
    }
    let nearest = (ratio.low - 1.0).abs().min((ratio.high - 1.0).abs()) * 100.0;
    let is_seen = |decimals: &usize| nearest * 10_f64.powf(*decimals as f64) >= 0.5;
    (least..MOST).find(is_seen).unwrap_or(MOST)
}

/// Writes a share with its sign: `+2.1 %`.
pub(crate) fn signed_percent(share: f64, decimals: usize) -> String {
    if !share.is_finite() {
        return "unlimited".to_owned();
    }
    if share.abs() >= TOO_LONG {
        return format!("{:+.1e}{NBSP}%", share * 100.0);
    }
    let text = format!("{:+.*}", decimals, share * 100.0);
    // "-0.0" would look like a direction.
    let zero = text.trim_start_matches(['+', '-']).chars().all(|c| c == '0' || c == '.');
    let number = if zero { text.trim_start_matches(['+', '-']) } else { &text };
    format!("{number}{NBSP}%")
}

/// Writes a share that has no sign, with two significant digits: `0.4 %`, `12 %`.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if !value.is_finite() {
        return "unlimited".to_owned();
    }
    let text = format!("{value:.*}", decimals_for_digits(value.abs(), 2).min(4));
    let trimmed =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{trimmed}{NBSP}%")
}

/// Writes a confidence: `95 %`, `99.75 %`, `99.9996 %`, with a space that does not break. Only what is certain is
/// `100 %`.
pub fn confidence(share: f64) -> String {
    if !share.is_finite() {
        return format!("?{NBSP}%");
    }
    let text = (2..10)
        .map(|decimals| format!("{:.decimals$}", share * 100.0))
        .find(|text| share >= 1.0 || !text.starts_with("100"))
        .unwrap_or_else(|| "99.9999999".to_owned());
    format!("{}{NBSP}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Writes a number and the noun that it counts, which no line break separates.
pub(crate) fn count(n: usize, word: &str) -> String {
    counted(n, word).replacen(' ', &NBSP.to_string(), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unit: &Unit, values: &[f64], expected: &str) {
        let scale = Scale::of(unit, values.iter().copied(), true);
        let shown: Vec<String> =
            values.iter().map(|&v| scale.with_unit(v).replace(NBSP, " ")).collect();
        assert_eq!(shown.join(", "), expected);
    }

    #[test]
    fn an_interval_without_zero_does_not_end_at_zero() {
        let written = |low, estimate, high| {
            let RatioText { change, interval } = ratio(&RatioInterval { low, estimate, high });
            format!("{change} {interval}").replace(NBSP, " ")
        };
        assert_eq!(written(1.0003, 1.008, 1.0157), "+0.80 % +0.03 % .. +1.57 %");
        assert_eq!(
            written(1.000_000_4, 1.000_000_4, 1.000_000_4),
            "+0.00004 % +0.00004 % .. +0.00004 %"
        );
        assert_eq!(written(0.9997, 1.008, 1.0157), "+0.8 % 0.0 % .. +1.6 %");
    }

    #[test]
    fn seconds_get_one_sensible_unit() {
        check(&Unit::Second, &[0.032_014, 0.031_8], "32.01 ms, 31.80 ms");
        check(&Unit::Second, &[1.5, 0.25], "1.500 s, 0.250 s");
        check(&Unit::Second, &[12e-6, 3.25e-6], "12.00 µs, 3.25 µs");
        check(&Unit::Second, &[36.7e-9], "36.70 ns");
        check(&Unit::Second, &[0.0], "0 s");
        check(&Unit::Second, &[12_345.6], "12346 s");
    }

    #[test]
    fn a_value_just_below_a_unit_is_not_shown_as_a_thousand() {
        check(&Unit::Second, &[0.999_96], "1.0000 s");
    }

    #[test]
    fn a_small_value_beside_a_large_one_is_not_shown_as_zero() {
        check(&Unit::Second, &[0.032, 0.000_001_2], "32.00 ms, 0.0012 ms");
    }

    #[test]
    fn bytes_are_binary_and_counts_are_whole() {
        check(&Unit::Byte, &[2_097_152.0], "2.000 MiB");
        check(&Unit::Byte, &[512.0], "512 B");
        check(&Unit::Named("B/s".into()), &[118_250_000.0], "112.8 MiB/s");
        check(&Unit::Named("B/s".into()), &[512.0], "512 B/s");
        check(&Unit::Count, &[1_234_567.0], "1234567");
        check(&Unit::Count, &[2.0, 0.0], "2, 0");
        check(&Unit::Count, &[1e308], "1.000e308");
        check(&Unit::Second, &[-2.5e300], "-2.500e300 s");
        check(&Unit::Named("req/s".into()), &[812.25], "812.2 req/s");
    }

    #[test]
    fn where_most_are_zero_the_others_tell_the_unit() {
        let sample = becalm_stats::Sample::new(vec![0.0, 0.0, 0.001_245]).unwrap();
        let summary = Summary::of(&sample, 0.95);
        let scale = Scale::of_summaries(&Unit::Second, [&summary], true);
        assert_eq!(scale.with_unit(summary.maximum).replace(NBSP, " "), "1.245 ms");
    }

    #[test]
    fn a_whole_median_of_values_with_a_fraction_is_not_rounded() {
        let scale = |values: &[f64]| {
            let sample = becalm_stats::Sample::new(values.to_vec()).unwrap();
            Scale::of_summaries(&Unit::Count, [&Summary::of(&sample, 0.95)], true)
        };
        assert_eq!(scale(&[97.6, 98.0, 98.3]).number(98.0), "98.00");
        assert_eq!(scale(&[97.0, 98.0, 99.0]).number(98.0), "98");
        assert_eq!(scale(&[0.0, 0.0, 0.5]).number(0.5), "0.5000");
    }

    #[test]
    fn decimals_follow_the_width_of_the_interval() {
        let show = |estimate, low, high| {
            let text = ratio(&RatioInterval { estimate, low, high });
            format!("{} ({})", text.change, text.interval).replace(NBSP, " ")
        };
        assert_eq!(show(1.021, 1.016, 1.026), "+2.1 % (+1.6 % .. +2.6 %)");
        assert_eq!(show(1.0004, 0.9996, 1.0012), "+0.04 % (-0.04 % .. +0.12 %)");
        assert_eq!(show(1.2, 0.9, 1.5), "+20 % (-10 % .. +50 %)");
        assert_eq!(show(3.1, 2.9, 3.3), "3.10 times (2.90 .. 3.30 times)");
        assert_eq!(show(0.25, 0.2, 0.3), "-75.0 % (-80.0 % .. -70.0 %)");
        assert_eq!(show(1.0, 0.0, f64::INFINITY), "0.0 % (unknown)");
    }

    #[test]
    fn shares_are_short() {
        assert_eq!(percent(0.004).replace(NBSP, " "), "0.4 %");
        assert_eq!(percent(0.01).replace(NBSP, " "), "1 %");
        assert_eq!(percent(0.0).replace(NBSP, " "), "0 %");
        assert_eq!(signed_percent(1e300, 1).replace(NBSP, " "), "+1.0e302 %");
        assert_eq!(times(1e300), "1.00e300");
        assert_eq!(percent(0.1234).replace(NBSP, " "), "12 %");
        assert_eq!(confidence(0.9975).replace(NBSP, " "), "99.75 %");
        assert_eq!(confidence(0.999_961).replace(NBSP, " "), "99.996 %");
        assert_eq!(confidence(0.999_999_999_9).replace(NBSP, " "), "99.99999999 %");
        assert_eq!(confidence(1.0).replace(NBSP, " "), "100 %");
    }
}
