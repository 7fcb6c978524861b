//! `becalm ci`: compares head with base in one job, and reports in the service.

mod advice;
mod base;
mod command_line;
mod job;
mod junit;
mod saved;
mod tell;

use std::path::PathBuf;

use becalm_forge::{CommentPolicy, Origin, Secret, Secrets, Surroundings};
use becalm_model::ci::{CiReport, Conclusion, is_ci_id};
use becalm_session::files;

use self::job::{Done, Job};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::compare::margin;
use crate::flags::{MeasureFlags, change, checked};
use crate::ui::Ui;

/// Compare head with base in GitHub Actions or GitLab CI, and report
///
/// becalm builds both commits, and measures base, base again and head in the same rounds: comparing
/// the base with itself shows how small a change this job can detect. It writes a summary of the
/// job, a comment that it updates in place if something changed, and a commit status. Exit code 1
/// if something is slower by more than --allow. Tokens come from the environment: `GITHUB_TOKEN`,
/// `BECALM_GITLAB_TOKEN`. Outside a service it only prints the result.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
#[command(mut_arg("json", |arg| arg.help("Print the report as JSON to standard output")))]
#[command(mut_arg("resume", |arg| arg.hide(true)))]
pub(crate) struct Args {
    /// The command to measure in the folder of each build, as one argument or as words after `--`
    #[arg(value_name = "COMMAND", required_unless_present_any = ["post", "resume"])]
    command: Vec<String>,

    /// What to compare with [default: what the service says, else the last commit in common with
    /// the default branch]
    #[arg(long, value_name = "REVISION", help_heading = "Revisions")]
    base: Option<String>,
    /// What to measure
    #[arg(long, value_name = "REVISION", default_value = "HEAD", help_heading = "Revisions")]
    head: String,

    /// Smallest relative change that matters
    #[arg(long, value_name = "SHARE", value_parser = margin, default_value = "1%", help_heading = "Deciding")]
    margin: f64,
    /// How much worse something may get: a slower result fails if its whole interval is beyond this
    #[arg(long, value_name = "SHARE", value_parser = allowed, default_value = "0%", help_heading = "Deciding")]
    allow: f64,
    /// Exit with code 3 if something is inconclusive, and set a failing status
    #[arg(long, help_heading = "Deciding")]
    strict: bool,

    /// Name of this job: jobs with different names have separate comments and statuses
    #[arg(long, value_name = "NAME", value_parser = job, default_value = "bench", help_heading = "Reporting")]
    id: String,
    /// When to comment on the pull or merge request
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = CommentWhen::Auto, help_heading = "Reporting")]
    comment: CommentWhen,
    /// Save the report for `becalm ci --post`, which runs in a job that may write; for pull
    /// requests from forks
    #[arg(long, value_name = "FILE", help_heading = "Reporting")]
    save: Option<PathBuf>,
    /// Measure nothing, and post the report that another job with the same --id saved
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "base", "save"], help_heading = "Reporting")]
    post: Option<PathBuf>,
    /// Write `JUnit` XML with a test case for each benchmark
    #[arg(long, value_name = "FILE", help_heading = "Reporting")]
    junit: Option<PathBuf>,
    /// Send the report as JSON to this address if something changed
    #[arg(
        long,
        value_name = "URL",
        env = "BECALM_NOTIFY",
        hide_env_values = true,
        help_heading = "Reporting"
    )]
    notify: Option<Secret>,
    /// Send a message in Slack's format to this webhook of a chat if something changed
    #[arg(
        long,
        value_name = "URL",
        env = "BECALM_NOTIFY_SLACK",
        hide_env_values = true,
        help_heading = "Reporting"
    )]
    notify_slack: Option<Secret>,

    #[command(flatten)]
    flags: MeasureFlags,
}

/// When to make a new comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CommentWhen {
    /// If something changed; an existing comment is always updated
    Auto,
    /// Always
    Always,
    /// Never, and no comment is updated
    Never,
}

impl From<CommentWhen> for CommentPolicy {
    fn from(when: CommentWhen) -> Self {
        match when {
            CommentWhen::Auto => Self::OnNews,
            CommentWhen::Always => Self::Always,
            CommentWhen::Never => Self::Never,
        }
    }
}

fn job(text: &str) -> Result<String, String> {
    if is_ci_id(text) {
        return Ok(text.to_owned());
    }
    Err("expected at most 50 letters, digits, dots, hyphens and underscores".to_owned())
}

fn allowed(text: &str) -> Result<f64, String> {
    checked(change(text), |share| *share < 1.0, "100% or more would allow anything")
}

pub(crate) fn run(args: &Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    let around = Surroundings::read(variable)?;
    if let Some(path) = &args.post {
        return saved::post_saved(path, args, &around, ui);
    }
    refuse_senseless(args, &around)?;
    for path in [&args.save, &args.junit].into_iter().flatten() {
        files::check_writable(path)?;
    }
    let job = Job::new(args, given, &around)?;
    let done = job.carry_out(ui);
    let mut report = job.report(args, &around, &done);
    // What a build prints as it fails, for one, is read by anybody in a log, a comment, an artifact and a chat.
    let secrets = secrets(args);
    secrets.hide_in(&mut report);
    let told = tell::tell(&report, done.record(), args, &around, ui);
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

/// Reads a variable of the job.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the secrets of this job that becalm knows.
fn secrets(args: &Args) -> Secrets {
    let hooks = [&args.notify, &args.notify_slack].into_iter().flatten();
    Secrets::of(variable, hooks)
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
            "`becalm ci` cannot be combined with --in-memory or with parameters",
        ));
    }
    if flags.names.len() > 1 {
        return Err(CommandError::usage(
            "`becalm ci` measures one command, so it takes at most one --name",
        ));
    }
    refuse_privileged_fork(around)
}

fn refuse_privileged_fork(around: &Surroundings) -> Result<(), CommandError> {
    let why = match (around.origin, &around.service) {
        (Origin::PrivilegedFork, _) => {
            "`pull_request_target` would run the code of a fork with a token that may write"
        }
        (Origin::AfterFork, _) => {
            "`workflow_run` after a job of a fork would run its code with the permissions of the project"
        }
        (Origin::Commented(change), Some(service)) if service.is_from_fork(change)? => {
            "`issue_comment` would run the code of a fork in a job that has the permissions of the project"
        }
        (Origin::Commented(_), None) => {
            "a comment started this job; without GITHUB_TOKEN, becalm cannot check whether the \
             pull request is from a fork, whose code would run with the permissions of the project"
        }
        _ => return Ok(()),
    };
    Err(CommandError::usage(why).hint(
        "measure in a workflow on `pull_request` with --save FILE, and post with `becalm ci --post FILE` in one on \
         `workflow_run` (docs/CI.md)",
    ))
}

fn verdict(report: &CiReport) -> Exit {
    match report.conclusion {
        Conclusion::Regressed => Exit::No,
        _ if report.rule.strict && report.is_undecided() => Exit::Inconclusive,
        _ => Exit::Done,
    }
}
