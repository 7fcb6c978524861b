//! The values that a record adds to series.
//!
//! A series is of a benchmark and a metric. A subject is a benchmark; of a suite it has the name there. A
//! function inside a harness is one too: its name, behind that of the subject where several could have it.
//! What it is about is the metric `time`, or `value` where it is no time, and what is measured beside that has
//! its own name, such as `B/op`.

use becalm_model::history::{SeriesKey, full_name};
use becalm_model::{Metric, Record, RecordKind, Run, Unit, metric};
use becalm_stats::Sample;
use becalm_stats::center::median;
use becalm_stats::median_error::median_error;
use becalm_store::NewPoint;

use becalm_model::MeasuredRevision;

/// What importers and becalm itself say of a commit among the parameters, which no series is split by.
const ABOUT: [&str; 8] =
    ["commit", "branch", "dirty", "message", "date", "tool", "project", "revision"];

/// Returns one value for each subject and metric that has any.
pub(crate) fn points(record: &Record) -> Vec<NewPoint> {
    let mut points = Vec::new();
    for subject in 0..record.subjects.len() {
        let main = main_metrics(record, subject);
        for (index, metric) in record.metrics.iter().enumerate() {
            // What was cut off took longer than its timeout, which the median needs to know and no more, as long as
            // it is less than half. What else was counted until then says nothing.
            let is_used = |run: &&Run| !run.is_censored() || metric.name == metric::WALL_TIME;
            let runs: Vec<&Run> = record.measured(subject).filter(is_used).collect();
            if 2 * runs.iter().filter(|run| run.is_censored()).count() >= runs.len() {
                continue;
            }
            let values: Vec<f64> = runs.iter().filter_map(|run| run.value(index)).collect();
            let Ok(sample) = Sample::new(values) else { continue };
            points.push(NewPoint {
                benchmark: benchmark(record, subject, metric),
                metric: name(metric),
                unit: metric.unit.clone(),
                direction: metric.direction,
                parameters: parameters(record, subject),
                main: main.contains(&index),
                exact: metric.exact,
                value: median(&sample),
                error: median_error(&sample),
                runs: u32::try_from(sample.len()).unwrap_or(u32::MAX),
            });
        }
    }
    points
}

fn benchmark(record: &Record, subject: usize, metric: &Metric) -> String {
    let in_suite = record.terms.get(subject).map(|terms| terms.benchmark.as_str());
    let in_suite = in_suite.filter(|name| !name.is_empty());
    let of_subject = in_suite.unwrap_or(&record.subjects[subject].name);
    match &metric.benchmark {
        None => of_subject.to_owned(),
        Some(inside) if in_suite.is_none() && record.subjects.len() == 1 => inside.clone(),
        Some(inside) => format!("{of_subject} / {inside}"),
    }
}

fn name(metric: &Metric) -> String {
    let Some(benchmark) = &metric.benchmark else { return metric.name.clone() };
    if metric.is_main() {
        return if metric.unit == Unit::Second { "time" } else { "value" }.to_owned();
    }
    let beside = metric.name.strip_prefix(benchmark.as_str()).unwrap_or(&metric.name);
    beside.trim().to_owned()
}

/// Returns how benchmark and metric of one side of a comparison are called in a history: revisions of a program
/// are one benchmark, under the name of the command.
pub(crate) fn names_in_comparison(
    record: &Record,
    subject: usize,
    metric: &Metric,
) -> (String, String) {
    let one = &record.subjects[subject];
    let benchmark = match (&metric.benchmark, MeasuredRevision::of(one)) {
        (Some(inside), Some(_)) => inside.clone(),
        (None, Some(revision)) => shell_words::join(&revision.command),
        (_, None) => benchmark(record, subject, metric),
    };
    (benchmark, name(metric))
}

