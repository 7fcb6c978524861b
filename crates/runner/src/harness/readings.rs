//! From the results that a harness left to one value per benchmark.

use std::io;

use becalm_formats::{File, ImportError, import};
use becalm_model::{Metric, Record};
use becalm_stats::{Sample, center};

use super::results::ResultFolder;
use super::table::{Harness, ResultsPlace};
use crate::rounds::BenchmarkValue;

/// Why a run of a harness gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The results cannot be read, mostly because the harness wrote none.
    #[error("{harness} left no results that becalm can read: {source}{filter}")]
    NoResults {
        /// Name of the harness.
        harness: &'static str,
        /// What went wrong.
        source: io::Error,
        /// The filter, which may match no benchmark: `; ...`.
        filter: String,
    },
    /// They are something other than they should be.
    #[error("the results of {harness} cannot be read: {source}{beginning}{filter}")]
    Format {
        /// Name of the harness.
        harness: &'static str,
        /// What went wrong.
        source: Box<ImportError>,
        /// The first line of what it printed, where that is of help: `; it begins with: ...`.
        beginning: String,
        /// The filter, which may match no benchmark: `; ...`.
        filter: String,
    },
}

/// Reads what the benchmarks of one run gave.
pub fn readings(
    harness: &Harness,
    folder: &ResultFolder,
    output: Option<&[u8]>,
    filter: Option<&str>,
) -> Result<Vec<BenchmarkValue>, HarnessError> {
    let filter = filter.map(of_filter).unwrap_or_default();
    let files = match harness.place {
        ResultsPlace::Output => {
            vec![File::new("the output", output.unwrap_or_default().to_vec())]
        }
        place => folder.read(place).map_err(|source| HarnessError::NoResults {
            harness: harness.name,
            source,
            filter: filter.clone(),
        })?,
    };
    let record = import(&files, harness.format).map_err(|source| HarnessError::Format {
        harness: harness.name,
        beginning: match source {
            ImportError::Unrecognised { .. } => beginning(output),
            _ => String::new(),
        },
        filter,
        source: Box::new(source),
    })?;
    Ok(of_record(&record))
}

/// Most harnesses end without a word where nothing matches.
fn of_filter(filter: &str) -> String {
    format!("; does any benchmark match the filter `{filter}`?")
}

/// Quotes the first line of an output that was not understood: most often it is a message.
fn beginning(output: Option<&[u8]>) -> String {
    let text = String::from_utf8_lossy(output.unwrap_or_default());
    let line = text.trim_start().lines().next().unwrap_or_default();
    let line: String = line.chars().filter(|c| !c.is_control()).take(200).collect();
    if line.is_empty() { String::new() } else { format!("; it begins with: {line}") }
}

/// Takes all that was measured as one process: a harness that starts processes of its own is one run too.
fn of_record(record: &Record) -> Vec<BenchmarkValue> {
    let mut readings = Vec::new();
    for (subject, named) in record.subjects.iter().enumerate() {
        for (index, metric) in record.metrics.iter().enumerate() {
            let mut values = Vec::new();
            let mut iterations = Vec::new();
            for run in record.measured(subject) {
                let Some(value) = run.value(index) else { continue };
                values.push(value);
                match run.part(index) {
                    Some(part) if !part.iterations.is_empty() => {
                        iterations.extend(&part.iterations);
                    }
                    _ => iterations.push(value),
                }
            }
            let Ok(sample) = Sample::new(values) else { continue };
            let value = center::median(&sample);
            if iterations.len() == 1 {
                iterations.clear();
            }
            let metric = if metric.benchmark.is_some() {
                metric.clone()
            } else {
                of_command(&named.name, metric)
            };
            readings.push(BenchmarkValue { metric, value, iterations });
        }
    }
    readings
}

/// Makes the metric of a command that another runner measured one of a benchmark.
fn of_command(command: &str, metric: &Metric) -> Metric {
    let name = if metric.name == becalm_model::metric::WALL_TIME {
        command.to_owned()
    } else {
        format!("{command} {}", metric.name)
    };
    Metric { name, benchmark: Some(command.to_owned()), ..metric.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::harness;

    #[test]
    fn commands_that_another_runner_measured_are_benchmarks() {
        let text = r#"{"results": [{"command": "a", "times": [1, 3, 2], "memory_usage_byte": [5, 5, 5]},
                                    {"command": "b", "times": [4]}]}"#;
        let record = import(&[File::of_text("x", text)], None).unwrap();
        let found: Vec<_> = of_record(&record)
            .into_iter()
            .map(|r| (r.metric.name, r.value, r.iterations))
            .collect();
        assert_eq!(
            found,
            [
                ("a".to_owned(), 2.0, vec![1.0, 3.0, 2.0]),
                ("a max_rss".to_owned(), 5.0, vec![5.0; 3]),
                ("b".to_owned(), 4.0, vec![]),
            ]
        );
    }

    #[test]
    fn scripts_of_tinybench_may_print_json_or_the_table_of_the_library() {
        let folder = ResultFolder::create().unwrap();
        let found = |text: &str| {
            let values =
                readings(harness("tinybench").unwrap(), &folder, Some(text.as_bytes()), None)
                    .unwrap();
            let nanoseconds = |one: BenchmarkValue| (one.metric.name, (one.value * 1e9).round());
            values.into_iter().map(nanoseconds).collect::<Vec<_>>()
        };
        let json = r#"[{"name": "a", "result": {"latency": {"mean": 3, "p50": 2}}}]"#;
        assert_eq!(found(json), [("a".to_owned(), 2e6)]);
        let table = "x benchmark\n\
             ┌─────────┬───────────┬───────────────────┬───────────────────┐\n\
             │ (index) │ Task name │ Latency avg (ns)  │ Latency med (ns)  │\n\
             ├─────────┼───────────┼───────────────────┼───────────────────┤\n\
             │ 0       │ 'b: x'    │ '5207.4 ± 20.57%' │ '1045.0 ± 141.00' │\n\
             └─────────┴───────────┴───────────────────┴───────────────────┘\n";
        let again = table.replace("b: x", "c: x");
        let both = found(&format!("{table}{again}"));
        assert_eq!(both, [("b: x".to_owned(), 1045.0), ("c: x".to_owned(), 1045.0)]);
    }

    #[test]
    fn a_harness_that_wrote_nothing_is_named() {
        let folder = ResultFolder::create().unwrap();
        let error = readings(harness("hyperfine").unwrap(), &folder, None, None).unwrap_err();
        assert!(error.to_string().starts_with("hyperfine left no results"), "{error}");
        let filter = Some("Sort");
        let error = readings(harness("hyperfine").unwrap(), &folder, None, filter).unwrap_err();
        assert!(error.to_string().ends_with("match the filter `Sort`?"), "{error}");
    }

    #[test]
    fn a_filter_that_may_match_nothing_is_named() {
        let folder = ResultFolder::create().unwrap();
        let output = Some(&b"running 0 tests\n"[..]);
        let error = readings(harness("go").unwrap(), &folder, output, Some("Sort")).unwrap_err();
        assert!(error.to_string().ends_with("match the filter `Sort`?"), "{error}");
    }

    #[test]
    fn every_harness_reads_a_format_that_there_is() {
        for one in crate::harness::HARNESSES {
            assert!(
                one.format.is_none_or(|name| becalm_formats::entry(name).is_ok()),
                "{}",
                one.name
            );
        }
    }
}
