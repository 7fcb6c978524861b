//! The measurements in files: of becalm, of other tools, and histories of other tools.

use std::path::Path;

use becalm_formats::{AtCommit, history_formats};
use becalm_model::{Record, RecordKind};

use crate::error::CommandError;
use crate::files::read_record;
use crate::foreign;
use crate::ui::Ui;

/// Reads a file or folder: one measurement, or one for each commit that it knows.
pub(crate) fn measurements(
    path: &Path,
    format: Option<&str>,
    ui: &Ui,
) -> Result<Vec<AtCommit>, CommandError> {
    if let Some(history) = foreign::history(path, format)? {
        if let Some(left_out) = history.left_out {
            ui.warn(format!("{}: {left_out}", path.display()));
        }
        return Ok(history.commits);
    }
    if let Some(format) = format.filter(|format| history_formats().any(|known| known == *format)) {
        return Err(CommandError::measure(format!(
            "{}: nothing could be read as {format}",
            path.display()
        )));
    }
    let record = match format {
        Some(_) => foreign::read(path, format)?,
        None => read_record(path)?,
    };
    Ok(by_revision(record))
}

/// Takes the subjects of `compare --rev` apart, of which each is of another commit, under one name.
pub(crate) fn by_revision(record: Record) -> Vec<AtCommit> {
    let revision = |subject: usize| {
        let parameters = &record.subjects[subject].parameters;
        parameters.iter().find(|(name, _)| name == "revision").map(|(_, id)| id.clone())
    };
    let revisions: Option<Vec<String>> = (0..record.subjects.len()).map(revision).collect();
    let of_own = record.kind != RecordKind::Import;
    let Some(revisions) = revisions.filter(|all| of_own && !all.is_empty()) else {
        return vec![AtCommit { commit: None, time: None, branch: None, record }];
    };
    let one = |(subject, commit): (usize, String)| {
        let mut alone = record.clone();
        alone.kind = RecordKind::Run;
        alone.comparisons.clear();
        alone.subjects = vec![record.subjects[subject].clone()];
        alone.subjects[0].name = shell_words::join(&alone.subjects[0].command);
        alone.terms = record.terms.get(subject).cloned().into_iter().collect();
        alone.runs.retain(|run| run.subject == subject);
        for run in &mut alone.runs {
            run.subject = 0;
        }
        alone.summaries.clear();
        alone.trace = None;
        alone.notes.push(format!("{commit} of a comparison of revisions, taken out of it"));
        AtCommit { commit: Some(commit), time: None, branch: None, record: alone }
    };
    revisions.into_iter().enumerate().map(one).collect()
}
