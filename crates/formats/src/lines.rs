//! Lines that were written for people: without colours, and the numbers and quantities in them.

use std::borrow::Cow;

use becalm_model::Unit;

use crate::units;
use crate::{File, ImportError};

/// Returns the lines of a file with their numbers, as they look on a terminal: without escape sequences
/// and without what a carriage return has overwritten.
pub(crate) fn lines(
    file: &File,
) -> Result<impl Iterator<Item = (usize, Cow<'_, str>)>, ImportError> {
    let text = file.text()?;
    let are_plain = are_plain(text);
    let shown = move |line| if are_plain { Cow::Borrowed(line) } else { plain(line) };
    Ok(text.lines().enumerate().map(move |(index, line)| (index + 1, shown(line))))
}

/// Says whether all lines look on a terminal as they are: one search of the text instead of two in each line.
fn are_plain(text: &str) -> bool {
    memchr::memchr2(b'\r', 0x1b, text.as_bytes()).is_none()
}

/// How many bytes of each end are looked at for recognising a format: many formats do so, and files may be large.
const RECOGNISED_BY: usize = 4 << 20;

/// Says whether any of the first or the last lines of the one file is such a one; for recognising a format.
pub(crate) fn any(file: &File, is: impl Fn(&str) -> bool) -> bool {
    file.text().is_ok_and(|text| {
        let first = beginning(text, RECOGNISED_BY);
        let last = ending(&text[first.len()..], RECOGNISED_BY);
        // The line that is cut is left out.
        let are_plain = are_plain(first) && are_plain(last);
        let mut lines = first.lines().chain(last.lines().skip(1));
        lines.any(|line| if are_plain { is(line) } else { is(&plain(line)) })
    })
}

/// Returns the last so many bytes of a text, without a part of a character.
pub(crate) fn ending(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// Returns the first so many bytes of a text, without a part of a character.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns a line as it looks on a terminal.
pub(crate) fn plain(line: &str) -> Cow<'_, str> {
    let line = line.trim_end_matches('\r');
    let line = line.rfind('\r').map_or(line, |at| &line[at + 1..]);
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(sequence) = rest.strip_prefix('[') {
            // A sequence ends with its first letter.
            let end = sequence.find(|c: char| ('\u{40}'..='\u{7e}').contains(&c));
            rest = end.map_or("", |end| &sequence[end + 1..]);
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Reads a finite number, which may have commas between thousands and a typographic minus.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    // Rust also reads words such as `inf`.
    let is_number = text.chars().all(|c| c.is_ascii_digit() || "+-.,eE−".contains(c));
    if !is_number || !text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // A decimal comma would make `0,0123` ten thousand times as much.
    let whole = text.split(['.', 'e', 'E']).next().unwrap_or(text);
    let are_thousands = |first: &str, groups: &str| {
        matches!(first.len(), 1..=3)
            && !first.starts_with('0')
            && groups.split(',').all(|group| group.len() == 3)
    };
    let grouped = whole.trim_start_matches(['+', '-', '−']).split_once(',');
    if grouped.is_some_and(|(first, groups)| !are_thousands(first, groups))
        || text[whole.len()..].contains(',')
    {
        return None;
    }
    let clean: String = text.chars().filter(|c| *c != ',').collect();
    clean.replace('−', "-").parse().ok().filter(|number: &f64| number.is_finite())
}

/// Splits `6.60ms` or `274.28 ns` into the number and what stands behind it.
pub(crate) fn split_quantity(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || "+-.,−".contains(c))).unwrap_or(text.len());
    let (figures, rest) = text.split_at(end);
    // What looks like an exponent is one only before digits: `1e3`, but `1 elem`.
    if let Some(exponent) = rest.strip_prefix(['e', 'E'])
        && exponent.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+')
    {
        let digits = exponent[1..].find(|c: char| !c.is_ascii_digit());
        let end = end + 2 + digits.unwrap_or(exponent.len() - 1);
        return Some((number(&text[..end])?, text[end..].trim()));
    }
    Some((number(figures)?, rest.trim()))
}

