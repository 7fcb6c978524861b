//! The values that a record adds to series.
//!
//! A series is of a benchmark and a metric. A subject is a benchmark; of a suite it has the name there. A
//! function inside a harness is one too: its name, behind that of the subject where several could have it.
//! What it is about is the metric `time`, or `value` where it is no time, and what is measured beside that has
//! its own name, such as `B/op`.

use std::collections::HashSet;

use becalm_model::{Metric, Record, RecordKind, Run, Unit, metric};
use becalm_stats::Sample;
use becalm_stats::center::median;
use becalm_stats::median_error::median_error;
use becalm_store::NewPoint;

/// Returns one value for each subject and metric that has any.
pub fn points(record: &Record) -> Vec<NewPoint> {
    let mut points = Vec::new();
    for subject in 0..record.subjects.len() {
        let main: HashSet<usize> = record.about(subject).into_iter().collect();
        let measured: Vec<&Run> = record.measured(subject).collect();
        let parameters = parameters(record, subject);
        for index in record.metrics_of(measured.iter().copied()) {
            let metric = &record.metrics[index];
            // What was cut off took longer than its timeout, which the median needs to know and no more, as long as
            // it is less than half. What else was counted until then says nothing.
            let is_used = |run: &&&Run| !run.is_censored() || metric.name == metric::WALL_TIME;
            let runs = measured.iter().filter(is_used);
            let censored = runs.clone().filter(|run| run.is_censored()).count();
            if 2 * censored >= runs.clone().count() {
                continue;
            }
            let values: Vec<f64> = runs.filter_map(|run| run.value(index)).collect();
            let Ok(sample) = Sample::new(values) else { continue };
            points.push(NewPoint {
                benchmark: benchmark(record, subject, metric),
                metric: name(metric),
                unit: metric.unit.clone(),
                direction: metric.direction,
                parameters: parameters.clone(),
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

/// Returns how the benchmark of a metric of a subject is called in a history.
pub(crate) fn benchmark(record: &Record, subject: usize, metric: &Metric) -> String {
    let in_suite = record.suite.get(subject).map(|terms| terms.benchmark.as_str());
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
pub fn names_in_comparison(record: &Record, subject: usize, metric: &Metric) -> (String, String) {
    let one = &record.subjects[subject];
    let benchmark = match (&metric.benchmark, &one.revision) {
        (Some(inside), Some(_)) => inside.clone(),
        (None, Some(_)) => shell_words::join(one.asked_command()),
        (_, None) => benchmark(record, subject, metric),
    };
    (benchmark, name(metric))
}

/// Returns the smallest change that matters of what a point is of, where the suite said so when it was measured.
pub fn margin_of(record: &Record, point: &NewPoint) -> Option<f64> {
    // Only a suite says one.
    (0..record.suite.len().min(record.subjects.len())).find_map(|subject| {
        let margin = |metric: &Metric| {
            let is_it = name(metric) == point.metric
                && benchmark(record, subject, metric) == point.benchmark
                && parameters(record, subject) == point.parameters;
            if is_it { record.margin_of(subject, metric) } else { None }
        };
        record.metrics.iter().find_map(margin)
    })
}

/// Returns the command that a benchmark of these parameters was measured with, if becalm ran one.
pub fn command_of(
    record: &Record,
    named: &str,
    of_parameters: &[(String, String)],
) -> Option<Vec<String>> {
    let is_it = |subject: &usize| {
        let is_named = record.metrics.iter().any(|one| benchmark(record, *subject, one) == named);
        let mut parameters = parameters(record, *subject);
        parameters.sort();
        is_named && parameters == of_parameters
    };
    let subject =
        (0..record.subjects.len()).filter(|_| record.kind != RecordKind::Import).find(is_it)?;
    Some(record.subjects[subject].asked_command()).filter(|command| !command.is_empty())
}

/// Returns the flags with which `becalm compare` and `becalm bisect` decide on a metric as it was measured in a record.
pub fn flags_of(record: &Record, name: &str) -> Vec<String> {
    let backend = record.is_simulated().then_some(["--backend", "callgrind"]);
    let is_own = record.metrics.iter().any(|one| one.name == name && one.benchmark.is_none());
    // Others are read from the output by a rule that the user gave.
    let metric = (is_own && metric::is_builtin(name)).then_some(["--metric", name]);
    backend.into_iter().chain(metric).flatten().map(str::to_owned).collect()
}

/// Returns the parameters of a subject that series are split by.
pub(crate) fn parameters(record: &Record, subject: usize) -> Vec<(String, String)> {
    let is_imported = record.kind == RecordKind::Import;
    let own = record.subjects[subject].series_parameters(is_imported).cloned();
    // A suite has a name for a server and its load together. Elsewhere only the command names a server.
    let load = record.terms.as_ref().and_then(|terms| terms.runs.load.as_ref());
    let load = load.filter(|_| record.suite.is_empty());
    let of_load = load.map(|load| load.scenario.series_parameters());
    own.chain(of_load.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use becalm_model::conditions::Backend;
    use becalm_model::load::{Rates, Scenario, ServerTerms};
    use becalm_model::terms::{RunTerms, Terms};
    use becalm_model::{Subject, SubjectTerms};

    use super::*;

    #[test]
    fn a_server_under_another_load_is_another_series() {
        let with = |rate: &str| {
            let stages = rate.parse::<Rates>().unwrap().stages(5.0);
            let load = ServerTerms {
                text: "checkout".to_owned(),
                scenario: Scenario { stages, ..Scenario::default() },
                url: None,
                ready: None,
                keep: false,
            };
            let runs = RunTerms { load: Some(Box::new(load)), ..RunTerms::default() };
            let mut record = Record::empty(RecordKind::Comparison);
            record.subjects.push(Subject::new("./server".to_owned(), Vec::new()));
            record.terms = Some(Terms { runs, ..Terms::default() });
            record
        };
        let expected = [("rate".to_owned(), "500".to_owned())];
        assert_eq!(parameters(&with("500"), 0), expected);
        assert_ne!(parameters(&with("2000"), 0), expected);
        let mut in_suite = with("500");
        in_suite.suite.push(SubjectTerms::default());
        assert!(parameters(&in_suite, 0).is_empty());
    }

    #[test]
    fn what_measures_again_decides_on_the_same_metric_in_the_same_way() {
        let mut record = Record::empty(RecordKind::Run);
        record.metrics = Metric::always();
        assert_eq!(flags_of(&record, metric::CPU_TIME), ["--metric", "cpu_time"]);
        record.metrics.push(Metric::lower("requests", Unit::Count));
        assert!(flags_of(&record, "requests").is_empty(), "its rule is not known");
        record.metrics.push(Metric::lower(metric::INSTRUCTIONS, Unit::Count));
        record.conditions.backend = Backend::Callgrind;
        let flags = flags_of(&record, metric::INSTRUCTIONS);
        assert_eq!(flags, ["--backend", "callgrind", "--metric", "instructions"]);
        // One of a benchmark inside a harness is not of the whole program.
        let inside = Metric {
            benchmark: Some("parse".to_owned()),
            ..Metric::lower(metric::CONTEXT_SWITCHES, Unit::Count)
        };
        record.metrics.push(inside);
        assert_eq!(flags_of(&record, metric::CONTEXT_SWITCHES).len(), 2);
    }
}
