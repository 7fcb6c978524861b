//! `becalm ci --post`: a job that may write posts a report that another job saved.

use std::path::Path;

use becalm_forge::{Origin, Surroundings, without_commands};
use becalm_model::wire::{ci_document, json_text, read_ci};
use becalm_report::WORDS;
use becalm_series::judge::ci::conclude;
use becalm_session::files;

use super::Args;
use super::advice::missing_token;
use super::tell::{notify_all, post_and_say, text, warn, write_for_service};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Largest file that is posted: ten thousand benchmarks are 5 MB.
const LARGEST_FILE: u64 = 16 << 20;

/// Posts what another job saved. Anybody may have written the file: where it claims to belong
/// counts only if the service says the same.
pub(super) fn post_saved(
    path: &Path,
    args: &Args,
    around: &Surroundings,
    ui: &Ui,
) -> Result<Exit, CommandError> {
    let at = path.display();
    let size = std::fs::metadata(path).map(|facts| facts.len());
    if size.is_ok_and(|size| size > LARGEST_FILE) {
        return Err(CommandError::measure(format!(
            "--post {at}: the file is too large to be a report"
        )));
    }
    let mut report = read_ci(&files::read_text(path)?, conclude).map_err(|error| {
        CommandError::measure(without_commands(&format!("--post {at}: {error}")))
            .hint("expected a file that `becalm ci --save` wrote")
    })?;
    if report.id != args.id {
        return Err(CommandError::measure(format!(
            "--post {at}: the report is of the job {}, but this command posts reports of {}; \
             nothing was posted",
            report.id, args.id
        ))
        .hint("set --id to the name of the job whose report you want to post"));
    }
    // People run what stands there, and whoever wrote the file chose it.
    report.reproduce.clear();
    let Some(service) = &around.service else {
        let nobody = "there is no service to post to: neither GITHUB_ACTIONS nor GITLAB_CI is set";
        return Err(CommandError::usage(around.without_token.map_or(nobody, missing_token)));
    };
    let is_after_other = matches!(around.origin, Origin::AfterOther | Origin::AfterFork);
    if is_after_other && around.commit.is_none() {
        return Err(CommandError::measure(
            "the event does not name the commit that the other workflow ran for",
        ));
    }
    if let Some(known) = &around.commit
        && report.commit.as_ref() != Some(known)
    {
        let of = report.commit.as_deref().unwrap_or("no commit");
        return Err(CommandError::measure(format!(
            "--post {at}: the report is of {of}, but the job that made it ran for {known}; \
             nothing was posted"
        )));
    }
    report.change = around.change.or(report.change);
    if args.flags.exports.json {
        // Only texts hold this, where it means the same.
        ui.print(&json_text(&ci_document(&report, &WORDS)).replace("##[", "##\\u005b"))?;
    } else {
        ui.print(&without_commands(&text(&report, ui)))?;
    }
    let of = report.commit.as_deref();
    let mut errors = post_and_say(service, &report, of, args, around, ui);
    errors.extend(notify_all(&report, args, around));
    for written in write_for_service(&report, around) {
        errors.extend(written.err());
    }
    if errors.is_empty() {
        return Ok(Exit::Done);
    }
    let last = errors.pop().expect("there is one");
    for error in &errors {
        warn(error, ui);
    }
    Err(last)
}
