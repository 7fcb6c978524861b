//! Rates as people write them: `2000`, `100..2000`, `500,1000`, `100..2000:30s,2000:2m`.

use std::str::FromStr;

use super::Stage;
use crate::parse_duration;

/// Why a text is not a rate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RatesError {
    /// A part of it is not a number.
    #[error("`{0}` is not a rate; use 2000, 100..2000 or 500,1000 (requests per second)")]
    NotARate(String),
    /// What follows a colon is not a time.
    #[error("`{0}` is not the length of a phase; use a time, as in 100..2000:30s,2000:2m")]
    NotALength(String),
    /// Some phases have a length and others do not.
    #[error("either every phase has a length, as in 100..2000:30s,2000:2m, or none")]
    SomeLengths,
    /// It is more than any generator sends.
    #[error("{0} requests per second are more than becalm can send; the most is 10,000,000")]
    TooHigh(f64),
    /// All of them are zero.
    #[error("at a rate of 0 no request would be sent")]
    Nothing,
}

/// The highest rate: one at which nobody has time for a request.
const HIGHEST: f64 = 1e7;

/// A rate over time: a number, two with `..` between them, or several of either after commas. Each may have a length after a
/// colon; without one they are equally long.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates(Vec<Phase>);

#[derive(Debug, Clone, PartialEq)]
struct Phase {
    from: f64,
    to: f64,
    /// Its length in seconds, if it has one of its own.
    seconds: Option<f64>,
}

impl FromStr for Rates {
    type Err = RatesError;

    fn from_str(text: &str) -> Result<Self, RatesError> {
        let phases: Vec<Phase> = text.split(',').map(Phase::read).collect::<Result<_, _>>()?;
        if phases.iter().any(|one| one.seconds.is_some() != phases[0].seconds.is_some()) {
            return Err(RatesError::SomeLengths);
        }
        if phases.iter().all(|one| one.from + one.to <= 0.0) {
            return Err(RatesError::Nothing);
        }
        Ok(Self(phases))
    }
}

impl Phase {
    fn read(text: &str) -> Result<Self, RatesError> {
        let (rates, length) = match text.split_once(':') {
            Some((rates, length)) => (rates, Some(length)),
            None => (text, None),
        };
        let number = |part: &str| {
            let rate =
                part.trim().parse().ok().filter(|rate: &f64| rate.is_finite() && *rate >= 0.0);
            rate.ok_or_else(|| RatesError::NotARate(part.to_owned()))
        };
        let (from, to) = match rates.split_once("..") {
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(rates)?, number(rates)?),
        };
        if let Some(rate) = [from, to].into_iter().find(|rate| *rate > HIGHEST) {
            return Err(RatesError::TooHigh(rate));
        }
        let seconds = |length: &str| {
            let time = parse_duration(length.trim()).ok().filter(|time| !time.is_zero());
            time.map(|time| time.as_secs_f64())
                .ok_or_else(|| RatesError::NotALength(length.to_owned()))
        };
        Ok(Self { from, to, seconds: length.map(seconds).transpose()? })
    }
}

impl Rates {
    /// Returns for how many seconds requests are due, if the phases say it.
    pub fn seconds(&self) -> Option<f64> {
        self.0.iter().map(|one| one.seconds).sum()
    }

    /// Returns the stages. Phases without a length share these seconds equally.
    pub fn stages(&self, seconds: f64) -> Vec<Stage> {
        let share = seconds / self.0.len() as f64;
        let stage = |&Phase { from, to, seconds }: &Phase| Stage {
            seconds: seconds.unwrap_or(share),
            from,
            to,
        };
        self.0.iter().map(stage).collect()
    }

    /// Returns the two ends of a single rise.
    pub fn range(&self) -> Option<[f64; 2]> {
        match self.0[..] {
            [Phase { from, to, seconds: None }] if from > 0.0 && to > from => Some([from, to]),
            _ => None,
        }
    }
}

/// Writes the rates of stages so that they can be read back, with their lengths if these differ; `replayed` if there are
/// none, because due times were.
pub fn rates_text(stages: &[Stage]) -> String {
    let Some(first) = stages.first() else { return "replayed".to_owned() };
    let are_equal = stages.iter().all(|one| (one.seconds - first.seconds).abs() < 1e-9);
    let text = |&Stage { seconds, from, to }: &Stage| {
        let is_constant = (from - to).abs() < f64::EPSILON;
        let rate = if is_constant { from.to_string() } else { format!("{from}..{to}") };
        if are_equal { rate } else { format!("{rate}:{seconds}s") }
    };
    stages.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(text: &str) -> Vec<(f64, f64, f64)> {
        let rates: Rates = text.parse().unwrap();
        rates.stages(10.0).iter().map(|one| (one.from, one.to, one.seconds)).collect()
    }

    #[test]
    fn a_rate_is_constant_rises_or_goes_in_phases() {
        assert_eq!(stages("2000"), [(2000.0, 2000.0, 10.0)]);
        assert_eq!(stages("100..2000"), [(100.0, 2000.0, 10.0)]);
        assert_eq!(stages("0..50, 50"), [(0.0, 50.0, 5.0), (50.0, 50.0, 5.0)]);
        let rates = "100..2000:500ms, 2000:2m";
        assert_eq!(stages(rates), [(100.0, 2000.0, 0.5), (2000.0, 2000.0, 120.0)]);
        let seconds = |text: &str| text.parse::<Rates>().unwrap().seconds();
        assert_eq!((seconds(rates), seconds("5,6")), (Some(120.5), None));
    }

    #[test]
    fn what_is_not_a_rate_is_an_error() {
        for text in [
            "", "fast", "-1", "1e999", "1e8", "1..1e300", "1..", "0", "100/s", "5:", "5:x", "5:0s",
            "5:1s,6",
        ] {
            assert!(text.parse::<Rates>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_range_has_two_ends() {
        let range = |text: &str| text.parse::<Rates>().unwrap().range();
        assert_eq!(range("100..5000"), Some([100.0, 5000.0]));
        for text in ["100", "0..5", "5..1", "1..2,3..4", "1..5:2s"] {
            assert_eq!(range(text), None, "{text}");
        }
    }

    #[test]
    fn rates_can_be_read_back() {
        for text in ["2000", "100..2000", "500,1000", "0..50,50", "0..50:1.5s,50:60s"] {
            assert_eq!(rates_text(&text.parse::<Rates>().unwrap().stages(1.0)), text);
        }
        assert_eq!(rates_text(&[]), "replayed");
    }
}
