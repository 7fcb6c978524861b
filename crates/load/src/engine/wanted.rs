//! What a request is to be, as a user says it, and why there is none.

use becalm_model::load::ExpectedBody;
use bytes::Bytes;

/// What a request is to be, in words.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The method; `GET` if it is empty.
    pub method: String,
    /// Names and values of headers.
    pub headers: Vec<(String, String)>,
    /// The body, or the message of a call.
    pub body: Bytes,
    /// Whether it is a unary call of gRPC.
    pub is_grpc: bool,
    /// Statuses of a right answer; without them those from 200 to 399 are right, and of gRPC 0.
    pub expected: Vec<u16>,
    /// Path and query in place of those of the URL.
    pub path: Option<String>,
    /// The body of a right answer; without one any is right.
    pub expected_body: Option<ExpectedBody>,
}

/// Why there is no such request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// It is not a method.
    #[error("`{0}` is not a method of HTTP")]
    Method(String),
    /// It is not a header.
    #[error("`{0}` is not a header of HTTP")]
    Header(String),
    /// HTTP/2 names the host of a connection, not of a request.
    #[error("with HTTP/2 the header Host has to be the same in every request")]
    VaryingHost,
    /// It is not a path.
    #[error("`{0}` is not a path; it has to begin with `/`, and may have no spaces")]
    Path(String),
    /// It is not a status.
    #[error("{0} is not a status of HTTP, from 100 to 999")]
    Status(u16),
    /// It is not a status of gRPC.
    #[error("{0} is not a status of gRPC, from 0 to 16")]
    GrpcStatus(u16),
    /// It names no method of gRPC.
    #[error(
        "`{0}` is not the path of a gRPC method, as in http://HOST:PORT/package.Service/Method"
    )]
    GrpcMethod(String),
}
