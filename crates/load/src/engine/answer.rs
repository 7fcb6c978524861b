//! An answer that came whole.

use http::{HeaderValue, StatusCode};

use super::failure::Failure;

/// What matters of it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// Where it sends the client, if it does.
    pub(super) location: Option<HeaderValue>,
    /// Whether its body is the right one.
    pub(super) is_right: bool,
    /// What is wrong with it as an answer of gRPC, with the status of that.
    pub(super) grpc: Option<(Option<u16>, Failure)>,
    /// Why a redirect was not followed.
    pub(super) not_followed: Option<String>,
}
