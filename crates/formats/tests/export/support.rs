//! Records to export, and reading them again.

use becalm_formats::{ExportError, Exported, File, Options, import, writer};
use becalm_model::{
    Direction, Metric, Outcome, Part, Record, RecordKind, Run, Subject, Unit, metric,
};

/// A record of `becalm compare` with two subjects of eight rounds and a warm-up.
pub(crate) fn compared() -> Record {
    let mut record = Record::empty(RecordKind::Comparison);
    record.started_at = 1_795_199_613.0;
    record.metrics = Metric::always();
    record.metrics.push(Metric { exact: true, ..Metric::lower(metric::INSTRUCTIONS, Unit::Count) });
    for (name, value) in [("cpu_model", "Some CPU @ 2 GHz"), ("architecture", "x86_64")] {
        record.machine.facts.insert(name.to_owned(), value.to_owned());
    }
    record.subjects = vec![subject("A", &["./a", "--fast"]), subject("B", &["./b", "it's"])];
    record.subjects[1].parameters.push(("n".to_owned(), "4".to_owned()));
    for round in 0..9_u32 {
        // The second subject is the first to run in odd rounds.
        for order in 0..2 {
            let which = usize::from((round + order) % 2 == 1);
            let base = 0.001 * (1.0 + f64::from(round)).ln() + 0.112_345_678_9;
            let wall = base * (1.0 + 0.3 * which as f64);
            let bytes = 1_048_576.0 + f64::from(round) * 4096.0;
            let values = [wall, wall * 0.9, wall * 0.8, wall / 10.0, bytes, 1e6];
            record.runs.push(Run {
                warmup: round == 0,
                round: round.saturating_sub(1),
                order,
                started: f64::from(round),
                outcome: Outcome::Exited(i32::from(round == 3) * 3),
                values: values.map(Some).to_vec(),
                ..Run::blank(which, 0)
            });
        }
    }
    record
}

/// A record of two programs whose harness gave two benchmarks with iterations and a rate.
pub(crate) fn harness() -> Record {
    let mut record = Record::empty(RecordKind::Import);
    let of = |name: &str, benchmark: &str, unit| Metric {
        benchmark: Some(benchmark.to_owned()),
        ..Metric::lower(name, unit)
    };
    record.metrics = vec![
        of("BenchmarkSort", "BenchmarkSort", Unit::Second),
        of("BenchmarkSort B/op", "BenchmarkSort", Unit::Byte),
        Metric { exact: true, ..of("BenchmarkSort allocs/op", "BenchmarkSort", Unit::Count) },
        of("BenchmarkScan/n=8", "BenchmarkScan/n=8", Unit::Second),
        Metric {
            direction: Direction::Higher,
            ..of("BenchmarkScan/n=8 MB/s", "BenchmarkScan/n=8", Unit::Named("B/s".to_owned()))
        },
    ];
    record.subjects = vec![subject("example.com/a", &[]), subject("example.com/b", &[])];
    for process in 0..6_u32 {
        let which = (process % 2) as usize;
        let shift = 1.0 + f64::from(process) / 7.0;
        let part = |metric, values: [f64; 3]| Part {
            metric,
            value: values[1] * shift,
            iterations: values.map(|value| value * shift).to_vec(),
        };
        record.runs.push(Run {
            round: process / 2,
            parts: vec![
                part(0, [1.1e-7, 1.2e-7, 1.3e-7]),
                part(1, [64.0, 65.5, 72.0]),
                Part { metric: 2, value: 2.0, iterations: vec![2.0; 3] },
                part(3, [0.001_234_5, 0.001_334_5, 0.001_434_5]),
                Part { metric: 4, value: 1.234_567_89e9 * shift, iterations: Vec::new() },
            ],
            ..Run::blank(which, 0)
        });
    }
    record
}

fn subject(name: &str, command: &[&str]) -> Subject {
    let command = command.iter().map(|&word| word.to_owned()).collect();
    Subject::new(name, command)
}

/// Chooses metrics and subjects by name.
pub(crate) fn choose(record: &Record, metrics: &[&str], subjects: &[&str]) -> Options {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    Options::choose(record, &owned(metrics), &owned(subjects)).unwrap()
}

/// Writes a record; without a metric the format chooses.
pub(crate) fn export(
    record: &Record,
    format: &str,
    metrics: &[&str],
) -> Result<Exported, ExportError> {
    (writer(format).unwrap().write)(record, &choose(record, metrics, &[]))
}

/// Writes a record as text.
#[track_caller]
pub(crate) fn text(record: &Record, format: &str, metrics: &[&str]) -> String {
    String::from_utf8(export(record, format, metrics).unwrap().bytes).unwrap()
}

/// Writes a record and reads it again, which has to be recognised as `format`.
#[track_caller]
pub(crate) fn there_and_back(record: &Record, to: &str, format: &str, metrics: &[&str]) -> Record {
    let file = File::new("file", export(record, to, metrics).unwrap().bytes);
    let back = import(&[file], None).unwrap();
    assert_eq!(back.source.as_ref().unwrap().format, format);
    back
}

/// What there is in a record: subject, metric, unit, direction, and for each process the value and the
/// iterations inside of it, bit by bit.
pub(crate) type Contents = Vec<(String, Metric, Vec<(bool, u64, Vec<u64>)>)>;

/// Lists what there is in a record, subject by subject.
pub(crate) fn contents(record: &Record) -> Contents {
    let mut contents = Vec::new();
    for (subject, named) in record.subjects.iter().enumerate() {
        for (at, metric) in record.metrics.iter().enumerate() {
            let runs = record.runs.iter().filter(|run| run.subject == subject && !run.discarded);
            let values = runs.filter_map(|run| {
                let iterations = run.part(at).map(|part| part.iterations.clone());
                let iterations = iterations.unwrap_or_default();
                let bits = iterations.iter().map(|value| value.to_bits()).collect();
                Some((run.warmup, run.value(at)?.to_bits(), bits))
            });
            contents.push((named.name.clone(), metric.clone(), values.collect()));
        }
    }
    contents.retain(|(_, _, values): &(_, _, Vec<_>)| !values.is_empty());
    contents
}

/// The values of one metric of one subject, by name.
#[track_caller]
pub(crate) fn values(record: &Record, subject: &str, metric: &str) -> Vec<f64> {
    let subject = record.subjects.iter().position(|one| one.name == subject);
    let subject = subject.unwrap_or_else(|| panic!("no such subject in {:?}", record.subjects));
    let metric = record.metric_index(metric);
    record.values(subject, metric.unwrap_or_else(|| panic!("{:?}", record.metrics)))
}
