//! A request of HTTP/1.1 as the bytes that are sent (RFC 9112, section 3).

use bytes::Bytes;
use http::header::CONNECTION;
use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Request};

/// A request in bytes, head and body in one piece: to send two costs the system more than to copy them together once.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Wire {
    pub(super) bytes: Bytes,
    /// Whether its answers have no body, whatever their headers say.
    pub(super) is_of_head: bool,
    /// Whether it asks for the end of its connection.
    pub(super) closes: bool,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the secrets in it.
        f.debug_struct("Wire").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl Wire {
    /// Writes a request down, with the headers that it has.
    pub(crate) fn of(request: &Request<Bytes>) -> Self {
        let (method, body) = (request.method(), request.body());
        let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
        let mut bytes = Vec::with_capacity(512 + body.len());
        for part in [method.as_str(), " ", path, " HTTP/1.1\r\n"] {
            bytes.extend_from_slice(part.as_bytes());
        }
        for (name, value) in request.headers() {
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                bytes.extend_from_slice(part);
            }
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
        Self {
            bytes: bytes.into(),
            is_of_head: *method == Method::HEAD,
            closes: closes(request.headers()),
        }
    }
}

fn closes(headers: &HeaderMap) -> bool {
    headers.get_all(CONNECTION).iter().any(|value| names(value.as_bytes(), "close"))
}

/// Says whether a list of names separated by commas has this one.
pub(super) fn names(list: &[u8], name: &str) -> bool {
    list.split(|byte| *byte == b',')
        .any(|one| one.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(method: &str, headers: &[(&'static str, &str)], body: &'static str) -> (String, Wire) {
        let mut request = Request::builder().method(method).uri("/a?b");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let wire = Wire::of(&request.body(Bytes::from_static(body.as_bytes())).unwrap());
        (String::from_utf8(wire.bytes.to_vec()).unwrap(), wire)
    }

    #[test]
    fn a_request_has_a_line_its_headers_and_its_body() {
        let (text, wire) = wire("POST", &[("host", "a:1"), ("x-a", "b")], "xyz");
        assert_eq!(text, "POST /a?b HTTP/1.1\r\nhost: a:1\r\nx-a: b\r\n\r\nxyz");
        assert!(!wire.is_of_head && !wire.closes);
    }

    #[test]
    fn it_knows_which_answers_have_no_body_and_whether_it_closes() {
        let closes = |value| wire("HEAD", &[("connection", value)], "").1.closes;
        assert!(
            closes("Close") && closes("te, close") && !closes("keep-alive") && !closes("closed")
        );
        assert!(wire("HEAD", &[], "").1.is_of_head);
    }

    #[test]
    fn its_secrets_are_not_shown() {
        let (_, wire) = wire("GET", &[("authorization", "Bearer s3cret")], "");
        assert!(!format!("{wire:?}").contains("s3cret"));
    }
}
