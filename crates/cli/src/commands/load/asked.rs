//! Values of the flags of `becalm load`: rates, times, headers.

use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use becalm_load::Schedule;
use becalm_model::load::{Arrivals, RatesError, Scenario, Stage, parse_rates};

use crate::error::CommandError;

/// A rate over time: a number, two with `..` between them, or several of either after commas.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rates(Vec<(f64, f64)>);

impl FromStr for Rates {
    type Err = RatesError;

    fn from_str(text: &str) -> Result<Self, RatesError> {
        parse_rates(text).map(Self)
    }
}

impl Rates {
    /// Divides a time in seconds equally among the rates.
    pub(super) fn stages(&self, duration: f64) -> Vec<Stage> {
        Scenario::at_rates(&self.0, duration)
    }

    /// Returns the two ends of a single rise.
    pub(super) fn range(&self) -> Option<[f64; 2]> {
        match self.0[..] {
            [(from, to)] if from > 0.0 && to > from => Some([from, to]),
            _ => None,
        }
    }
}

/// When requests are due.
#[derive(Debug)]
pub(super) struct Timing {
    pub(super) schedule: Schedule,
    pub(super) arrivals: Arrivals,
    pub(super) stages: Vec<Stage>,
    pub(super) seed: u64,
    /// For how many seconds requests are due.
    pub(super) duration: f64,
    pub(super) highest_rate: f64,
}

impl Timing {
    /// Takes the rate over time of a scenario.
    pub(super) fn of_scenario(scenario: &Scenario, seed: u64) -> Self {
        let (stages, arrivals) = (scenario.stages.clone(), scenario.arrivals);
        let (duration, highest_rate) = (scenario.duration(), scenario.highest_rate());
        let schedule = Schedule::new(stages.clone(), arrivals, seed);
        Self { schedule, arrivals, stages, seed, duration, highest_rate }
    }

    /// Takes the times of a file.
    pub(super) fn of_file(file: &Path, text: &str, seed: u64) -> Result<Self, CommandError> {
        let mut times = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let time = line.trim().parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
            let nanos = time.and_then(|time| u64::try_from(time.as_nanos()).ok());
            times.push(nanos.ok_or_else(|| {
                let (file, number) = (file.display(), number + 1);
                CommandError::usage(format!(
                    "{file}, line {number}: `{line}` is not a time in seconds"
                ))
            })?);
        }
        let last = times
            .iter()
            .copied()
            .max()
            .ok_or_else(|| CommandError::usage(format!("{} has no times", file.display())))?;
        // A file of one moment has no rate; a second is as good as any other time.
        let duration = if last > 0 { last as f64 * 1e-9 } else { 1.0 };
        let highest_rate = times.len() as f64 / duration;
        let schedule = Schedule::of_times(times);
        let (arrivals, stages) = (Arrivals::Replayed, Vec::new());
        Ok(Self { schedule, arrivals, stages, seed, duration, highest_rate })
    }
}

/// Returns the rate that is asked for at a time; none outside the stages, and for times of a file.
pub(super) fn rate_at(stages: &[Stage], seconds: f64) -> Option<f64> {
    let mut begins = 0.0;
    for stage in stages {
        let within = (seconds - begins) / stage.seconds;
        if (0.0..1.0).contains(&within) {
            return Some(stage.from + (stage.to - stage.from) * within);
        }
        begins += stage.seconds;
    }
    None
}

/// Reads `Name: value`.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once(':').ok_or_else(|| format!("`{text}` is not of the form 'Name: value'"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Returns a seed that differs from time to time, short enough to be typed.
pub(super) fn seed_of_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) % 100_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_two_ends() {
        let range = |text: &str| text.parse::<Rates>().unwrap().range();
        assert_eq!(range("100..5000"), Some([100.0, 5000.0]));
        for text in ["100", "0..5", "5..1", "1..2,3..4"] {
            assert_eq!(range(text), None, "{text}");
        }
    }

    fn of_rates(rates: &Rates) -> Timing {
        let (stages, arrivals) = (rates.stages(10.0), Arrivals::Even);
        Timing::of_scenario(&Scenario { stages, arrivals, ..Scenario::default() }, 1)
    }

    #[test]
    fn steps_share_the_time() {
        let rates: Rates = "100,200".parse().unwrap();
        let timing = of_rates(&rates);
        assert_eq!(timing.stages.len(), 2);
        assert_eq!(timing.schedule.count(), 1500);
        assert!((timing.highest_rate - 200.0).abs() < 1e-9);
    }

    #[test]
    fn the_rate_that_is_asked_for_follows_the_stages() {
        let stages = of_rates(&"100..200,400".parse().unwrap()).stages;
        let at = |seconds| rate_at(&stages, seconds).map(|rate| becalm_model::whole(rate.round()));
        assert_eq!([0.0, 2.5, 5.0, 10.0].map(at), [Some(100), Some(150), Some(400), None]);
    }

    #[test]
    fn a_file_has_a_time_on_each_line() {
        let read = |text| Timing::of_file(Path::new("t"), text, 1);
        let timing = read("0.5\n\n0.25\n").unwrap();
        assert!(timing.schedule.eq([250_000_000, 500_000_000]));
        assert!((timing.highest_rate - 4.0).abs() < 1e-9);
        let error = read("0\nsoon\n").unwrap_err();
        assert!(error.message.contains("t, line 2: `soon`"), "{}", error.message);
        assert!(read("\n").is_err() && read("-1").is_err());
    }

    #[test]
    fn a_header_has_a_colon() {
        assert_eq!(header("A: b:c"), Ok(("A".to_owned(), "b:c".to_owned())));
        assert!(header("A").is_err());
    }
}
