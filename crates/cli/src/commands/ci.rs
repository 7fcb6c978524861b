//! `becalm ci`: head against base in one job, told where people look.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use becalm_model::ci::{CiCommit, CiReport, CiResult, CiRule, Conclusion, is_ci_id};
use becalm_model::history::short_commit;
use becalm_model::wire::{ci_document, json_text, read_ci};
use becalm_model::{Record, RecordKind, Subject, parse_share};
use becalm_report::{Style, ci_text};
use becalm_runner::session::Goal;

use super::compare::margin;
use crate::caller;
use crate::ci::{
    Origin, Secret, Secrets, Surroundings, When, cut_off_sides, find_base, junit, machine_words,
    notify, post, report_of, reproduce, without_commands, without_secrets, write_outputs,
    write_summary,
};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::files;
use crate::measuring::{
    self, Builds, CommandLine, Finished, Making, MeasureFlags, Repository, Revisions, Tracing,
    Wanted, conduct, is_documentation,
};
use crate::ui::Ui;

/// Time after which no further round starts, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(60);

/// Rounds that are made however long they take, unless the user says otherwise.
const MINIMUM: u32 = 10;

/// The same for the benchmarks of a harness.
const HARNESS_BUDGET: Duration = Duration::from_secs(240);

/// The same for the benchmarks of a harness.
const HARNESS_MINIMUM: u32 = 14;

/// Largest file that is posted: ten thousand benchmarks are 5 MB.
const LARGEST_FILE: u64 = 16 << 20;

/// Compare head with base in one job of GitHub Actions or GitLab CI, and tell the pull request
///
/// Builds both commits, and measures base, base again and head in the same rounds: the base against itself shows
/// what this job can tell apart. Writes a summary of the job, a comment that is updated in place where something
/// changed, and a commit status. Exit code 1 if something is slower by more than --allow. Tokens come from the
/// environment: `GITHUB_TOKEN`, `BECALM_GITLAB_TOKEN`. Outside of a service it prints what it found.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
#[command(mut_arg("json", |arg| arg.help("Print the report as JSON to standard output")))]
#[command(mut_arg("resume", |arg| arg.hide(true)))]
pub(crate) struct Args {
    /// The command to measure in the folder of each build, as one argument or as words after `--`
    #[arg(value_name = "COMMAND", required_unless_present_any = ["post", "resume"])]
    command: Vec<String>,

    /// What to compare with; without it, what the service says, else the last commit in common with the
    /// default branch
    #[arg(long, value_name = "REVISION", help_heading = "Revisions")]
    base: Option<String>,
    /// What to measure
    #[arg(long, value_name = "REVISION", default_value = "HEAD", help_heading = "Revisions")]
    head: String,

    /// Smallest relative change that matters
    #[arg(long, value_name = "SHARE", value_parser = margin, default_value = "1%", help_heading = "Deciding")]
    margin: f64,
    /// By how much something may get worse: what is slower fails where its whole interval is beyond this
    #[arg(long, value_name = "SHARE", value_parser = allowed, default_value = "0%", help_heading = "Deciding")]
    allow: f64,
    /// Exit with code 3 where something is not decided, and set a failing status
    #[arg(long, help_heading = "Deciding")]
    strict: bool,

    /// Name of this job: jobs with different names have comments and statuses of their own
    #[arg(long, value_name = "NAME", value_parser = job, default_value = "bench", help_heading = "Telling")]
    id: String,
    /// When to comment on the pull or merge request
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto, help_heading = "Telling")]
    comment: When,
    /// Save the report for `becalm ci --post` in a job that may write, as for pull requests from forks
    #[arg(long, value_name = "FILE", help_heading = "Telling")]
    save: Option<PathBuf>,
    /// Measure nothing; post the report that another job with the same --id saved
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "base", "save"], help_heading = "Telling")]
    post: Option<PathBuf>,
    /// Write `JUnit` XML with a test case for each benchmark
    #[arg(long, value_name = "FILE", help_heading = "Telling")]
    junit: Option<PathBuf>,
    /// Send the report as JSON to this address when something changed
    #[arg(
        long,
        value_name = "URL",
        env = "BECALM_NOTIFY",
        hide_env_values = true,
        help_heading = "Telling"
    )]
    notify: Option<Secret>,
    /// Send a message to this address of a chat, in Slack's format, when something changed
    #[arg(
        long,
        value_name = "URL",
        env = "BECALM_NOTIFY_SLACK",
        hide_env_values = true,
        help_heading = "Telling"
    )]
    notify_slack: Option<Secret>,

    #[command(flatten)]
    flags: MeasureFlags,
}

