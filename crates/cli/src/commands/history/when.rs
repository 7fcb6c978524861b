//! Times as people write them: `2026-11-20`, or an age such as `90d`.

use std::time::SystemTime;

use becalm_model::{is_of_calendar, parse_time};

/// This old.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Age {
    /// Seconds.
    seconds: f64,
}

const DAY: f64 = 86_400.0;

impl Age {
    /// Reads a number with `h`, `d` (days) or `w` (weeks) behind it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let unit = text.chars().last().unwrap_or(' ');
        let scale = match unit {
            'h' => 3600.0,
            'd' => DAY,
            'w' => 7.0 * DAY,
            _ => 0.0,
        };
        let number = text.strip_suffix(unit).and_then(|number| number.trim().parse::<f64>().ok());
        match number.filter(|number| scale > 0.0 && number.is_finite() && *number >= 0.0) {
            Some(number) => Ok(Self { seconds: number * scale }),
            None => Err("expected an age such as 12h, 90d or 8w".to_owned()),
        }
    }

    /// Returns when something of this age began, in seconds since the Unix epoch.
    pub(crate) fn begin(self) -> f64 {
        now() - self.seconds
    }
}

/// Reads a point in time: a date, seconds since the Unix epoch, or an age.
pub(crate) fn moment(text: &str) -> Result<f64, String> {
    if let Ok(age) = Age::parse(text) {
        return Ok(age.begin());
    }
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    match number.or_else(|| parse_time(text)) {
        Some(time) if is_of_calendar(time) => Ok(time),
        Some(_) => Err("the year must be between 1970 and 9999".to_owned()),
        None => Err("expected a date such as 2026-11-20 or 2026-11-20T18:00:00+01:00, seconds since 1970, or an \
                     age such as 90d"
            .to_owned()),
    }
}

/// Returns the present time, in seconds since the Unix epoch.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_numbers_or_ages() {
        assert_eq!(moment("1000"), Ok(1000.0));
        assert_eq!(moment("2000-03-01"), Ok(951_868_800.0));
        let age = now() - moment("2d").unwrap();
        assert!((2.0 * DAY - 5.0..2.0 * DAY + 60.0).contains(&age), "{age}");
        for wrong in ["", "d", "yesterday", "-2d", "NaN", "ä", "1e30", "-1", "0001-01-01"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }
}
