//! Why a forge was not told, or why it is unknown where a job runs.

use std::path::PathBuf;

use crate::api::ApiError;
use crate::kind::ServiceKind;

/// What was asked of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceCall {
    /// Where a pull or merge request stands, and where it is from.
    ReadChange,
    /// The state of a commit.
    SetStatus,
    /// A comment on a pull or merge request.
    Comment,
}

impl std::fmt::Display for ServiceCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::ReadChange => "cannot read the pull request",
            Self::SetStatus => "cannot set the status",
            Self::Comment => "cannot comment",
        })
    }
}

/// Why a service did not do what was asked of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{request}: {source}")]
pub struct ForgeError {
    /// Which service.
    pub service: ServiceKind,
    /// What was asked of it.
    pub request: ServiceCall,
    /// How it failed.
    pub source: ApiError,
}

/// Who gets a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// A webhook, which gets the report as JSON.
    Webhook,
    /// A chat, in Slack's format.
    Chat,
}

/// Why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the message was not sent: {source}")]
pub struct NotifyError {
    /// Who did not get it.
    pub channel: Channel,
    /// How it failed; never with the address, which is a secret.
    pub source: ApiError,
}

/// Why the variables of a job do not say where it runs.
#[derive(Debug, thiserror::Error)]
pub enum SurroundingsError {
    /// The event cannot be read.
    #[error("cannot read the event in {} (GITHUB_EVENT_PATH): {source}", path.display())]
    Event {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The name of the repository is none.
    #[error("GITHUB_REPOSITORY is {0:?}; expected OWNER/NAME")]
    Repository(String),
    /// The number of the project is none.
    #[error("CI_PROJECT_ID is {0:?}; expected a number")]
    Project(String),
}
