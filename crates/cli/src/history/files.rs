//! The measurements in files: of becalm, of other tools, and histories of other tools.

use std::path::Path;

use becalm_formats::history_formats;
use becalm_model::history::AtCommit;
use becalm_model::{Record, RecordKind, SessionNote};

use crate::error::CommandError;
use crate::foreign;
use crate::records::record_of;
use crate::ui::Ui;
use becalm_model::MeasuredRevision;

/// What a file or folder holds.
pub(crate) enum Content {
    /// A history: a measurement for each commit that it knows.
    Commits(Vec<AtCommit>),
    /// One record.
    Record(Box<Record>),
}

/// Reads a file or folder, standard input for `-`.
pub(crate) fn content(path: &Path, format: Option<&str>, ui: &Ui) -> Result<Content, CommandError> {
    // Standard input can be read only once.
    let files = foreign::files(path)?;
    if let Some(history) = foreign::history(&files, format)? {
        if let Some(left_out) = history.left_out {
            ui.warn(format!("{}: {left_out}", path.display()));
        }
        return Ok(Content::Commits(history.commits));
    }
    if let Some(format) = format.filter(|format| history_formats().any(|known| known == *format)) {
        return Err(CommandError::measure(format!(
            "{}: nothing could be read as {format}",
            path.display()
        )));
    }
    let record = match format {
        Some(_) => foreign::record(path, &files, format)?,
        None => record_of(path, &files)?,
    };
    Ok(Content::Record(Box::new(record)))
}

/// Returns the measurements of a record: one, or that of each commit which `compare --rev` compared.
pub(crate) fn measurements(record: Record) -> Vec<AtCommit> {
    by_revision(match becalm_formats::measured_last(&record) {
        Some(subject) => alone(&record, subject),
        None => record,
    })
}

/// Returns a record with one of its subjects.
fn alone(record: &Record, subject: usize) -> Record {
    let mut alone = record.clone();
    alone.comparisons.clear();
    alone.subjects = vec![record.subjects[subject].clone()];
    alone.terms = record.terms.get(subject).cloned().into_iter().collect();
    alone.runs.retain(|run| run.subject == subject);
    for run in &mut alone.runs {
        run.subject = 0;
    }
    alone.summaries.retain(|one| one.subject == subject);
    for one in &mut alone.summaries {
        one.subject = 0;
    }
    alone.trace = None;
    alone
}

/// Takes the subjects of `compare --rev` apart, of which each is of another commit, under one name.
fn by_revision(record: Record) -> Vec<AtCommit> {
    let revisions: Option<Vec<_>> = record.subjects.iter().map(MeasuredRevision::of).collect();
    let of_own = record.kind != RecordKind::Import;
    let Some(revisions) = revisions.filter(|all| of_own && !all.is_empty()) else {
        return vec![AtCommit { commit: None, time: None, branch: None, record }];
    };
    let one = |(subject, revision): (usize, MeasuredRevision)| {
        let mut alone = alone(&record, subject);
        alone.kind = RecordKind::Run;
        alone.subjects[0].name = shell_words::join(&revision.command);
        let built = revision.built;
        alone.notes.push(SessionNote::OfComparison { built }.into());
        AtCommit { commit: Some(revision.commit), time: None, branch: None, record: alone }
    };
    revisions.into_iter().enumerate().map(one).collect()
}
