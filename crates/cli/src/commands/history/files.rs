//! The measurements in files: of becalm, of other tools, and histories of other tools.

use std::path::Path;

use becalm_formats::{history_formats, measured_last};
use becalm_model::history::AtCommit;
use becalm_model::{GateNote, Note, Record, SessionNote};

use crate::error::CommandError;
use crate::foreign;
use crate::records::record_of;
use crate::ui::Ui;

/// What a file or folder holds.
pub(crate) enum Content {
    /// A history: one measurement per commit.
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

/// Returns the measurements of a record: one, or one for each commit that `compare --rev` compared.
pub(crate) fn measurements(record: Record) -> Vec<AtCommit> {
    let last = measured_last(&record);
    becalm_series::measurements(record, last)
}

/// Says why the session of a file did not finish, or not with all its subjects.
pub(crate) fn broken_off_by(record: &Record, file: &str) -> Vec<Note> {
    let broken_off = record.interrupted.iter().map(|because| {
        GateNote::BrokenOff { file: file.to_owned(), because: because.clone() }.into()
    });
    let left_out = record.notes.iter().filter_map(|note| match note {
        Note::Session(SessionNote::LeftOut { failure }) => {
            Some(GateNote::NotWhole { file: file.to_owned(), failure: failure.clone() }.into())
        }
        _ => None,
    });
    broken_off.chain(left_out).collect()
}
