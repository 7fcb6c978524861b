//! Points in time as tools write them.

/// Returns the seconds since the Unix epoch of `2026-11-20 18:45:27.945`, also with `T` between and
/// with a zone behind. Without a zone it is taken as UTC: nothing better is known.
pub fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let dashes = (text.get(4..5)?, text.get(7..8)?) == ("-", "-");
    if !dashes || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut seconds = days(year, month, day) * 86_400;
    let mut rest = text.get(10..)?;
    if let (Some(hour), Some(minute)) = (number(11, 13), number(14, 16)) {
        seconds += hour * 3600 + minute * 60 + number(17, 19).unwrap_or(0);
        rest = text.get(19..).unwrap_or("");
    }
    let fraction = rest.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(rest.len());
    let part: f64 = rest[..fraction].parse().unwrap_or(0.0);
    Some(seconds as f64 + part - zone(&rest[fraction..]))
}

/// Says whether seconds since the Unix epoch are of a year from 1970 to 9999: others are mistakes, such as
/// milliseconds.
pub fn is_of_calendar(seconds: f64) -> bool {
    (0.0..253_402_300_800.0).contains(&seconds)
}

/// Returns by how many seconds a zone such as `+02:00` is ahead.
fn zone(text: &str) -> f64 {
    let text = text.trim();
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1.0,
        Some(b'-') => -1.0,
        _ => return 0.0,
    };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let number = |from, to| digits.get(from..to).and_then(|d| d.parse::<f64>().ok());
    sign * (number(0, 2).unwrap_or(0.0) * 3600.0 + number(2, 4).unwrap_or(0.0) * 60.0)
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
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(seconds("2000-03-01 00:00:01.5"), Some(951_868_801.5));
        assert_eq!(seconds("2026-11-20T18:33:44+00:00"), Some(1_795_199_624.0));
        assert_eq!(seconds("2026-11-20T20:33:44+0200"), Some(1_795_199_624.0));
        assert_eq!(seconds("2026-11-20"), Some(1_795_132_800.0));
        assert_eq!(seconds("Fri Nov 20"), None);
        assert_eq!(seconds("2026-ä1-20"), None);
        assert_eq!(seconds(""), None);
    }
}
