//! Points in time and lengths of time as people read them.

use becalm_model::{time_text, whole};

/// Writes seconds since the Unix epoch as `2026-11-20 23:58:33 UTC`.
pub(crate) fn utc(epoch: f64) -> String {
    // Beyond year 9999 the text would no longer be a date that anybody wrote on purpose.
    time_text(epoch).map_or_else(|| "an unknown time".to_owned(), |text| format!("{text} UTC"))
}

/// Writes the day of seconds since the Unix epoch, in UTC, as `2026-11-20`.
pub(crate) fn date(epoch: f64) -> String {
    let text = utc(epoch);
    text.strip_suffix(" UTC").map_or(text.as_str(), |text| &text[..10]).to_owned()
}

/// Writes a length of time as a rough figure: `0.4 s`, `12 s`, `3 min 20 s`.
pub(crate) fn roughly(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "an unknown time".to_owned();
    }
    if seconds < 0.05 {
        return "under 0.1\u{a0}s".to_owned();
    }
    if seconds < 9.95 {
        return format!("{seconds:.1}\u{a0}s");
    }
    if seconds > 1e9 {
        return "more than 30\u{a0}years".to_owned();
    }
    let whole = whole(seconds.round());
    match whole {
        0..120 => format!("{whole}\u{a0}s"),
        120..7200 if whole.is_multiple_of(60) => format!("{}\u{a0}min", whole / 60),
        120..7200 => format!("{}\u{a0}min {}\u{a0}s", whole / 60, whole % 60),
        _ => format!("{}\u{a0}h {}\u{a0}min", whole / 3600, whole / 60 % 60),
    }
}

/// Writes an estimated length of time: `about 12 s`, and `under 0.1 s` without that word.
pub(crate) fn about(seconds: f64) -> String {
    let text = roughly(seconds);
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("about {text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_epoch_becomes_a_date() {
        assert_eq!(utc(0.0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400.0), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_795_219_113.9), "2026-11-20 23:58:33 UTC");
        assert_eq!(utc(f64::NAN), "an unknown time");
    }

    #[test]
    fn lengths_of_time_have_no_needless_digits() {
        assert_eq!(roughly(0.41), "0.4\u{a0}s");
        assert_eq!(roughly(9.99), "10\u{a0}s");
        assert_eq!(roughly(200.0), "3\u{a0}min 20\u{a0}s");
        assert_eq!(roughly(300.0), "5\u{a0}min");
        assert_eq!(roughly(9000.0), "2\u{a0}h 30\u{a0}min");
        assert_eq!(roughly(f64::INFINITY), "an unknown time");
        assert_eq!([roughly(0.0), roughly(-0.0)], ["under 0.1\u{a0}s", "under 0.1\u{a0}s"]);
    }

    #[test]
    fn an_estimate_says_about_once() {
        assert_eq!(about(12.0), "about 12\u{a0}s");
        assert_eq!(about(0.01), "under 0.1\u{a0}s");
    }
}
