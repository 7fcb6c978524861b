//! What a record has no value of, because its runs were cut off at the timeout.

use becalm_model::history::{SeriesKey, full_name};
use becalm_model::{GateReason, Metric, Record, Unit, metric};
use becalm_stats::Sample;
use becalm_stats::center::median;

use crate::points::{benchmark, parameters};

/// A subject of which runs were cut off at the timeout.
#[derive(Debug, Clone, PartialEq)]
pub struct CutOff {
    /// Index of the subject.
    pub subject: usize,
    /// The benchmark, as its series are called.
    pub benchmark: String,
    /// The benchmark and those inside it.
    pub all: Vec<String>,
    /// Whether it is judged by its wall time.
    pub is_about_wall_time: bool,
    /// Its parameters.
    pub parameters: Vec<(String, String)>,
    /// How many measured runs were cut off.
    pub runs: usize,
    /// Of how many.
    pub of: usize,
    /// The median wall time, those runs included, in seconds: where half of them or more were cut off it is larger
    /// than that.
    pub at_least: Option<f64>,
}

impl CutOff {
    /// Returns the name of the benchmark with its parameters.
    pub fn name(&self) -> String {
        full_name(&self.benchmark, self.parameters.iter().map(|(name, value)| (name, value)))
    }

    /// Says whether so many runs were cut off that their median is only known to be larger than the timeout.
    pub fn is_without_value(&self) -> bool {
        2 * self.runs >= self.of
    }

    /// Returns it as the reason of a result.
    pub fn reason(&self) -> GateReason {
        GateReason::CutOff { runs: self.runs, of: self.of }
    }

    /// Says whether a series is of it, or of a benchmark inside it.
    pub fn has(&self, series: &SeriesKey) -> bool {
        let mut parameters = self.parameters.clone();
        parameters.sort();
        self.all.contains(&series.benchmark) && parameters == series.parameters
    }
}

/// Returns the subjects of which measured runs were cut off.
pub fn cut_off(record: &Record) -> Vec<CutOff> {
    let wall = record.metric_index(metric::WALL_TIME);
    let of_subject = |subject: usize| {
        let (mut runs, mut of) = (0, 0);
        for run in record.measured(subject) {
            of += 1;
            runs += usize::from(run.is_censored());
        }
        let walls = wall.map_or(Vec::new(), |wall| record.values(subject, wall));
        (runs > 0).then(|| CutOff {
            subject,
            benchmark: benchmark(record, subject, &Metric::lower(metric::WALL_TIME, Unit::Second)),
            all: record.metrics.iter().map(|one| benchmark(record, subject, one)).collect(),
            is_about_wall_time: wall.is_some_and(|at| record.about(subject).contains(&at)),
            parameters: parameters(record, subject),
            runs,
            of,
            at_least: Sample::new(walls).ok().map(|walls| median(&walls)),
        })
    };
    (0..record.subjects.len()).filter_map(of_subject).collect()
}
