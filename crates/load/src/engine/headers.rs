//! Headers that follow from the rest of a request.

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TE, TRANSFER_ENCODING, UPGRADE};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method};

use super::target::Protocol;
use super::wanted::RequestError;

/// Says whether a header has no place among those of a user: how long a body is follows from the body, and HTTP/2 has no
/// headers about connections (RFC 9113, section 8.2.2).
pub(super) fn follows_from_others(name: &HeaderName, value: &str, protocol: Protocol) -> bool {
    let is_of_connection = [CONNECTION, UPGRADE].contains(name)
        || ["keep-alive", "proxy-connection"].contains(&name.as_str())
        || (*name == TE && value != "trailers");
    [CONTENT_LENGTH, TRANSFER_ENCODING].contains(name)
        || (is_of_connection && protocol == Protocol::Http2)
}

/// Says how long a body is. A method that is meant to have one says so even of an empty one (RFC 9110, section 8.6).
pub(super) fn state_length(method: &Method, body: &Bytes, headers: &mut HeaderMap) {
    let has_one = [Method::POST, Method::PUT, Method::PATCH].contains(method);
    if has_one || !body.is_empty() {
        headers.insert(CONTENT_LENGTH, body.len().into());
    } else {
        // That of a body before values were filled in.
        headers.remove(CONTENT_LENGTH);
    }
}

/// Takes the host that a user names out of the headers: HTTP/2 has it in a field of its own, and nothing beside that (RFC
/// 9113, section 8.3.1).
pub(super) fn take_host(headers: &mut HeaderMap) -> Result<Option<Authority>, RequestError> {
    let Some(host) = headers.remove(HOST) else { return Ok(None) };
    let name = String::from_utf8_lossy(host.as_bytes());
    let refused = |_| RequestError::Header(format!("Host: {name}"));
    name.parse().map(Some).map_err(refused)
}
