//! A short table to paste into a review.

use std::fmt::Write as _;

use becalm_model::{Record, RecordKind};

use crate::benchmarks;
use crate::comparison::headlines;
use crate::comparison_table;
use crate::conditions::command_line;
use crate::escape;
use crate::estimate;
use crate::labels::{Labels, meaning};
use crate::quantity::NBSP;
use crate::remarks;
use crate::shown;
use crate::suite;
use crate::width::printable;
use becalm_model::DisturbedRun;

/// Writes the verdict, the numbers and what they rest on as GitHub-flavoured Markdown.
pub fn markdown(record: &Record, disturbed: &[DisturbedRun]) -> String {
    let labels = Labels::of(&record.subjects);
    let mut out = String::new();
    let plain = |text: &str| escape::markdown(&text.replace(NBSP, " "));
    if record.kind == RecordKind::Comparison {
        for (_, text) in headlines(record, &labels) {
            let _ = writeln!(out, "**{}**\n", plain(&text));
        }
        for (title, table) in comparison_table::tables(record, &labels, true) {
            if !title.is_empty() {
                let _ = writeln!(out, "{}\n", plain(&title));
            }
            let _ = writeln!(out, "{}", table.markdown());
        }
    } else if shown::is_suite(record) {
        let _ = writeln!(out, "{}", suite::table(record, true).markdown());
    } else {
        for metric in shown::full_metrics(record) {
            let _ = writeln!(out, "{}\n", plain(&shown::metric_at(record, metric).name));
            let _ =
                writeln!(out, "{}", estimate::subjects(record, &labels, metric, true).markdown());
        }
    }
    for subject in 0..record.subjects.len() {
        if record.kind != RecordKind::Comparison
            && let Some((title, table)) = benchmarks::of(record, &labels, subject, true)
        {
            let _ = writeln!(out, "{}\n\n{}", plain(&title), table.markdown());
        }
    }
    for (index, subject) in record.subjects.iter().enumerate() {
        let _ = writeln!(
            out,
            "- {}: {}",
            plain(labels.get(index)),
            code(&meaning(subject, labels.get(index)))
        );
    }
    let mut remarks = remarks::measured(record, disturbed);
    remarks.extend(remarks::next_steps(record, &labels));
    for remark in remarks {
        let _ = writeln!(out, "- {}", plain(&remark));
    }
    let by = if record.kind == RecordKind::Import { "read by becalm" } else { "becalm" };
    let _ = writeln!(out, "- {by} {}, {}", plain(&record.version), code(&command_line(record)));
    out
}

/// Writes inline code, fenced by more backticks than the text holds in a row.
pub(crate) fn code(text: &str) -> String {
    let text = printable(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // CommonMark strips one space on both sides, which keeps a backtick at the edge apart.
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}
