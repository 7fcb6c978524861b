//! Telling a service what came out: a comment that is updated in place, and a status.

use becalm_model::ci::{CiReport, Conclusion};
use becalm_report::{ci_comment, ci_marker, ci_status};

use super::api::ApiError;
use super::github::GitHub;
use super::gitlab::GitLab;
use crate::error::CommandError;
use crate::ui::Ui;

/// The state of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Success,
    Failure,
    Error,
}

/// When a comment is made where there is none yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    /// When something changed; one that is there is updated whatever came out
    Auto,
    /// In any case
    Always,
    /// Never, and none is updated
    Never,
}

/// Who is told.
#[derive(Debug)]
pub(crate) enum Service {
    GitHub(GitHub),
    GitLab(GitLab),
}

impl Service {
    /// Returns the commit at which a pull or merge request stands.
    pub(crate) fn head_of(&self, change: u64) -> Result<String, CommandError> {
        let head = match self {
            Self::GitHub(one) => one.head_of(change),
            Self::GitLab(one) => one.head_of(change),
        };
        head.map_err(|error| self.told(&error, "cannot read the pull request"))
    }

    /// Says whether a pull request is from a fork, which only GitHub is asked: comments start no job of GitLab.
    pub(crate) fn is_from_fork(&self, change: u64) -> Result<bool, CommandError> {
        match self {
            Self::GitHub(one) => one
                .is_from_fork(change)
                .map_err(|error| self.told(&error, "cannot read the pull request")),
            Self::GitLab(_) => Ok(false),
        }
    }

    fn find_comment(&self, change: u64, marker: &str) -> Result<Option<u64>, ApiError> {
        match self {
            Self::GitHub(one) => one.find_comment(change, marker),
            Self::GitLab(one) => one.find_comment(change, marker),
        }
    }

    fn create_comment(&self, change: u64, body: &str) -> Result<(), ApiError> {
        match self {
            Self::GitHub(one) => one.create_comment(change, body),
            Self::GitLab(one) => one.create_comment(change, body),
        }
    }

    fn update_comment(&self, change: u64, comment: u64, body: &str) -> Result<(), ApiError> {
        match self {
            Self::GitHub(one) => one.update_comment(comment, body),
            Self::GitLab(one) => one.update_comment(change, comment, body),
        }
    }

    fn set_status(
        &self,
        commit: &str,
        state: State,
        report: &CiReport,
        link: Option<&str>,
    ) -> Result<(), ApiError> {
        let (context, description) = (format!("becalm/{}", report.id), ci_status(report));
        match self {
            Self::GitHub(one) => one.set_status(commit, state, &context, &description, link),
            Self::GitLab(one) => one.set_status(commit, state, &context, &description, link),
        }
    }

    /// Adds to an error what is missing.
    fn told(&self, error: &ApiError, what: &str) -> CommandError {
        let told = CommandError::measure(format!("{what}: {error}"));
        match (self, error.status()) {
            (Self::GitHub(_), Some(403)) => told.hint(
                "the token may not do this: the job needs `permissions: {pull-requests: write, statuses: write}`. \
                 In a job for a fork no token may write: save the result there with --save FILE, and post it with \
                 `becalm ci --post FILE` in a workflow that runs on `workflow_run` (docs/CI.md)",
            ),
            (Self::GitHub(_), Some(401)) => told.hint("GITHUB_TOKEN is no valid token"),
            (Self::GitHub(_), Some(404)) => told.hint(
                "it is not there, or the token may not see it: the job needs `permissions: {pull-requests: write, \
                 statuses: write}`",
            ),
            (Self::GitLab(_), Some(401 | 403 | 404)) => told.hint(
                "the token needs the scope `api` and the role Developer in this project; CI_JOB_TOKEN may not write \
                 notes. Make a project access token, and give it as BECALM_GITLAB_TOKEN (docs/CI.md)",
            ),
            _ => told,
        }
    }
}

/// Posts a comment and a status, and returns what could not be posted. One that fails does not keep the other
/// back.
///
/// `of` is the commit that the job is for, which may not be what was measured: the job may have merged something.
pub(crate) fn post(
    service: &Service,
    report: &CiReport,
    of: Option<&str>,
    when: When,
    link: Option<&str>,
    ui: &Ui,
) -> Vec<CommandError> {
    let mut errors = Vec::new();
    if let Some(commit) = &report.commit
        && let Err(error) = service.set_status(commit, state(report), report, link)
    {
        errors.push(service.told(&error, "cannot set the status"));
    }
    if let Some(change) = report.change.filter(|_| when != When::Never) {
        match service.head_of(change) {
            Ok(head) if of == Some(head.as_str()) => {
                match comment(service, report, change, when, link) {
                    Ok(Some(told)) => ui.say(told),
                    Ok(None) => {}
                    Err(error) => errors.push(service.told(&error, "cannot comment")),
                }
            }
            // The job of an earlier commit may end last.
            Ok(head) => ui.say(format!(
                "request {change} stands at {head} by now: it gets no comment of an earlier commit"
            )),
            Err(error) => errors.push(error),
        }
    }
    errors
}

fn comment(
    service: &Service,
    report: &CiReport,
    change: u64,
    when: When,
    link: Option<&str>,
) -> Result<Option<String>, ApiError> {
    let (marker, body) = (ci_marker(&report.id), ci_comment(report, link));
    let once = || -> Result<Option<String>, ApiError> {
        match service.find_comment(change, &marker)? {
            Some(id) => {
                service.update_comment(change, id, &body)?;
                Ok(Some(format!("comment {id} was updated")))
            }
            None if when == When::Always || report.conclusion().is_news() => {
                service.create_comment(change, &body)?;
                Ok(Some("a comment was made".to_owned()))
            }
            None => Ok(None),
        }
    };
    match once() {
        // It may have been made all the same, and there is to be one.
        Err(error) if error.is_unclear() && error.to_string().starts_with("POST") => once(),
        result => result,
    }
}

fn state(report: &CiReport) -> State {
    match report.conclusion() {
        Conclusion::Failed => State::Error,
        Conclusion::Regressed => State::Failure,
        _ if report.rule.strict && report.is_undecided() => State::Failure,
        _ => State::Success,
    }
}
