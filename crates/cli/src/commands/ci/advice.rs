//! What to do if a service could not be reached or refused the report.

use becalm_forge::{Channel, ForgeError, NotifyError, ServiceKind, SurroundingsError};

use crate::error::CommandError;

impl From<SurroundingsError> for CommandError {
    fn from(error: SurroundingsError) -> Self {
        match error {
            SurroundingsError::Event { .. } => Self::measure(error),
            SurroundingsError::Repository(_) | SurroundingsError::Project(_) => Self::usage(error),
        }
    }
}

impl From<ForgeError> for CommandError {
    fn from(error: ForgeError) -> Self {
        let failed = Self::measure(&error);
        match (error.service, error.source.status()) {
            (ServiceKind::GitHub, Some(403)) => failed.hint(
                "the token lacks a permission: the job needs `permissions: {pull-requests: write, \
                 statuses: write}`. In a job for a fork no token may write: save the result there \
                 with --save FILE, and post it with `becalm ci --post FILE` in a workflow that \
                 runs on `workflow_run` (docs/CI.md)",
            ),
            (ServiceKind::GitHub, Some(401)) => failed.hint("GITHUB_TOKEN is not a valid token"),
            (ServiceKind::GitHub, Some(404)) => failed.hint(
                "it does not exist, or the token has no access to it: the job needs `permissions: \
                 {pull-requests: write, statuses: write}`",
            ),
            (ServiceKind::GitLab, Some(401 | 403 | 404)) => failed.hint(
                "the token needs the scope `api` and the role Developer in this project; \
                 CI_JOB_TOKEN may not write notes. Create a project access token, and pass it as \
                 BECALM_GITLAB_TOKEN (docs/CI.md)",
            ),
            _ => failed,
        }
    }
}

impl From<NotifyError> for CommandError {
    fn from(error: NotifyError) -> Self {
        let option = match error.channel {
            Channel::Webhook => "--notify",
            Channel::Chat => "--notify-slack",
        };
        Self::measure(format!("{option}: {error}"))
    }
}

/// Says what to set if nothing is reported to a service because the job has no token for it.
pub(super) fn missing_token(service: ServiceKind) -> &'static str {
    match service {
        ServiceKind::GitHub => {
            "GITHUB_TOKEN is not set, so becalm posts no comment and no status; give the step \
             `env: {GITHUB_TOKEN: ${{ github.token }}}`"
        }
        ServiceKind::GitLab => {
            "BECALM_GITLAB_TOKEN is not set, so becalm posts no note and no status; set it as a \
             masked variable of the project, to a project access token with the scope `api`"
        }
    }
}
