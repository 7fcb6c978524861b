//! The files that a session is saved to.

use std::path::PathBuf;

use becalm_model::DisturbedRun;
use becalm_model::Record;
use becalm_model::terms::Exports;
use becalm_session::files;

use crate::error::CommandError;
use crate::measuring::traced;
use crate::records;
use crate::ui::Ui;
use crate::written::check_files;

/// Refuses, before anything is measured, files that cannot be written.
pub(crate) fn check_exports(exports: &Exports) -> Result<(), CommandError> {
    let exports = [&exports.json, &exports.html, &exports.markdown];
    check_files(exports.into_iter().flatten())
}

/// Writes every file, as long as none fails.
pub(crate) fn export(
    record: &Record,
    disturbed: &[DisturbedRun],
    exports: &Exports,
) -> Result<(), CommandError> {
    if let Some(path) = &exports.json {
        records::write_record(path, record)?;
    }
    if let Some(path) = &exports.html {
        let page = becalm_report::html(&traced::with_notes(record), disturbed);
        files::write_atomically(path, &page)?;
    }
    if let Some(path) = &exports.markdown {
        let text = becalm_report::markdown(record, disturbed) + &traced::markdown(record);
        files::write_atomically(path, &text)?;
    }
    Ok(())
}

/// Keeps the record for `becalm show`. If it cannot be kept, only that command lacks it, and says
/// so.
pub(crate) fn remember(record: &Record) {
    let Some(path) = becalm_session::last_session() else { return };
    if path.parent().is_some_and(|folder| files::make_folder(folder).is_ok()) {
        let _ = records::write_record(&path, record);
    }
}

/// Returns the export files that already have content and stay as they are because nothing was
/// measured.
pub(super) fn without_those_that_stay(exports: &Exports, record: &Record, ui: &Ui) -> Exports {
    let mut exports = exports.clone();
    if record.runs.iter().any(|run| !run.warmup) {
        return exports;
    }
    let all = [&mut exports.json, &mut exports.html, &mut exports.markdown];
    for path in all {
        let has_something =
            |path: &mut PathBuf| path.metadata().is_ok_and(|it| it.is_file() && it.len() > 0);
        if let Some(path) = path.take_if(has_something) {
            ui.say(format!("nothing was measured, so {} was not changed", path.display()));
        }
    }
    exports
}
