//! Series of iterations from files and records, classified.

use std::path::{Path, PathBuf};

use becalm_model::wire::{
    LogError, ReadError, STEADY_SCHEMA, SteadyDocument, SteadyRunDocument, SteadySegmentDocument,
    VersionError, json_text,
};
use becalm_model::{Record, with_causes};
use becalm_report::{SteadyRun, class_word, waited_share};
use becalm_session::{files, own_record};
use becalm_stats::steady::{Agreement, Steady, agreement, warm_up};

use crate::error::CommandError;

/// Reads and classifies all series of all files; levels within this share of the last one count as
/// the same.
pub(crate) fn read(paths: &[PathBuf], tolerance: f64) -> Result<Vec<SteadyRun>, CommandError> {
    let mut runs = Vec::new();
    for path in paths {
        let all = series(path)?;
        let several = all.len() > 1;
        for (index, (name, values, waited)) in all.into_iter().enumerate() {
            let name = match name {
                Some(name) => name,
                None if several => format!("{}, series {}", path.display(), index + 1),
                None => path.display().to_string(),
            };
            let run = SteadyRun::of(name.clone(), values, tolerance).map_err(|error| {
                CommandError::measure(format!("{name}: cannot judge the iterations: {error}"))
            })?;
            runs.push(SteadyRun { waited, ..run });
        }
    }
    Ok(runs)
}

/// The iterations of one run, with its name and the share of its time for which it waited, where there are any.
type Series = (Option<String>, Vec<f64>, Option<f64>);

/// Returns the series of one file, with names where it is a record.
fn series(path: &Path) -> Result<Vec<Series>, CommandError> {
    let text = files::read_text(path)?;
    if let Some(record) = record(path, &text)? {
        let mut runs = Vec::new();
        for (index, subject) in record.subjects.iter().enumerate() {
            for run in record.measured(index).filter(|run| !run.iterations.is_empty()) {
                let name = format!("{}, round {}", subject.name, run.round + 1);
                becalm_runner::check_times(&run.iterations)
                    .map_err(|error| CommandError::measure(format!("{name}: {error}")))?;
                let waited = waited_share(&record, run);
                runs.push((Some(name), run.iterations.clone(), waited));
            }
        }
        if runs.is_empty() {
            let path = path.display();
            return Err(CommandError::measure(format!("the runs in {path} have no iterations"))
                .hint("measure with --iterations, which reads them from the program's output"));
        }
        return Ok(runs);
    }
    let all = becalm_runner::recognise(text.as_bytes()).map_err(|error| {
        let path = path.display();
        CommandError::measure(format!(
            "cannot read iterations from {path}: {}",
            with_causes(&error)
        ))
        .hint(
            "expected a record of `run --iterations`, the output of `workload --iterations N \
             --json`, or seconds, either one per line or as a JSON array",
        )
    })?;
    Ok(all.into_iter().map(|values| (None, values, None)).collect())
}

/// Reads a record, if the text is one. Other documents of becalm have iterations too.
fn record(path: &Path, text: &str) -> Result<Option<Record>, CommandError> {
    match own_record(text) {
        Ok((record, _)) => Ok(Some(record)),
        Err(
            error @ (LogError::Version(VersionError::TooNew { .. })
            | LogError::Document(ReadError::Version(VersionError::TooNew { .. }))),
        ) => Err(CommandError::measure(format!("cannot read {}: {error}", path.display()))),
        Err(_) => Ok(None),
    }
}

/// Returns the classified runs as JSON text.
pub(crate) fn json(runs: &[SteadyRun]) -> String {
    let classified: Vec<Steady> = runs.iter().map(|run| run.steady.clone()).collect();
    let agreement = match agreement(&classified) {
        Some(Agreement::Consistent(class)) => class_word(class),
        Some(Agreement::GoodInconsistent) => "good-inconsistent",
        Some(Agreement::BadInconsistent) | None => "bad-inconsistent",
    };
    let document = SteadyDocument {
        schema: STEADY_SCHEMA.to_owned(),
        agreement: agreement.to_owned(),
        warmup: warm_up(&classified),
        runs: runs.iter().map(document).collect(),
    };
    json_text(&document)
}

fn document(run: &SteadyRun) -> SteadyRunDocument {
    let steady = &run.steady;
    SteadyRunDocument {
        name: run.name.clone(),
        iterations: steady.n,
        class: class_word(steady.class).to_owned(),
        steady_from: steady.from,
        seconds_before: run.seconds_before(),
        level: steady.level,
        fastest_of: steady.block,
        tolerance: steady.tolerance,
        segments: steady
            .segments
            .iter()
            .map(|segment| SteadySegmentDocument {
                start: segment.start,
                end: segment.end,
                mean: segment.mean,
                standard_deviation: segment.deviation,
                like_the_last: segment.like_the_last,
            })
            .collect(),
        outliers: steady.outliers.clone(),
    }
}
