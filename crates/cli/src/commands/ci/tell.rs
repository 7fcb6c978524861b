//! Where a report goes: standard output, files, the pages of a service, chats.

use std::path::Path;

use becalm_forge::{
    CommentOutcome, Origin, Service, Surroundings, notify, post, write_outputs, write_summary,
};
use becalm_model::Record;
use becalm_model::ci::{CiReport, Conclusion};
use becalm_model::wire::{ci_document, json_text};
use becalm_report::{WORDS, ci_text};
use becalm_session::files;

use super::Args;
use super::advice::missing_token;
use super::junit::junit;
use crate::error::CommandError;
use crate::ui::Ui;

/// Prints, saves and posts a report. A failure to post is reported and does not change the verdict:
/// the job's exit code and log carry it too.
pub(super) fn tell(
    report: &CiReport,
    record: Option<&Record>,
    args: &Args,
    around: &Surroundings,
    ui: &Ui,
) -> Result<(), CommandError> {
    let json = || json_text(&ci_document(report, &WORDS));
    // A failure is told as an error.
    if args.flags.exports.json {
        ui.print(&json())?;
    } else if report.conclusion != Conclusion::Failed {
        ui.print(&text(report, ui))?;
    }
    let mut written = Vec::new();
    if let Some(path) = &args.save {
        written.push(files::write_atomically(path, &json()).map_err(CommandError::from));
    }
    if let Some(path) = &args.junit {
        written.push(
            junit(report, record)
                .and_then(|bytes| Ok(files::write_bytes_atomically(path, &bytes)?)),
        );
    }
    written.extend(write_for_service(report, around));
    match (&around.service, around.origin) {
        (_, Origin::Fork) => ui.say(
            "this is a pull request from a fork, whose jobs may not write, so becalm posts no \
             comment and no status. To get them, use --save FILE here, and `becalm ci --post \
             FILE` in a workflow on `workflow_run` (docs/CI.md)",
        ),
        (Some(service), _) => {
            let of = around.commit.as_deref().or(report.commit.as_deref());
            for error in post_and_say(service, report, of, args, around, ui) {
                warn(&error, ui);
            }
        }
        (None, _) => around.without_token.iter().for_each(|one| ui.say(missing_token(*one))),
    }
    for error in notify_all(report, args, around) {
        warn(&error, ui);
    }
    written.into_iter().collect()
}

/// Posts a report, prints what happened to the comment, and returns what could not be posted.
pub(super) fn post_and_say(
    service: &Service,
    report: &CiReport,
    of: Option<&str>,
    args: &Args,
    around: &Surroundings,
    ui: &Ui,
) -> Vec<CommandError> {
    let posted = post(service, report, of, args.comment.into(), around.link.as_deref());
    match posted.comment {
        Some(CommentOutcome::Created) => ui.say("posted a comment"),
        Some(CommentOutcome::Updated(id)) => ui.say(format!("updated comment {id}")),
        None => {}
    }
    if let (Some(head), Some(change)) = (posted.overtaken_by, report.change) {
        ui.say(format!(
            "request {change} is at {head} by now: a comment about an earlier commit was not posted"
        ));
    }
    posted.errors.into_iter().map(CommandError::from).collect()
}

/// Sends the messages that the flags ask for, and returns what could not be sent.
pub(super) fn notify_all(
    report: &CiReport,
    args: &Args,
    around: &Surroundings,
) -> impl Iterator<Item = CommandError> {
    let (webhook, chat) = (args.notify.as_ref(), args.notify_slack.as_ref());
    notify(report, webhook, chat, around.link.as_deref()).into_iter().map(CommandError::from)
}

/// Writes the summary for the page of a job, and the values that its later steps read.
pub(super) fn write_for_service(
    report: &CiReport,
    around: &Surroundings,
) -> impl Iterator<Item = Result<(), CommandError>> {
    let refused = |path: &Path, error| {
        CommandError::measure(format!("cannot write to {}: {error}", path.display()))
    };
    let write = move |path: &Path, write: fn(&Path, &CiReport) -> std::io::Result<()>| {
        write(path, report).map_err(|error| refused(path, error))
    };
    let summary = around.summary.as_deref().map(|path| write(path, write_summary));
    let outputs = around.outputs.as_deref().map(|path| write(path, write_outputs));
    summary.into_iter().chain(outputs)
}

/// Writes the report for people; logs of jobs have room for its table.
pub(super) fn text(report: &CiReport, ui: &Ui) -> String {
    ci_text(report, ui.style(), ui.table_width())
}

pub(super) fn warn(error: &CommandError, ui: &Ui) {
    ui.warn(&error.message);
    for hint in &error.hints {
        ui.say(format!("hint: {hint}"));
    }
}