/// A subject of which runs were cut off at the timeout.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CutOff {
    /// Index of the subject.
    pub(crate) subject: usize,
    /// The benchmark, as its series are called.
    pub(crate) benchmark: String,
    /// The benchmark and those inside it.
    pub(crate) all: Vec<String>,
    /// Whether it is judged by its wall time.
    pub(crate) is_about_wall_time: bool,
    /// Its parameters.
    pub(crate) parameters: Vec<(String, String)>,
    /// How many measured runs were cut off.
    pub(crate) runs: usize,
    /// Of how many.
    pub(crate) of: usize,
    /// The median wall time, those runs included, in seconds: where half of them or more were cut off it is larger
    /// than that.
    pub(crate) at_least: Option<f64>,
}

impl CutOff {
    /// Returns the name of the benchmark with its parameters.
    pub(crate) fn name(&self) -> String {
        full_name(&self.benchmark, self.parameters.iter().map(|(name, value)| (name, value)))
    }

    /// Says whether so many runs were cut off that their median is only known to be larger than the timeout.
    pub(crate) fn is_without_value(&self) -> bool {
        2 * self.runs >= self.of
    }

    /// Says whether a series is of it, or of a benchmark inside it.
    pub(crate) fn has(&self, series: &SeriesKey) -> bool {
        let mut parameters = self.parameters.clone();
        parameters.sort();
        self.all.contains(&series.benchmark) && parameters == series.parameters
    }
}

impl std::fmt::Display for CutOff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} runs were cut off at the timeout", self.runs, self.of)
    }
}

/// Returns the subjects of which measured runs were cut off.
pub(crate) fn cut_off(record: &Record) -> Vec<CutOff> {
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
            is_about_wall_time: wall.is_some_and(|at| main_metrics(record, subject).contains(&at)),
            parameters: parameters(record, subject),
            runs,
            of,
            at_least: Sample::new(walls).ok().map(|walls| median(&walls)),
        })
    };
    (0..record.subjects.len()).filter_map(of_subject).collect()
}

/// Returns the smallest change that matters of what a point is of, where the suite said so when it was measured.
pub(crate) fn margin_of(record: &Record, point: &NewPoint) -> Option<f64> {
    (0..record.subjects.len()).find_map(|subject| {
        let margin = |metric: &Metric| {
            let is_it = name(metric) == point.metric
                && benchmark(record, subject, metric) == point.benchmark
                && parameters(record, subject) == point.parameters;
            if is_it { record.margin_of(subject, metric) } else { None }
        };
        record.metrics.iter().find_map(margin)
    })
}

fn parameters(record: &Record, subject: usize) -> Vec<(String, String)> {
    let subject = &record.subjects[subject];
    let is_revision = MeasuredRevision::of(subject).is_some();
    let of_commit = |name: &str| match record.kind {
        RecordKind::Import => ABOUT.contains(&name),
        _ => is_revision && MeasuredRevision::is_told_by(name),
    };
    let parameters = subject.parameters.iter();
    parameters.filter(|(name, _)| !of_commit(name)).cloned().collect()
}

/// Returns the metrics of which a subject has values and that it is about: those that the suite names, or else what the
/// benchmarks inside the program are about, or else all that those have, or else the metrics that the user asked for and the wall time.
fn main_metrics(record: &Record, subject: usize) -> Vec<usize> {
    let has = |index: usize| record.measured(subject).any(|run| run.value(index).is_some());
    let own: Vec<usize> = (0..record.metrics.len()).filter(|&index| has(index)).collect();
    let all = |is_wanted: &dyn Fn(&Metric) -> bool| -> Vec<usize> {
        own.iter().copied().filter(|&index| is_wanted(&record.metrics[index])).collect()
    };
    let terms = record.terms.get(subject);
    let is_named = |metric: &Metric| {
        terms.is_some_and(|terms| {
            terms.metrics.iter().any(|one| one.name == metric.name || metric.is_measure(&one.name))
        })
    };
    let named = all(&is_named);
    if !named.is_empty() {
        return named;
    }
    // Some tools name every measure and none that the benchmark is about, such as gungraun's counts.
    let of_benchmarks = [all(&Metric::is_main), all(&|metric| metric.benchmark.is_some())];
    if let Some(some) = of_benchmarks.into_iter().find(|some| !some.is_empty()) {
        return some;
    }
    all(&|metric| metric.name == record.usual_metric() || !metric::is_builtin(&metric.name))
}
