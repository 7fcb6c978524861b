//! Reading captures, and showing records so that they can be compared word for word.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use becalm_formats::{File, import};
use becalm_model::{Direction, Note, Outcome, Record};

/// Reads a capture: a file, or all files below a folder.
#[expect(clippy::disallowed_methods, reason = "the library does no I/O, its tests do")]
pub(crate) fn files(path: &str) -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(path);
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|file| {
            let name = match file.strip_prefix(&root) {
                Ok(inside) if inside != Path::new("") => inside.to_str().unwrap(),
                _ => path,
            };
            File::new(name, std::fs::read(&file).unwrap())
        })
        .collect()
}

fn collect(path: &Path, paths: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), paths);
        }
    } else {
        paths.push(path.to_owned());
    }
}

/// Imports a capture, which has to be recognised as `format`.
#[track_caller]
pub(crate) fn capture(path: &str, format: &str) -> Record {
    let record = import(&files(path), None).unwrap();
    assert_eq!(record.source.as_ref().unwrap().format, format);
    record
}

/// Shows a note in one line; its sentence is made elsewhere.
pub(crate) fn told(note: &Note) -> String {
    match note {
        Note::Text(sentence) => sentence.text.clone(),
        other => format!("{other:?}"),
    }
}

/// Shows a record in few lines: the source and its facts, the metrics, what each subject gave for them
/// in each of its processes, and what the tool concluded itself.
pub(crate) fn condensed(record: &Record) -> String {
    let mut text = String::new();
    let source = record.source.as_ref().unwrap();
    writeln!(text, "{} by {}", source.format, source.tool).unwrap();
    for (name, value) in &record.machine.facts {
        writeln!(text, "  {name} = {value}").unwrap();
    }
    for note in &record.notes {
        writeln!(text, "  note: {}", told(note)).unwrap();
    }
    for (index, subject) in record.subjects.iter().enumerate() {
        writeln!(text, "{} {:?} {:?}", subject.name, subject.command, subject.parameters).unwrap();
        for (at, metric) in record.metrics.iter().enumerate() {
            let runs: Vec<String> = record
                .runs
                .iter()
                .filter(|run| run.subject == index)
                .filter_map(|run| {
                    let value = run.value(at)?;
                    let warmup = if run.warmup { "warm-up " } else { "" };
                    let outcome = match run.outcome {
                        Outcome::Exited(0) | Outcome::Unknown => String::new(),
                        other => format!(" {other}"),
                    };
                    let iterations = match run.part(at).map(|part| &part.iterations) {
                        Some(iterations) if !iterations.is_empty() => {
                            let shown: Vec<String> =
                                iterations.iter().take(4).map(|v| figure(*v)).collect();
                            let more = if iterations.len() > 4 { " .." } else { "" };
                            format!(" of {}: {}{more}", iterations.len(), shown.join(" "))
                        }
                        _ => String::new(),
                    };
                    Some(format!("{warmup}{}{iterations}{outcome}", figure(value)))
                })
                .collect();
            let summaries: Vec<String> = record
                .summaries
                .iter()
                .filter(|one| one.subject == index && one.metric == at)
                .flat_map(|one| one.figures.iter().map(|(n, v)| format!("{n} {}", figure(*v))))
                .collect();
            if runs.is_empty() && summaries.is_empty() {
                continue;
            }
            let unit = metric.unit.to_string();
            let better = match metric.direction {
                Direction::Lower => "",
                Direction::Higher => " more is better",
            };
            let statistic = metric.statistic.as_ref().map(|s| format!(" ({s})"));
            let exact = if metric.exact { " exact" } else { "" };
            writeln!(
                text,
                "  {} [{unit}{better}{exact}]{}: {}",
                metric.name,
                statistic.unwrap_or_default(),
                runs.join(" | ")
            )
            .unwrap();
            if !summaries.is_empty() {
                writeln!(text, "    {}", summaries.join(", ")).unwrap();
            }
        }
    }
    text
}

/// Shows six digits: units and factors can be told, the last bits of a conversion cannot.
fn figure(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.5e}") }
}
