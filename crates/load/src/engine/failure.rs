//! Which kind an error of a connection is of.

use std::io::{self, ErrorKind};

use becalm_kernel::errno;
use becalm_model::load::FailureKind;
use h2::Reason;

/// Why a request failed, with the words of whoever noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) words: Option<String>,
}

impl Failure {
    /// Takes the error of a connection that could not be opened.
    pub(crate) fn of_connecting(error: &io::Error) -> Self {
        let kind = match (error.kind(), error.raw_os_error()) {
            (ErrorKind::ConnectionRefused, _) => FailureKind::Refused,
            (ErrorKind::TimedOut, _) => FailureKind::TimedOut,
            // What a server has nothing to do with.
            (_, Some(errno::EADDRNOTAVAIL | errno::EMFILE | errno::ENFILE | errno::ENOBUFS)) => {
                FailureKind::Exhausted
            }
            _ => FailureKind::Unreachable,
        };
        Self { kind, words: Some(error.to_string()) }
    }

    /// Takes the error of a connection on which TLS could not be agreed on.
    pub(crate) fn of_tls(error: &io::Error) -> Self {
        Self { kind: FailureKind::Tls, words: Some(error.to_string()) }
    }

    /// The server sent something that is none of what it has to.
    pub(crate) fn garbage(words: impl Into<String>) -> Self {
        Self { kind: FailureKind::Garbage, words: Some(shortened(&words.into())) }
    }

    /// The server ended the connection.
    pub(crate) fn closed(words: impl Into<String>) -> Self {
        Self { kind: FailureKind::Closed, words: Some(words.into()) }
    }

    /// Takes the error of a connection that was open.
    pub(crate) fn of_io(error: &io::Error) -> Self {
        Self { kind: kind_of_io(error), words: Some(error.to_string()) }
    }

    /// Takes the error of an exchange over HTTP/2.
    pub(crate) fn of_http2(error: &h2::Error) -> Self {
        let kind = match error.get_io() {
            Some(error) => kind_of_io(error),
            // An error that this end noticed is one in what came; others are ends and resets.
            None if error.is_library() => FailureKind::Garbage,
            None => FailureKind::Closed,
        };
        let words = if error.is_go_away() && error.reason() == Some(Reason::NO_ERROR) {
            "the server ended the connection (GOAWAY)".to_owned()
        } else {
            error.to_string()
        };
        Self { kind, words: Some(words) }
    }
}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It failed.
    Failed(Failure),
    /// The server said that it did not process it, and somebody may send it again (RFC 9113, section 8.7).
    GivenBack(Failure),
}

impl NoAnswer {
    /// Takes the error of a request over HTTP/2.
    pub(crate) fn of_http2(error: &h2::Error) -> Self {
        let failure = Failure::of_http2(error);
        // After a GOAWAY that announces the end of a connection, the requests that are still answered have no error yet.
        let is_given_back = match error.reason() {
            Some(Reason::REFUSED_STREAM) => error.is_reset(),
            Some(Reason::NO_ERROR) => error.is_go_away(),
            _ => false,
        };
        if is_given_back && error.is_remote() {
            Self::GivenBack(failure)
        } else {
            Self::Failed(failure)
        }
    }

    /// Returns what is to be said of it.
    pub(crate) fn failure(&self) -> &Failure {
        match self {
            Self::Failed(failure) | Self::GivenBack(failure) => failure,
        }
    }

    /// Returns the same for a request that may not be sent again.
    pub(crate) fn for_good(self) -> Self {
        match self {
            Self::Failed(failure) | Self::GivenBack(failure) => Self::Failed(failure),
        }
    }
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Returns as much of what a server says as fits a line.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

fn kind_of_io(error: &io::Error) -> FailureKind {
    match error.kind() {
        // What TLS says of bytes that are not encrypted as agreed.
        ErrorKind::InvalidData | ErrorKind::InvalidInput => FailureKind::Garbage,
        ErrorKind::TimedOut => FailureKind::TimedOut,
        _ => FailureKind::Closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_connecting_have_their_kinds() {
        let kind = |kind: ErrorKind| Failure::of_connecting(&kind.into()).kind;
        assert_eq!(kind(ErrorKind::ConnectionRefused), FailureKind::Refused);
        assert_eq!(kind(ErrorKind::TimedOut), FailureKind::TimedOut);
        assert_eq!(kind(ErrorKind::NotFound), FailureKind::Unreachable);
        let number = |errno| Failure::of_connecting(&io::Error::from_raw_os_error(errno)).kind;
        for errno in [errno::EADDRNOTAVAIL, errno::EMFILE, errno::ENFILE, errno::ENOBUFS] {
            assert_eq!(number(errno), FailureKind::Exhausted);
        }
        assert_eq!(number(errno::EACCES), FailureKind::Unreachable);
    }
}
