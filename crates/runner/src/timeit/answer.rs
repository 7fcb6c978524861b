//! What a worker prints: one line of JSON, with the times of whole values in nanoseconds.

use std::path::PathBuf;

use becalm_model::conditions::OwnTiming;
use becalm_model::{Metric, Unit};
use becalm_stats::{Sample, center};
use serde_json::Value;

use crate::rounds::BenchmarkValue;

/// Why a run of a worker gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// There is no line as workers print them.
    #[error("the worker printed no result; its output ends with: {0}")]
    None(String),
    /// A value took no time.
    #[error("{loops} loops took too little time for the clock to measure")]
    NoTime {
        /// How many loops.
        loops: u64,
    },
}

/// What came of a calibration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calibration {
    /// Loops that make a value.
    pub loops: u64,
    /// Nanoseconds that the last value took, which had so many loops.
    pub nanoseconds: u64,
    /// The program that ran the worker, where it knows.
    pub program: Option<PathBuf>,
    /// What it calls itself, with its version: `CPython 3.13.2`. Empty where it does not know.
    pub version: String,
}

impl Calibration {
    /// Reads the output of a worker that calibrated.
    pub(super) fn read(output: &[u8]) -> Result<Self, AnswerError> {
        let read = |line: &Value| {
            let last = line.get("raw")?.as_array()?.last()?;
            let text = |name| line.get(name).and_then(Value::as_str).unwrap_or_default();
            Some(Self {
                loops: last.get(0)?.as_u64().filter(|&loops| loops > 0)?,
                nanoseconds: last.get(1)?.as_u64()?,
                program: Some(PathBuf::from(text("program"))).filter(|path| path.is_absolute()),
                version: text("version").to_owned(),
            })
        };
        answer(output, read)
    }

    /// Returns how many seconds a value took.
    pub fn seconds(&self) -> f64 {
        self.nanoseconds as f64 * 1e-9
    }
}

/// How the output of a worker becomes one value per run.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Name of the benchmark.
    pub name: String,
    /// Operations in each loop.
    pub operations: f64,
    /// How the workers time it, for the record.
    pub timing: OwnTiming,
}

impl Rule {
    /// Returns what is measured: seconds per operation.
    pub fn metric(&self) -> Metric {
        Metric { benchmark: Some(self.name.clone()), ..Metric::lower(&self.name, Unit::Second) }
    }

    /// Reads the values of one run, of which the median stands for the run.
    pub fn read(&self, output: &[u8]) -> Result<BenchmarkValue, AnswerError> {
        let read = |line: &Value| {
            let loops = line.get("loops")?.as_u64().filter(|&loops| loops > 0)?;
            let values = line.get("values")?.as_array()?;
            let times: Option<Vec<u64>> = values.iter().map(Value::as_u64).collect();
            Some((loops, times.filter(|times| !times.is_empty())?))
        };
        let (loops, times) = answer(output, read)?;
        if times.contains(&0) {
            return Err(AnswerError::NoTime { loops });
        }
        let operations = loops as f64 * self.operations;
        let mut iterations: Vec<f64> =
            times.iter().map(|&time| time as f64 * 1e-9 / operations).collect();
        let sample = Sample::new(iterations.clone()).expect("times are finite, and there is one");
        let value = center::median(&sample);
        if iterations.len() == 1 {
            // A single value is no series.
            iterations.clear();
        }
        Ok(BenchmarkValue { metric: self.metric(), value, iterations })
    }
}

/// Finds the last line that reads as an answer. What the user's code prints past the worker stands before it
/// or, by handlers that run at the exit, behind it.
fn answer<T>(output: &[u8], read: impl Fn(&Value) -> Option<T>) -> Result<T, AnswerError> {
    let lines = output.rsplit(|&byte| byte == b'\n');
    let mut answers = lines.filter_map(|line| read(&serde_json::from_slice(line).ok()?));
    answers.next().ok_or_else(|| {
        let text = String::from_utf8_lossy(output);
        let last = text.trim_end().lines().last().unwrap_or("(nothing)");
        AnswerError::None(last.chars().take(200).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> Rule {
        Rule { name: "1 + 1".to_owned(), operations: 2.0, timing: OwnTiming::Words(String::new()) }
    }

    #[test]
    fn the_median_stands_for_the_run_and_is_per_operation() {
        let line = b"{\"loops\": 1000, \"warmups\": [9000000], \"values\": [3000, 1000, 2000]}\n";
        let reading = rule().read(line).unwrap();
        assert_eq!(reading.metric.benchmark.as_deref(), Some("1 + 1"));
        assert!((reading.value - 1e-9).abs() < 1e-18, "{}", reading.value);
        assert_eq!(reading.iterations.len(), 3);
    }

    #[test]
    fn one_value_is_no_series() {
        let reading = rule().read(b"{\"loops\": 1, \"warmups\": [], \"values\": [7]}").unwrap();
        assert!(reading.iterations.is_empty() && reading.value > 0.0);
    }

    #[test]
    fn what_the_code_prints_around_the_answer_is_passed_over() {
        let output = b"hello\n{\"loops\": 0}\n{\"loops\": 1, \"values\": [7, 7]}\nbye";
        assert_eq!(rule().read(output).unwrap().iterations.len(), 2);
    }

    #[test]
    fn no_answer_shows_the_end_of_the_output() {
        let error = |output: &[u8]| rule().read(output).unwrap_err().to_string();
        assert!(error(b"oh\nno\n").ends_with("its output ends with: no"));
        assert!(error(b"").ends_with("(nothing)"));
        assert_eq!(
            error(b"{\"loops\": 8, \"values\": [0, 7]}"),
            "8 loops took too little time for the clock to measure"
        );
    }

    #[test]
    fn a_calibration_tells_the_loops_and_who_ran_them() {
        let line = b"{\"loops\": 4, \"raw\": [[2, 60], [4, 110]], \"program\": \"/bin/p\", \"version\": \"P 1\"}";
        let expected = Calibration {
            loops: 4,
            nanoseconds: 110,
            program: Some("/bin/p".into()),
            version: "P 1".to_owned(),
        };
        assert_eq!(Calibration::read(line), Ok(expected));
        let bare = Calibration::read(b"{\"raw\": [[1, 110]], \"loops\": 1}").unwrap();
        assert_eq!((bare.program, bare.version.as_str()), (None, ""));
    }
}
