//! Which services there are, and what they know of a commit.

/// Which service it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceKind {
    /// GitHub, or GitHub Enterprise Server.
    GitHub,
    /// GitLab, wherever it runs.
    GitLab,
}

/// The state of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Success,
    Failure,
    Error,
}
