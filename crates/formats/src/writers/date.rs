//! Points in time as ISO 8601 writes them.

/// Seconds of a day.
const DAY: i64 = 86_400;

/// Writes seconds since the Unix epoch as `2026-11-20T18:33:33`, in UTC and without a zone; `None` where
/// nobody knows when it was.
pub(super) fn iso(seconds: f64) -> Option<String> {
    // The year 9999 ends there.
    if !(seconds > 0.0 && seconds < 253_402_300_800.0) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it was checked to be small")]
    let seconds = seconds as i64;
    let (days, rest) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"))
}

/// Returns year, month and day of the days since 1970-01-01, by Hinnant's algorithm
/// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>): years begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn known_days_are_written() {
        assert_eq!(iso(951_782_400.0).as_deref(), Some("2000-02-29T00:00:00"));
        assert_eq!(iso(1_795_199_613.9).as_deref(), Some("2026-11-20T18:33:33"));
        assert_eq!(iso(253_402_300_799.0).as_deref(), Some("9999-12-31T23:59:59"));
        assert_eq!([iso(0.0), iso(-1.0), iso(f64::NAN), iso(1e300)], [const { None }; 4]);
    }
}
