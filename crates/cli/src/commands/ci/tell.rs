//! Where a report goes: standard output, files, the pages of a service, chats.

use becalm_model::Record;
use becalm_model::ci::{CiReport, Conclusion};
use becalm_model::wire::{ci_document, json_text};
use becalm_report::{Style, ci_text};

use super::Args;
use crate::ci::{Origin, Surroundings, junit, notify, post, write_outputs, write_summary};
use crate::error::CommandError;
use crate::files;
use crate::ui::Ui;

/// Prints, saves and posts a report. What could not be posted is told, and changes nothing about the verdict: the
/// job's own end says it too.
pub(super) fn tell(
    report: &CiReport,
    record: Option<&Record>,
    args: &Args,
    around: &Surroundings,
    ui: &Ui,
) -> Result<(), CommandError> {
    let json = || json_text(&ci_document(report));
    // A failure is told as an error.
    if args.flags.exports.json {
        ui.print(&json())?;
    } else if report.conclusion() != Conclusion::Failed {
        ui.print(&text(report, ui))?;
    }
    let mut written = Vec::new();
    if let Some(path) = &args.save {
        written.push(files::write_atomically(path, &json()));
    }
    if let Some(path) = &args.junit {
        written.push(
            junit(report, record).and_then(|bytes| files::write_bytes_atomically(path, &bytes)),
        );
    }
    written.extend(write_for_service(report, around));
    match (&around.service, around.origin) {
        (_, Origin::Fork) => ui.say(
            "this is a pull request from a fork, whose jobs may not write: no comment and no status; --save FILE, \
             and `becalm ci --post FILE` in a workflow on `workflow_run`, make them (docs/CI.md)",
        ),
        (Some(service), _) => {
            let of = around.commit.as_deref().or(report.commit.as_deref());
            for error in post(service, report, of, args.comment, around.link.as_deref(), ui) {
                warn(&error, ui);
            }
        }
        (None, _) => around.silent.iter().for_each(|why| ui.say(why)),
    }
    let (webhook, slack) = (args.notify.as_ref(), args.notify_slack.as_ref());
    for error in notify(report, webhook, slack, around.link.as_deref()) {
        warn(&error, ui);
    }
    written.into_iter().collect()
}

/// Writes what the page of a job shows, and what its later steps read.
pub(super) fn write_for_service(
    report: &CiReport,
    around: &Surroundings,
) -> impl Iterator<Item = Result<(), CommandError>> {
    let summary = around.summary.as_deref().map(|path| write_summary(path, report));
    let outputs = around.outputs.as_deref().map(|path| write_outputs(path, report));
    summary.into_iter().chain(outputs)
}

/// Writes the report for people; logs of jobs have room for its table.
pub(super) fn text(report: &CiReport, ui: &Ui) -> String {
    ci_text(report, &Style { width: ui.table_width(), ..*ui.style() })
}

pub(super) fn warn(error: &CommandError, ui: &Ui) {
    ui.warn(&error.message);
    for hint in &error.hints {
        ui.say(format!("hint: {hint}"));
    }
}
