//! How the figures of articles are written.

use becalm_model::Unit;

use crate::quantity::Scale;
use crate::style::Style;

/// Writes a figure. Each has the unit that suits it: an article's nanoseconds and this machine's
/// milliseconds share a column.
pub(super) fn number(value: f64, unit: &str, style: &Style) -> String {
    match unit {
        "share" => share(value),
        "times" => times(value),
        "s" => Scale::of(&Unit::Second, [value], style.unicode).with_unit(value),
        _ => separated(value),
    }
}

/// Writes a count as articles do: `1,299,344`.
fn separated(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = if value < 0.0 { "-".to_owned() } else { String::new() };
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a multiple: `0.13 x`, `0.004 x`.
pub(super) fn times(value: f64) -> String {
    let decimals = match value {
        v if v >= 10.0 => 1,
        v if v >= 0.1 => 2,
        _ => 3,
    };
    format!("{value:.decimals$} x")
}

/// Writes a share with three significant digits: `9.29 %`, `0.044 %`.
fn share(value: f64) -> String {
    let percent = value * 100.0;
    let decimals = match percent.abs() {
        p if p >= 100.0 => 0,
        p if p >= 10.0 => 1,
        p if p >= 0.1 || p == 0.0 => 2,
        _ => 3,
    };
    format!("{percent:.decimals$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators() {
        for (value, expected) in [(0.4, "0"), (999.0, "999"), (1_299_344.2, "1,299,344")] {
            assert_eq!(separated(value), expected);
        }
        assert_eq!(separated(-1090.0), "-1,090");
    }

    #[test]
    fn shares_and_multiples_keep_digits_that_mean_something() {
        let shown: Vec<String> = [24.667, 1.0, 0.127, 0.0037].map(times).into();
        assert_eq!(shown, ["24.7 x", "1.00 x", "0.13 x", "0.004 x"]);
        let shown: Vec<String> = [0.0929, 0.000_44, 0.23887, 1.5, 0.0].map(share).into();
        assert_eq!(shown, ["9.29 %", "0.044 %", "23.9 %", "150 %", "0.00 %"]);
    }
}
