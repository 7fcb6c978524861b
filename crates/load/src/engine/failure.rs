//! Which kind an error of a connection is of.

use std::error::Error as _;
use std::io::{self, ErrorKind};

use becalm_model::load::FailureKind;

/// Why a request failed, with the words of whoever noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) words: Option<String>,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind) -> Self {
        Self { kind, words: None }
    }

    /// Takes the error of a connection that could not be opened.
    pub(crate) fn of_connecting(error: &io::Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::ConnectionRefused => FailureKind::Refused,
            ErrorKind::TimedOut => FailureKind::TimedOut,
            _ => FailureKind::Unreachable,
        };
        Self { kind, words: Some(error.to_string()) }
    }

    /// Takes the error of a connection on which TLS could not be agreed on.
    pub(crate) fn of_tls(error: &io::Error) -> Self {
        Self { kind: FailureKind::Tls, words: Some(error.to_string()) }
    }

    /// Takes the error of an exchange.
    pub(crate) fn of_exchange(error: &hyper::Error) -> Self {
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        let of_http2 = error.source().and_then(|source| source.downcast_ref::<h2::Error>());
        // An error that this end noticed is one in what came; others are ends and resets.
        let is_breach = of_http2.is_some_and(|error| error.is_library() && !error.is_io());
        let kind = if error.is_parse() || is_breach {
            FailureKind::Garbage
        } else if let Some(source) = source {
            match source.kind() {
                // What hyper says of a body that is not what its headers promised.
                ErrorKind::InvalidData | ErrorKind::InvalidInput => FailureKind::Garbage,
                ErrorKind::TimedOut => FailureKind::TimedOut,
                _ => FailureKind::Closed,
            }
        } else {
            FailureKind::Closed
        };
        let words = match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        Self { kind, words: Some(words) }
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
    }
}