/// Reads a quantity in the units in which becalm keeps values; `None` if it is none or too large.
pub(crate) fn quantity(text: &str) -> Option<(f64, Unit)> {
    let (value, written) = split_quantity(text)?;
    let (unit, factor) = scaled(written);
    Some((value * factor, unit)).filter(|(value, _)| value.is_finite())
}

/// Reads a time, in seconds.
pub(crate) fn time(text: &str) -> Option<f64> {
    quantity(text).filter(|(_, unit)| *unit == Unit::Second).map(|(value, _)| value)
}

/// Reads a time as Go writes it, in seconds: `1m2.5s`, `940.865µs`.
pub(crate) fn duration(text: &str) -> Option<f64> {
    let text = text.trim();
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut seconds = 0.0;
    let mut has_unit = false;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (figures, behind) = rest.split_at(end);
        let end = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let (Unit::Second, factor) = units::unit(unit) else { return None };
        seconds += number(figures)? * factor;
        has_unit = true;
        rest = behind;
    }
    has_unit.then_some(if text.starts_with('-') { -seconds } else { seconds })
}

/// Returns the unit and the factor of what may also be a rate, such as `MiB/s` or `Melem/s`.
pub(crate) fn scaled(written: &str) -> (Unit, f64) {
    let written = written.trim();
    let ending = ["/s", "/sec"].into_iter().find(|ending| written.ends_with(ending));
    let Some(counted) = ending.and_then(|ending| written.strip_suffix(ending)) else {
        return match written.strip_suffix("Hz").and_then(decimal) {
            Some(factor) => (Unit::Named("Hz".to_owned()), factor),
            None => units::unit(written),
        };
    };
    let per_second = |what: &str, factor| (Unit::Named(format!("{what}/s")), factor);
    if let (Unit::Byte, factor) = units::unit(counted) {
        return per_second("B", factor);
    }
    for what in ["elem", "item", "char", "op", "bit", "b"] {
        if let Some(factor) = counted.strip_suffix(what).and_then(decimal) {
            return per_second(what, factor);
        }
    }
    per_second(counted, 1.0)
}

fn decimal(prefix: &str) -> Option<f64> {
    Some(match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_what_was_overwritten_are_left_out() {
        assert_eq!(plain("\u{1b}[1;32mgreen\u{1b}[0m and plain"), "green and plain");
        assert_eq!(plain("first\rsecond\r"), "second");
        assert_eq!(plain("cut \u{1b}[3"), "cut ");
    }

    #[test]
    fn quantities_are_read_in_seconds_and_bytes() {
        let named = |name: &str| Unit::Named(name.to_owned());
        assert_eq!(quantity("13,967.5 s"), Some((13967.5, Unit::Second)));
        assert_eq!(quantity("8ms"), Some((0.008, Unit::Second)));
        assert_eq!(quantity("2 KiB"), Some((2048.0, Unit::Byte)));
        assert_eq!(quantity("33 Melem/s"), Some((33e6, named("elem/s"))));
        assert_eq!(quantity("2 GiB/s"), Some((2_147_483_648.0, named("B/s"))));
        assert_eq!(quantity("3 MHz"), Some((3e6, named("Hz"))));
        assert_eq!(quantity("1e3 s"), Some((1000.0, Unit::Second)));
        assert_eq!(quantity("5 widgets/s"), Some((5.0, named("widgets/s"))));
        assert_eq!(quantity("1e400 s"), None);
        assert_eq!(quantity("inf"), None);
        for decimal in ["0,0123", "0,012", "12,5", "1234,567", "1.5,2", "1,2345"] {
            assert_eq!(number(decimal), None, "{decimal}");
        }
        assert_eq!(number("-1,234,567.8"), Some(-1_234_567.8));
        assert_eq!(duration("1m2.5s"), Some(62.5));
        assert_eq!(duration("1h0m3s"), Some(3603.0));
        assert_eq!(duration("940µs"), Some(940.0 * 1e-6));
        assert_eq!((duration("5"), duration("m"), duration("")), (None, None, None));
        assert_eq!(quantity("1e+"), None);
        assert_eq!(quantity(""), None);
    }
}
