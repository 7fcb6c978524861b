//! Points in time as tools and people write them.

/// Returns the seconds since the Unix epoch of `2026-11-20 18:45:27.945`, also with `T` between, without seconds, and
/// with a zone behind. Without a zone it is taken as UTC: nothing better is known. What no clock shows is no time.
pub fn parse_time(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let dashes = (text.get(4..5)?, text.get(7..8)?) == ("-", "-");
    if !dashes || !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day) {
        return None;
    }
    let midnight = days(year, month, day) * 86_400;
    let rest = text.get(10..)?;
    let has_clock =
        rest.trim_start_matches(['T', 't', ' ']).starts_with(|c: char| c.is_ascii_digit());
    if !has_clock {
        return Some(midnight as f64 - zone(rest)?);
    }
    let (hour, minute, colon) = (number(11, 13)?, number(14, 16)?, text.get(13..14)?);
    let has_seconds = text.get(16..17) == Some(":");
    let second = if has_seconds { number(17, 19)? } else { 0 };
    // A leap second is the 61st.
    if colon != ":" || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(if has_seconds { 19 } else { 16 }..)?;
    let (part, rest) = match rest.strip_prefix('.').filter(|_| has_seconds) {
        Some(digits) => {
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            (rest[..=end].parse().unwrap_or(0.0), &digits[end..])
        }
        None => (0.0, rest),
    };
    Some((midnight + hour * 3600 + minute * 60 + second) as f64 + part - zone(rest)?)
}

/// Writes seconds since the Unix epoch as `2026-11-20 23:58:33`, in UTC; `None` where they are not of a year from 1970
/// to 9999.
///
/// The day arithmetic is Howard Hinnant's `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>): years begin in March.
pub fn time_text(epoch: f64) -> Option<String> {
    if !is_of_calendar(epoch) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked above")]
    let seconds = epoch.floor() as i64;
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    Some(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}", second % 60))
}

/// Says whether seconds since the Unix epoch are of a year from 1970 to 9999: others are mistakes, such as
/// milliseconds.
pub fn is_of_calendar(seconds: f64) -> bool {
    (0.0..253_402_300_800.0).contains(&seconds)
}

/// Returns by how many seconds a zone such as `+02:00` is ahead. Names of zones are unknown, and
/// count as UTC.
fn zone(text: &str) -> Option<f64> {
    let text = text.trim();
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1.0,
        Some(b'-') => -1.0,
        _ => return Some(0.0),
    };
    let (hours, minutes) = match text[1..].split_once(':') {
        Some(parts) => parts,
        // Behind `+02` or `+0200` may stand the name of the zone.
        None => match text[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - 1) {
            4 => (&text[1..3], &text[3..5]),
            end => (&text[1..=end], "0"),
        },
    };
    let end = minutes.find(|c: char| !c.is_ascii_digit()).unwrap_or(minutes.len());
    let number = |digits: &str| digits.parse::<u8>().ok().map(f64::from);
    let (hours, minutes) = (number(hours)?, number(&minutes[..end])?);
    (hours < 24.0 && minutes < 60.0).then_some(sign * (hours * 3600.0 + minutes * 60.0))
}

fn days_of(year: i64, month: i64) -> i64 {
    let next = if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
    next - days(year, month, 1)
}

/// Counts the days from the epoch to a date of the Gregorian calendar, with years that begin in March,
/// so that the leap day is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year
        - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_several_tools_are_read() {
        assert_eq!(parse_time("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(parse_time("2000-03-01 00:00:01.5"), Some(951_868_801.5));
        assert_eq!(parse_time("2026-11-20T18:33:44+00:00"), Some(1_795_199_624.0));
        assert_eq!(parse_time("2026-11-20T20:33:44+0200"), Some(1_795_199_624.0));
        assert_eq!(parse_time("2026-11-20"), Some(1_795_132_800.0));
        assert_eq!(parse_time("2026-11-20 (Friday)"), Some(1_795_132_800.0));
        assert_eq!(parse_time("2024-02-29T00:00:00.25-00:30"), Some(1_709_166_600.25));
    }

    #[test]
    fn a_zone_counts_also_behind_a_time_without_seconds() {
        for text in [
            "2026-11-20T18:33+01:00",
            "2026-11-20 18:33 +0100",
            "2026-11-20 18:33 +1:00",
            "2026-11-20 18:33 +01",
            "2026-11-20T17:33Z",
            "2026-11-20 17:33",
        ] {
            assert_eq!(parse_time(text), Some(1_795_195_980.0), "{text}");
        }
        assert_eq!(parse_time("2026-11-20 17:33:00 UTC"), Some(1_795_195_980.0));
        assert_eq!(parse_time("2026-11-20+01:00"), Some(1_795_129_200.0));
    }

    #[test]
    fn what_no_clock_shows_is_no_time() {
        for text in [
            "",
            "Fri Nov 20",
            "2026-ä1-20",
            "2026-02-29",
            "2026-13-01",
            "2026-11-20T99:00",
            "2026-11-20T18:60",
            "2026-11-20T18:00:61",
            "2026-11-20T18:00:0",
            "2026-11-20T1800",
            "2026-11-20 18",
            "2026-11-20T18:00:00+99:00",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
