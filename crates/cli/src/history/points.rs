//! The values that a record adds to series.
//!
//! A series is of a benchmark and a metric. A subject is a benchmark; of a suite it has the name there. A
//! function inside a harness is one too: its name, behind that of the subject where several could have it.
//! What it is about is the metric `time`, or `value` where it is no time, and what is measured beside that has
//! its own name, such as `B/op`.

use becalm_model::{Metric, Record, RecordKind, Run, Unit, metric};
use becalm_stats::Sample;
use becalm_stats::center::median;
use becalm_stats::median_error::median_error;
use becalm_store::NewPoint;

/// What importers and becalm itself say of a commit among the parameters, which no series is split by.
const ABOUT: [&str; 8] =
    ["commit", "branch", "dirty", "message", "date", "tool", "project", "revision"];

/// Returns one value for each subject and metric that has any.
pub(crate) fn points(record: &Record) -> Vec<NewPoint> {
    let mut points = Vec::new();
    for subject in 0..record.subjects.len() {
        let main = main_metrics(record, subject);
        for (index, metric) in record.metrics.iter().enumerate() {
            let values: Vec<f64> = record
                .measured(subject)
                .filter(|run| !run.is_censored())
                .filter_map(|run: &Run| run.value(index))
                .collect();
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
    let is_revision = one.parameters.iter().any(|(name, _)| name == "revision");
    let benchmark = match &metric.benchmark {
        Some(inside) if is_revision => inside.clone(),
        None if is_revision => shell_words::join(&one.command),
        _ => benchmark(record, subject, metric),
    };
    (benchmark, name(metric))
}

fn parameters(record: &Record, subject: usize) -> Vec<(String, String)> {
    let of_commit = |name: &str| match record.kind {
        RecordKind::Import => ABOUT.contains(&name),
        _ => name == "revision",
    };
    let parameters = record.subjects[subject].parameters.iter();
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
