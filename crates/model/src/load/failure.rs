//! How requests fail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a request failed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The server refused the connection.
    Refused,
    /// No connection, for another reason.
    Unreachable,
    /// No connection, because the machine of the generator had no local port, descriptor or buffer for it.
    Exhausted,
    /// TLS could not be agreed on.
    Tls,
    /// The connection ended, or was reset, before the end of the answer.
    Closed,
    /// What came is not an answer of this protocol.
    Garbage,
    /// No complete answer within the time limit.
    TimedOut,
    /// Still without an answer when the load was ended.
    Abandoned,
    /// A complete answer with another status than the expected one.
    Status,
    /// A complete answer with an expected status and another body than the expected one.
    Body,
    /// A redirect that was not followed: to another server, or after as many as were permitted.
    Redirect,
    /// A complete answer of gRPC with another status than the expected one, or with none.
    GrpcStatus,
    /// A complete answer of gRPC with an expected status and without exactly one whole message.
    GrpcMessage,
}

impl FailureKind {
    /// Returns what happened to such a request, as a fragment.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Refused => "connection refused",
            Self::Unreachable => "no connection",
            Self::Exhausted => "no local port or descriptor",
            Self::Tls => "TLS failed",
            Self::Closed => "closed early",
            Self::Garbage => "not an HTTP answer",
            Self::TimedOut => "timed out",
            Self::Abandoned => "unanswered at the end",
            Self::Status => "status",
            Self::Body => "unexpected body",
            Self::Redirect => "redirect",
            Self::GrpcStatus => "gRPC status",
            Self::GrpcMessage => "not one gRPC message",
        }
    }
}

/// Requests that failed in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// In which way.
    pub kind: FailureKind,
    /// The status of the answer, if there was an answer: of HTTP, or for `grpc_status` of gRPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How many requests.
    pub count: u64,
    /// What the first of them met, as the system or the protocol says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// Names of the statuses of gRPC, from 0 (`google.rpc.Code`).
const GRPC_STATUSES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

impl Failed {
    /// Puts together what failed in the same way in several loads, the most frequent first.
    pub fn together<'a>(all: impl IntoIterator<Item = &'a Self>) -> Vec<Self> {
        let mut kinds: Vec<Self> = Vec::new();
        for one in all {
            match kinds.iter_mut().find(|known| known.is_like(one)) {
                Some(known) => known.count = known.count.saturating_add(one.count),
                None => kinds.push(one.clone()),
            }
        }
        kinds.sort_by_key(|one| std::cmp::Reverse(one.count));
        kinds
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.kind, self.status) == (other.kind, other.status)
    }

    /// Returns what happened to these requests, as a fragment: `status 503`, `gRPC status 5 NOT_FOUND`.
    pub fn what(&self) -> String {
        let kind = self.kind.in_words();
        let Some(status) = self.status else { return kind.to_owned() };
        let is_grpc = self.kind == FailureKind::GrpcStatus;
        match GRPC_STATUSES.get(usize::from(status)).filter(|_| is_grpc) {
            Some(name) => format!("{kind} {status} {name}"),
            None => format!("{kind} {status}"),
        }
    }

    /// Returns the same with what the first of them met: `no connection (no route to host)`.
    pub fn in_words(&self) -> String {
        let example = self.example.as_ref().map(|words| format!(" ({words})")).unwrap_or_default();
        format!("{}{example}", self.what())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_several_loads_are_put_together_by_kind() {
        let failed = |kind, status, count| Failed { kind, status, count, example: None };
        let refused = |count| failed(FailureKind::Refused, None, count);
        let all = [refused(1), failed(FailureKind::Status, Some(503), 4), refused(2)];
        assert_eq!(Failed::together(&all), [all[1].clone(), refused(3)]);
    }

    #[test]
    fn failures_are_named_with_status_and_example() {
        let failed = |kind, status, example: Option<&str>| {
            Failed { kind, status, count: 3, example: example.map(str::to_owned) }.in_words()
        };
        assert_eq!(failed(FailureKind::Status, Some(503), None), "status 503");
        assert_eq!(failed(FailureKind::Refused, None, None), "connection refused");
        assert_eq!(
            failed(FailureKind::Closed, None, Some("reset by peer")),
            "closed early (reset by peer)"
        );
        let grpc = |status, example| failed(FailureKind::GrpcStatus, status, example);
        assert_eq!(grpc(Some(14), Some("no backend")), "gRPC status 14 UNAVAILABLE (no backend)");
        assert_eq!(grpc(Some(77), None), "gRPC status 77");
        assert_eq!(grpc(None, Some("there is none")), "gRPC status (there is none)");
    }
}
