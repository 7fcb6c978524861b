//! What the JSON reporter of vitest 5 writes of benchmarks.
//!
//! - `testResults[].assertionResults[].benchmarks[].tasks[]`: a file, a test, what the test ran at once, and a
//!   function of it with a name and what tinybench has in `result`. Times are in milliseconds.
//! - The file is named by its whole path, which differs between two copies of a project, so that only its last
//!   part is in the names here.
//! - Tests without benchmarks, and those that failed, have an empty list or none.

use serde::Deserialize;

use super::tinybench_figures::Figures;
use crate::imported::{Imported, Names};
use crate::json::{self, Maybe, Text};
use crate::{File, ImportError};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    test_results: Vec<OneFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneFile {
    name: Text,
    message: Text,
    assertion_results: Maybe<Vec<Test>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    full_name: Text,
    status: Text,
    benchmarks: Maybe<Vec<Comparison>>,
}

#[derive(Deserialize)]
struct Comparison {
    tasks: Maybe<Vec<Task>>,
}

#[derive(Deserialize)]
struct Task {
    name: Text,
    latency: Option<Figures>,
}

/// Says whether a report of vitest is of this kind.
pub(super) fn is_one(text: &str) -> bool {
    text.contains("\"assertionResults\"")
}

/// Reads it.
pub(super) fn read(file: &File) -> Result<Imported, ImportError> {
    let report: Report = json::read(file)?;
    let mut imported = Imported::of("vitest");
    let subject = imported.subject("vitest");
    let mut names = Names::default();
    for one in &report.test_results {
        let file_name = one.name.0.rsplit(['/', '\\']).next().unwrap_or_default();
        if !one.message.0.is_empty() {
            imported.failed(file_name, Some(one.message.0.clone()));
        }
        let mut parts = Vec::new();
        for test in &one.assertion_results.0 {
            if test.status.0 == "failed" {
                imported.failed(&test.full_name.0, None);
            }
            for task in test.benchmarks.iter().flat_map(|comparison| &comparison.tasks.0) {
                let mut path = vec![file_name, &test.full_name.0];
                // A test of one benchmark mostly has its name.
                if task.name.0 != test.full_name.0 {
                    path.push(&task.name.0);
                }
                path.retain(|name| !name.is_empty());
                let name = names.unique(&path.join(" > "));
                let figures = task.latency.as_ref();
                parts.extend(figures.and_then(|one| one.import(&mut imported, subject, &name)));
            }
        }
        imported.parts(subject, parts);
    }
    Ok(imported)
}
