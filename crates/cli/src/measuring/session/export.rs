//! The files that the flags ask for.

use std::path::PathBuf;

use becalm_model::Record;
use becalm_report::DisturbedRun;

use crate::error::CommandError;
use crate::files;
use crate::measuring::exports::ExportFlags;
use crate::measuring::flags::MeasureFlags;
use crate::measuring::tracing;
use crate::records;
use crate::ui::Ui;

/// Refuses, before anything is measured, files that could not be written in the end.
pub(crate) fn check_exports(flags: &MeasureFlags) -> Result<(), CommandError> {
    let exports =
        [&flags.exports.export_json, &flags.exports.export_html, &flags.exports.export_markdown];
    let exports: Vec<&PathBuf> = exports.into_iter().flatten().collect();
    for (index, path) in exports.iter().enumerate() {
        if exports[..index].contains(path) {
            let path = path.display();
            return Err(CommandError::usage(format!("two exports go to the same file {path}")));
        }
        files::check_writable(path)?;
    }
    Ok(())
}

/// Writes every file, as far as none fails.
pub(crate) fn export(
    record: &Record,
    disturbed: &[DisturbedRun],
    exports: &ExportFlags,
) -> Result<(), CommandError> {
    if let Some(path) = &exports.export_json {
        records::write_record(path, record)?;
    }
    if let Some(path) = &exports.export_html {
        let page = becalm_report::html(&tracing::with_notes(record), disturbed);
        files::write_atomically(path, &page)?;
    }
    if let Some(path) = &exports.export_markdown {
        let text = becalm_report::markdown(record, disturbed) + &tracing::markdown(record);
        files::write_atomically(path, &text)?;
    }
    Ok(())
}

/// Returns the exports without files that have something, which stay where nothing was measured.
pub(super) fn without_those_that_stay(
    exports: &ExportFlags,
    record: &Record,
    ui: &Ui,
) -> ExportFlags {
    let mut exports = exports.clone();
    if record.runs.iter().any(|run| !run.warmup) {
        return exports;
    }
    let all = [&mut exports.export_json, &mut exports.export_html, &mut exports.export_markdown];
    for path in all {
        let has_something =
            |path: &mut PathBuf| path.metadata().is_ok_and(|it| it.is_file() && it.len() > 0);
        if let Some(path) = path.take_if(has_something) {
            ui.say(format!("nothing was measured: {} stays as it was", path.display()));
        }
    }
    exports
}