fn job(text: &str) -> Result<String, String> {
    if is_ci_id(text) {
        return Ok(text.to_owned());
    }
    Err("expected at most 50 letters, digits, dots, hyphens and underscores".to_owned())
}

fn allowed(text: &str) -> Result<f64, String> {
    match parse_share(text) {
        Ok(share) if share < 1.0 => Ok(share),
        Ok(_) => Err("100% or more allows everything".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn run(args: &Args, given: &[OsString], ui: &Ui) -> Result<Exit, CommandError> {
    let around = Surroundings::here()?;
    if let Some(path) = &args.post {
        return post_saved(path, args, &around, ui);
    }
    refuse_senseless(args, &around)?;
    for path in [&args.save, &args.junit].into_iter().flatten() {
        files::check_writable(path)?;
    }
    let job = Job::new(args, &measuring::as_texts(given), &around)?;
    let done = job.carry_out(args, ui);
    let mut report = job.report(args, &around, &done);
    // What a build prints as it fails, for one, is read by anybody in a log, a comment, an artifact and a chat.
    let secrets = secrets(args);
    secrets.hide_in(&mut report);
    let told = tell(&report, done.record(), args, &around, ui);
    let exit = match done {
        Done::Failed(error) => {
            return Err(CommandError { message: secrets.hide(&error.message), ..error });
        }
        Done::Identical(_) => Exit::Done,
        // What broke the session off says so, and goes before what was found until then.
        Done::Measured(finished) => match finished.once_only().end(ui)? {
            Exit::Done | Exit::Inconclusive => verdict(&report),
            other => other,
        },
    };
    told.map(|()| exit)
}

/// Returns what is known to be secret in this job.
fn secrets(args: &Args) -> Secrets {
    let hooks = [&args.notify, &args.notify_slack].into_iter().flatten();
    Secrets::of(|name| std::env::var(name).ok(), hooks)
}

fn refuse_senseless(args: &Args, around: &Surroundings) -> Result<(), CommandError> {
    let flags = &args.flags;
    if flags.resume.is_some() {
        return Err(CommandError::usage("a job cannot be resumed: its builds are gone"));
    }
    if flags.conditions.memory.in_memory
        || !flags.parameter_list.is_empty()
        || !flags.parameter_scan.is_empty()
    {
        return Err(CommandError::usage(
            "`becalm ci` cannot be had together with --in-memory or with parameters",
        ));
    }
    if flags.names.len() > 1 {
        return Err(CommandError::usage("there is one command, and so at most one --name"));
    }
    refuse_privileged_fork(around)
}

fn refuse_privileged_fork(around: &Surroundings) -> Result<(), CommandError> {
    let why = match (around.origin, &around.service) {
        (Origin::PrivilegedFork, _) => {
            "`pull_request_target` would run the code of a fork with a token that may write"
        }
        (Origin::AfterFork, _) => {
            "`workflow_run` after a job of a fork would run its code with the rights of the project"
        }
        (Origin::Commented(change), Some(service)) if service.is_from_fork(change)? => {
            "`issue_comment` would run the code of a fork in a job that has the rights of the project"
        }
        (Origin::Commented(_), None) => {
            "a comment started this job, and without GITHUB_TOKEN nobody can tell whether the pull request is from a \
             fork, whose code would have the rights of the project"
        }
        _ => return Ok(()),
    };
    Err(CommandError::usage(why).hint(
        "measure in a workflow on `pull_request` with --save FILE, and post with `becalm ci --post FILE` in one on \
         `workflow_run` (docs/CI.md)",
    ))
}

/// What is to be compared.
struct Job {
    base: CiCommit,
    head: CiCommit,
    /// The commit that gets the status.
    commit: Option<String>,
    /// Paths in which the commits differ.
    differing: Vec<String>,
    /// The command line, without secrets.
    arguments: Vec<String>,
    /// The command to measure.
    command: Vec<String>,
}

/// What came of it.
enum Done {
    Identical(String),
    Measured(Box<Finished>),
    Failed(CommandError),
}

impl Done {
    fn record(&self) -> Option<&Record> {
        match self {
            Self::Measured(finished) => Some(&finished.record),
            Self::Identical(_) | Self::Failed(_) => None,
        }
    }
}

impl Job {
    fn new(args: &Args, arguments: &[String], around: &Surroundings) -> Result<Self, CommandError> {
        let user = caller::subject_user(args.flags.conditions.keep_root);
        let repository = Repository::here("`becalm ci`", user)?;
        let commit = |name: &str, option: &str| {
            let id = repository.committed(name).map(|commit| commit.id).ok_or_else(|| {
                CommandError::usage(format!("{option} {name}: there is no such revision here"))
                    .hint("a shallow clone lacks most: actions/checkout takes `with: {fetch-depth: 0}`")
            })?;
            let title = repository.title(&id).unwrap_or_default();
            Ok(CiCommit { id, title })
        };
        let head = commit(&args.head, "--head")?;
        let base = match &args.base {
            Some(base) => base.clone(),
            None => find_base(&repository, &head.id, around)?,
        };
        let base = commit(&base, "--base")?;
        let commit = around.commit_of_status(&head.id, &repository.parents(&head.id)?);
        let differing = repository.differing(&base.id, &head.id)?;
        let line = match &args.command[..] {
            [line] => CommandLine::Line(line.clone()),
            words => CommandLine::of_words(words, &args.flags),
        };
        let command = measuring::subjects(&[line], &args.flags)?.remove(0).command;
        Ok(Self { base, head, commit, differing, arguments: without_secrets(arguments), command })
    }

    /// Builds and measures.
    fn carry_out(&self, args: &Args, ui: &Ui) -> Done {
        if self.differing.iter().all(|path| is_documentation(path)) {
            return Done::Identical(match &self.differing[..] {
                [] => "base and head have the same files".to_owned(),
                [one] => format!("only documentation differs: {one}"),
                [one, more @ ..] => {
                    format!("only documentation differs: {one} and {} more", more.len())
                }
            });
        }
        match self.build(args, ui).and_then(|built| match built {
            Err(told) => Ok(Done::Identical(told)),
            Ok((mut revisions, subjects)) => {
                // The worktrees stay until everything is measured.
                let wanted = self.wanted(args, revisions.all(), subjects);
                let finished = conduct(wanted, &args.flags, ui)?;
                Ok(Done::Measured(Box::new(finished)))
            }
        }) {
            Ok(done) => done,
            Err(error) => Done::Failed(error),
        }
    }

    /// Builds both commits; says so if the program is the same.
    fn build(
        &self,
        args: &Args,
        ui: &Ui,
    ) -> Result<Result<(Revisions, Vec<Subject>), String>, CommandError> {
        let flags = &args.flags;
        let user = caller::subject_user(flags.conditions.keep_root);
        let ids = [self.base.id.clone(), self.head.id.clone()];
        let interrupt = caller::interrupt()?;
        let mut revisions = Revisions::build(
            &ids,
            Making { words: &self.command, flags, user: user.as_ref(), interrupt, ui },
        )?;
        revisions.rename(&["base", "head"]);
        if let Some(told) = revisions.identical(&self.command) {
            return Ok(Err(told));
        }
        revisions.repeat_first("base again");
        let subjects = revisions.subjects(&self.command)?;
        Ok(Ok((revisions, subjects)))
    }

    fn wanted(&self, args: &Args, builds: Builds, subjects: Vec<Subject>) -> Wanted {
        let (minimum, budget) = match args.flags.harness {
            Some(_) => (HARNESS_MINIMUM, HARNESS_BUDGET),
            None => (MINIMUM, BUDGET),
        };
        let stop = measuring::stop(&args.flags, minimum, budget, Goal::Verdict);
        let arguments = self.arguments.clone();
        Wanted {
            margin: args.margin,
            tracing: Tracing::of(&args.flags),
            builds: Some(builds),
            ..Wanted::of("ci", RecordKind::Comparison, subjects, stop, arguments)
        }
    }

    /// Says what was measured in place of the commit that the job is for.
    fn told_of_commit(&self, commit: &str) -> Option<String> {
        let short = short_commit(commit);
        if commit == self.head.id {
            None
        } else if self.commit.as_deref() == Some(commit) {
            Some(format!(
                "what was measured is not {short} itself but what the job has checked out, such as the merge of it"
            ))
        } else {
            Some(format!(
                "the job is for {short}, and {} was measured, which has the status",
                self.head.short()
            ))
        }
    }

    fn report(&self, args: &Args, around: &Surroundings, done: &Done) -> CiReport {
        let name = match args.flags.names.first() {
            Some(name) => name.clone(),
            None => shell_words::join(&self.command),
        };
        let (result, machine, mut notes) = match done {
            Done::Identical(why) => (CiResult::Identical(why.clone()), String::new(), Vec::new()),
            Done::Failed(error) => {
                (CiResult::Failed(error.message.clone()), String::new(), Vec::new())
            }
            Done::Measured(finished) => {
                let record = &finished.record;
                let machine = machine_words(&record.machine);
                let broken = record
                    .interrupted
                    .clone()
                    .or_else(|| finished.failure.as_ref().map(|failure| failure.message.clone()));
                let result = match broken {
                    Some(why) => CiResult::Failed(why),
                    None => report_of(record, &name),
                };
                (result, machine, cut_off_sides(record))
            }
        };
        notes.extend(around.commit.as_ref().and_then(|commit| self.told_of_commit(commit)));
        CiReport {
            id: args.id.clone(),
            base: self.base.clone(),
            head: self.head.clone(),
            commit: self.commit.clone(),
            change: around.change,
            rule: CiRule {
                confidence: args.flags.confidence,
                margin: args.margin,
                allow: args.allow,
                strict: args.strict,
            },
            result,
            machine,
            reproduce: reproduce(&self.arguments, &self.base.id, &self.head.id),
            notes,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Prints, saves and posts a report. What could not be posted is told, and changes nothing about the verdict: the
/// job's own end says it too.
fn tell(
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
fn write_for_service(
    report: &CiReport,
    around: &Surroundings,
) -> impl Iterator<Item = Result<(), CommandError>> {
    let summary = around.summary.as_deref().map(|path| write_summary(path, report));
    let outputs = around.outputs.as_deref().map(|path| write_outputs(path, report));
    summary.into_iter().chain(outputs)
}

/// Writes the report for people; logs of jobs have room for its table.
fn text(report: &CiReport, ui: &Ui) -> String {
    ci_text(report, &Style { width: ui.table_width(), ..*ui.style() })
}

fn warn(error: &CommandError, ui: &Ui) {
    ui.warn(&error.message);
    for hint in &error.hints {
        ui.say(format!("hint: {hint}"));
    }
}

fn verdict(report: &CiReport) -> Exit {
    match report.conclusion() {
        Conclusion::Regressed => Exit::No,
        _ if report.rule.strict && report.is_undecided() => Exit::Inconclusive,
        _ => Exit::Done,
    }
}

/// Posts what another job saved. The file may be anybody's: what it says about where it belongs counts only where
/// the service says the same.
fn post_saved(
    path: &Path,
    args: &Args,
    around: &Surroundings,
    ui: &Ui,
) -> Result<Exit, CommandError> {
    let at = path.display();
    let size = std::fs::metadata(path).map(|facts| facts.len());
    if size.is_ok_and(|size| size > LARGEST_FILE) {
        return Err(CommandError::measure(format!("--post {at}: larger than any report")));
    }
    let mut report = read_ci(&files::read_text(path)?).map_err(|error| {
        CommandError::measure(without_commands(&format!("--post {at}: {error}")))
            .hint("expected a file that `becalm ci --save` wrote")
    })?;
    if report.id != args.id {
        return Err(CommandError::measure(format!(
            "--post {at}: it is of the job {}, and this posts those of {}; nothing was posted",
            report.id, args.id
        ))
        .hint("--id NAME is the job whose report is expected"));
    }
    // People run what stands there, and whoever wrote the file chose it.
    report.reproduce.clear();
    let Some(service) = &around.service else {
        let why = around.silent.clone();
        return Err(CommandError::usage(why.unwrap_or_else(|| {
            "there is nobody to post to: neither GITHUB_ACTIONS nor GITLAB_CI is set".to_owned()
        })));
    };
    let is_after_other = matches!(around.origin, Origin::AfterOther | Origin::AfterFork);
    if is_after_other && around.commit.is_none() {
        return Err(CommandError::measure(
            "the event does not say which commit the other workflow ran for",
        ));
    }
    if let Some(known) = &around.commit
        && report.commit.as_ref() != Some(known)
    {
        let of = report.commit.as_deref().unwrap_or("no commit");
        return Err(CommandError::measure(format!(
            "--post {at}: it is of {of}, but the job that made it ran for {known}; nothing was posted"
        )));
    }
    report.change = around.change.or(report.change);
    if args.flags.exports.json {
        // Only texts hold this, where it means the same.
        ui.print(&json_text(&ci_document(&report)).replace("##[", "##\\u005b"))?;
    } else {
        ui.print(&without_commands(&text(&report, ui)))?;
    }
    let of = report.commit.as_deref();
    let mut errors = post(service, &report, of, args.comment, around.link.as_deref(), ui);
    errors.extend(notify(
        &report,
        args.notify.as_ref(),
        args.notify_slack.as_ref(),
        around.link.as_deref(),
    ));
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
