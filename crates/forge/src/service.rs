//! Telling a service what came out: a comment that is updated in place, and a status.

use becalm_model::ci::{CiReport, Conclusion};
use becalm_report::{ci_comment, ci_marker, ci_status};
use ureq::http::Method;

use crate::api::ApiError;
use crate::error::{ForgeError, ServiceCall};
use crate::github::GitHub;
use crate::gitlab::GitLab;
use crate::kind::{ServiceKind, State};

/// When a comment is made where there is none yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentPolicy {
    /// When something changed; one that is there is updated whatever came out.
    OnNews,
    /// In any case.
    Always,
    /// Never, and none is updated.
    Never,
}

/// What happened to the comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentOutcome {
    /// There is a new one.
    Created,
    /// The one with this number was updated.
    Updated(u64),
}

/// What came of posting a report.
#[derive(Debug, Default)]
pub struct Posted {
    /// What happened to the comment; `None` where nothing was done about it.
    pub comment: Option<CommentOutcome>,
    /// The commit at which the request stands by now, where the report is of an earlier one and was not posted.
    pub overtaken_by: Option<String>,
    /// What could not be posted.
    pub errors: Vec<ForgeError>,
}

/// A service with a token for it.
#[derive(Debug)]
pub enum Service {
    /// A repository of GitHub.
    GitHub(GitHub),
    /// A project of GitLab.
    GitLab(GitLab),
}

impl Service {
    /// Returns which service it is.
    pub fn kind(&self) -> ServiceKind {
        match self {
            Self::GitHub(_) => ServiceKind::GitHub,
            Self::GitLab(_) => ServiceKind::GitLab,
        }
    }

    /// Returns the commit at which a pull or merge request stands.
    pub fn head_of(&self, change: u64) -> Result<String, ForgeError> {
        let head = match self {
            Self::GitHub(one) => one.head_of(change),
            Self::GitLab(one) => one.head_of(change),
        };
        head.map_err(|error| self.failed(ServiceCall::ReadChange, error))
    }

    /// Says whether a pull request is from a fork, which only GitHub is asked: comments start no job of GitLab.
    pub fn is_from_fork(&self, change: u64) -> Result<bool, ForgeError> {
        match self {
            Self::GitHub(one) => one
                .is_from_fork(change)
                .map_err(|error| self.failed(ServiceCall::ReadChange, error)),
            Self::GitLab(_) => Ok(false),
        }
    }

    fn failed(&self, request: ServiceCall, source: ApiError) -> ForgeError {
        ForgeError { service: self.kind(), request, source }
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
}

/// Posts a comment and a status. One that fails does not keep the other back.
///
/// `of` is the commit that the job is for, which may not be what was measured: the job may have merged something.
pub fn post(
    service: &Service,
    report: &CiReport,
    of: Option<&str>,
    policy: CommentPolicy,
    link: Option<&str>,
) -> Posted {
    let mut posted = Posted::default();
    if let Some(commit) = &report.commit
        && let Err(error) = service.set_status(commit, state(report), report, link)
    {
        posted.errors.push(service.failed(ServiceCall::SetStatus, error));
    }
    if let Some(change) = report.change.filter(|_| policy != CommentPolicy::Never) {
        match service.head_of(change) {
            Ok(head) if of == Some(head.as_str()) => {
                match comment(service, report, change, policy, link) {
                    Ok(outcome) => posted.comment = outcome,
                    Err(error) => posted.errors.push(service.failed(ServiceCall::Comment, error)),
                }
            }
            // The job of an earlier commit may end last.
            Ok(head) => posted.overtaken_by = Some(head),
            Err(error) => posted.errors.push(error),
        }
    }
    posted
}

fn comment(
    service: &Service,
    report: &CiReport,
    change: u64,
    policy: CommentPolicy,
    link: Option<&str>,
) -> Result<Option<CommentOutcome>, ApiError> {
    let (marker, body) = (ci_marker(&report.id), ci_comment(report, link));
    let once = || -> Result<Option<CommentOutcome>, ApiError> {
        match service.find_comment(change, &marker)? {
            Some(id) => {
                service.update_comment(change, id, &body)?;
                Ok(Some(CommentOutcome::Updated(id)))
            }
            None if policy == CommentPolicy::Always || report.conclusion.is_news() => {
                service.create_comment(change, &body)?;
                Ok(Some(CommentOutcome::Created))
            }
            None => Ok(None),
        }
    };
    match once() {
        // It may have been made all the same, and there is to be one.
        Err(error) if error.is_unclear() && *error.method() == Method::POST => once(),
        result => result,
    }
}

fn state(report: &CiReport) -> State {
    match report.conclusion {
        Conclusion::Failed => State::Error,
        Conclusion::Regressed => State::Failure,
        _ if report.rule.strict && report.is_undecided() => State::Failure,
        _ => State::Success,
    }
}
