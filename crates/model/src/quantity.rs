//! Durations and shares as people write them: `500ms`, `1%`.

use std::time::Duration;

use crate::metric::Unit;

/// Why a text is not the quantity that was asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{text}` is not {wanted}{}", meant(.text, *.unit))]
pub struct QuantityError {
    text: String,
    wanted: &'static str,
    /// The unit without which a bare number was nearly always meant: `95` is `95%`.
    unit: Option<&'static str>,
}

fn meant(text: &str, unit: Option<&str>) -> String {
    unit.map(|unit| format!("; did you mean {}{unit}?", text.trim())).unwrap_or_default()
}

const DURATION: &str = "a duration such as 250us, 500ms, 2s or 5m";
const SIZE: &str = "a size such as 500kB or 1.5MiB";
const SHARE: &str = "a share such as 1% or 0.01";

/// Reads a duration; a unit (`ns`, `us`, `ms`, `s`, `m`, `h`) is required unless it is zero.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let error = || QuantityError { text: text.into(), wanted: DURATION, unit: None };
    let (number, unit) = split_unit(text);
    let value: f64 = number.parse().map_err(|_| error())?;
    let scale = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" if value == 0.0 => 1.0,
        "" if value > 0.0 => return Err(QuantityError { unit: Some("s"), ..error() }),
        _ => return Err(error()),
    };
    Duration::try_from_secs_f64(value * scale).map_err(|_| error())
}

/// Reads a share of one: `1%` and `0.01` are the same.
pub fn parse_share(text: &str) -> Result<f64, QuantityError> {
    let error = || QuantityError { text: text.into(), wanted: SHARE, unit: None };
    let (number, whole) = match text.trim().strip_suffix('%') {
        // Divided and not multiplied by 0.01, so that 95% is the same number as 0.95.
        Some(number) => (number.trim(), 100.0),
        None => (text.trim(), 1.0),
    };
    let value: f64 = number.parse().map_err(|_| error())?;
    if !text.contains('%') && value > 1.0 {
        return Err(QuantityError { text: text.into(), wanted: SHARE, unit: Some("%") });
    }
    if value.is_finite() && value >= 0.0 { Ok(value / whole) } else { Err(error()) }
}

/// Reads a value of a metric in a unit that suits it: a duration for seconds, `1.5MiB` or `200kB` for bytes, and a
/// plain number, or one with the name of the unit, for anything else. The result is in the unit of the metric.
pub fn parse_amount(text: &str, unit: &Unit) -> Result<f64, QuantityError> {
    let error = |wanted| QuantityError { text: text.into(), wanted, unit: None };
    if *unit == Unit::Second {
        return parse_duration(text).map(|duration| duration.as_secs_f64());
    }
    let (number, name) = split_unit(text);
    let (scale, wanted) = match unit {
        Unit::Byte => (byte_scale(name), SIZE),
        Unit::Named(own) => {
            (Some(1.0).filter(|_| name.is_empty() || name == own), "a number in the metric's unit")
        }
        Unit::Second | Unit::Count => (Some(1.0).filter(|_| name.is_empty()), "a plain number"),
    };
    let value = number.parse().ok().filter(|value: &f64| value.is_finite());
    value.zip(scale).map(|(value, scale)| value * scale).ok_or_else(|| error(wanted))
}

fn byte_scale(name: &str) -> Option<f64> {
    Some(match name {
        "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        _ => return None,
    })
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    (text[..end].trim(), &text[end..])
}

/// Writes a number and the noun that it counts: `1 run`, `2 runs`, `3 entries`, `2 processes`.
pub fn counted(n: usize, noun: &str) -> String {
    if n == 1 {
        return format!("1 {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{n} {stem}ies"),
        None if noun.ends_with('s') => format!("{n} {noun}es"),
        _ => format!("{n} {noun}s"),
    }
}

/// Returns the verb that agrees with a number: `1 run is`, `2 runs are`.
pub fn is_are(n: usize) -> &'static str {
    if n == 1 { "is" } else { "are" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_units() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5 s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_duration("250us"), Ok(Duration::from_micros(250)));
        assert_eq!(parse_duration("0"), Ok(Duration::ZERO));
    }

    #[test]
    fn a_duration_without_unit_or_below_zero_is_refused_with_an_example() {
        for text in ["10", "-1s", "fast", "", "1e400s", "NaNs"] {
            let error = parse_duration(text).unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("500ms"), "{error}");
        }
        let error = parse_duration("10").unwrap_err().to_string();
        assert!(error.ends_with("; did you mean 10s?"), "{error}");
    }

    #[test]
    fn nouns_have_plurals() {
        let counted = ["run", "entry", "delay", "process"].map(|noun| counted(2, noun));
        assert_eq!(counted, ["2 runs", "2 entries", "2 delays", "2 processes"]);
        assert_eq!(
            (super::counted(1, "die"), super::counted(0, "die")),
            ("1 die".into(), "0 dies".into())
        );
    }

    #[test]
    fn shares_are_percent_or_fraction() {
        assert_eq!(parse_share("1%"), Ok(0.01));
        assert_eq!(parse_share("0.01"), Ok(0.01));
        assert_eq!(parse_share("0"), Ok(0.0));
        assert_eq!(parse_share("95%"), Ok(0.95));
        assert!(parse_share("-1%").is_err());
        assert!(parse_share("inf").is_err());
    }

    #[test]
    fn amounts_are_in_a_unit_that_suits_the_metric() {
        let named = Unit::Named("req/s".to_owned());
        assert_eq!(parse_amount("250ms", &Unit::Second), Ok(0.25));
        assert_eq!(parse_amount("1.5 KiB", &Unit::Byte), Ok(1536.0));
        assert_eq!(parse_amount("1e6", &Unit::Byte).ok(), None);
        assert_eq!(parse_amount("90 req/s", &named), Ok(90.0));
        assert_eq!(parse_amount("90", &named), Ok(90.0));
        assert!(parse_amount("90ms", &Unit::Count).is_err());
        assert!(parse_amount("90", &Unit::Second).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "[-+0-9.eE%a-zµ ]{0,16}") {
            let _ = (parse_duration(&text), parse_share(&text));
        }
    }
}
