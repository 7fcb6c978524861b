//! The line that is drawn while a load goes on.

use std::time::Duration;

use becalm_model::load::QuantileValue;

use super::{number_of_rate, time, value};
use crate::moment::roughly;
use crate::quantity::NBSP;
use crate::style::Style;
use crate::width::{columns, shorten};

/// What the line shows: the requests that ended lately. Everything is passed in: the report has no clock.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadProgress {
    /// Since the load began.
    pub elapsed: Duration,
    /// How long it is to be.
    pub duration: Duration,
    /// Requests in a second that are asked for.
    pub asked: f64,
    /// Requests in a second that were answered.
    pub answered: f64,
    /// Median of the response time.
    pub response_p50: Option<QuantileValue>,
    /// Its 99th percentile.
    pub response_p99: Option<QuantileValue>,
    /// 99th percentile of the lag.
    pub lag_p99: Option<f64>,
    /// Requests that have failed so far.
    pub errors: u64,
}

/// Draws one line without a line break that fits the width; parts are dropped from the right.
pub fn load_progress_line(progress: &LoadProgress, style: &Style) -> String {
    let quantile =
        |one: Option<QuantileValue>| one.map_or("-".to_owned(), |one| value(&one, style));
    let parts = [
        format!(
            "{} of {}",
            roughly(progress.elapsed.as_secs_f64()),
            roughly(progress.duration.as_secs_f64())
        ),
        format!("{} of {}/s", number_of_rate(progress.answered), number_of_rate(progress.asked)),
        format!("p50 {}", quantile(progress.response_p50)),
        format!("p99 {}", quantile(progress.response_p99)),
        format!("lag {}", progress.lag_p99.map_or("-".to_owned(), |lag| time(lag, style))),
        format!("errors {}", progress.errors),
    ];
    let mut line = String::new();
    for part in parts.map(|part| part.replace(NBSP, " ")) {
        if line.is_empty() {
            line = part;
        } else if columns(&line) + 2 + columns(&part) <= style.width {
            line = format!("{line}  {part}");
        } else {
            break;
        }
    }
    shorten(&line, style.width, style.unicode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> LoadProgress {
        let at = |q, value| Some(QuantileValue { q, value, at_least: q > 0.9 });
        LoadProgress {
            elapsed: Duration::from_millis(4100),
            duration: Duration::from_secs(30),
            asked: 2000.0,
            answered: 1998.4,
            response_p50: at(0.5, 81e-6),
            response_p99: at(0.99, 0.1034),
            lag_p99: Some(12e-6),
            errors: 3,
        }
    }

    #[test]
    fn the_line_has_the_rate_kept_the_times_the_lag_and_the_errors() {
        let style = Style { width: 100, ..Style::PLAIN };
        assert_eq!(
            load_progress_line(&example(), &style),
            "4.1 s of 30 s  1998 of 2000/s  p50 81.0 us  p99 >= 103 ms  lag 12.0 us  errors 3"
        );
    }

    #[test]
    fn the_line_always_fits() {
        for width in 0..100 {
            let line = load_progress_line(&example(), &Style { width, ..Style::PLAIN });
            assert!(columns(&line) <= width, "{width}: {line}");
        }
    }
}
