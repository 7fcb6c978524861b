//! Where requests go, and what each of them is.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;

/// Where requests go.
#[derive(Debug, Clone)]
pub struct Target {
    /// As it was given.
    pub uri: Uri,
    pub(crate) place: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// Why there is no such target.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The text is not a URL.
    #[error("`{url}` is not a URL: {error}")]
    Url {
        /// The text.
        url: String,
        /// What is wrong with it.
        error: http::uri::InvalidUri,
    },
    /// It has another scheme.
    #[error("`{0}` does not begin with http://")]
    Scheme(String),
    /// There is no host in it.
    #[error("`{0}` names no host")]
    Host(String),
    /// The host has no address.
    #[error("cannot find the address of {host}: {error}")]
    Lookup {
        /// The host.
        host: String,
        /// What the system says.
        error: io::Error,
    },
}

impl Target {
    /// Reads a URL, and looks up the address of its host, unless the requests go through a socket of Unix.
    pub fn new(url: &str, unix_socket: Option<PathBuf>) -> Result<Self, TargetError> {
        let uri: Uri =
            url.parse().map_err(|error| TargetError::Url { url: url.to_owned(), error })?;
        if uri.scheme_str() != Some("http") {
            return Err(TargetError::Scheme(url.to_owned()));
        }
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| TargetError::Host(url.to_owned()))?;
        let place = match unix_socket {
            Some(path) => Place::Unix(path),
            None => Place::Tcp(address(host, uri.port_u16().unwrap_or(80))?),
        };
        Ok(Self { uri, place })
    }
}

/// Returns the first address of a host.
fn address(host: &str, port: u16) -> Result<SocketAddr, TargetError> {
    // An address of IPv6 is in brackets in a URL.
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    let failed = |error| TargetError::Lookup { host: host.to_owned(), error };
    let mut found = (plain, port).to_socket_addrs().map_err(failed)?;
    found.next().ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
}

/// What every request is, and which answer is the right one.
#[derive(Debug, Clone)]
pub struct Template {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    expected: Vec<StatusCode>,
}

impl Template {
    /// Makes requests for a target. Without `expected` statuses, those from 200 to 399 are right.
    pub fn new(
        target: &Target,
        method: Method,
        mut headers: HeaderMap,
        body: Vec<u8>,
        expected: Vec<StatusCode>,
    ) -> Self {
        let authority = target.uri.authority().map_or("", http::uri::Authority::as_str);
        if let Ok(host) = HeaderValue::from_str(authority)
            && !headers.contains_key(HOST)
        {
            headers.insert(HOST, host);
        }
        if !headers.contains_key(USER_AGENT) {
            headers.insert(USER_AGENT, HeaderValue::from_static("becalm"));
        }
        // It follows from the body.
        headers.remove(CONTENT_LENGTH);
        let path = target.uri.path_and_query().cloned();
        let uri = path.map_or_else(|| Uri::from_static("/"), Uri::from);
        Self { method, uri, headers, body: body.into(), expected }
    }

    /// Makes each request ask for the end of its connection.
    #[must_use]
    pub fn closing(mut self) -> Self {
        self.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        self
    }

    pub(crate) fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        request.method_mut().clone_from(&self.method);
        request.uri_mut().clone_from(&self.uri);
        request.headers_mut().clone_from(&self.headers);
        request
    }

    pub(crate) fn expects(&self, status: StatusCode) -> bool {
        if self.expected.is_empty() {
            return status.is_success() || status.is_redirection();
        }
        self.expected.contains(&status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_scheme_and_a_host() {
        let error = |url| Target::new(url, None).unwrap_err().to_string();
        assert!(error("ftp://x/").contains("http://"));
        assert!(error("/path").contains("http://"));
        assert!(error("http://a b/").contains("not a URL"));
        let target = Target::new("http://127.0.0.1:8080/a?b", None).unwrap();
        assert!(matches!(target.place, Place::Tcp(address) if address.port() == 8080));
        let target = Target::new("http://[::1]/", None).unwrap();
        assert!(matches!(target.place, Place::Tcp(address) if address.is_ipv6()));
        let target = Target::new("http://any/", Some("/run/x".into())).unwrap();
        assert!(matches!(target.place, Place::Unix(_)));
    }

    #[test]
    fn a_request_has_path_host_and_body() {
        let target = Target::new("http://127.0.0.1:81/a?b", None).unwrap();
        let template =
            Template::new(&target, Method::POST, HeaderMap::new(), b"xy".to_vec(), Vec::new());
        let request = template.closing().request();
        assert_eq!((request.method(), request.uri().to_string()), (&Method::POST, "/a?b".into()));
        assert_eq!(request.headers()[HOST], "127.0.0.1:81");
        assert_eq!(request.headers()[CONNECTION], "close");
    }

    #[test]
    fn a_right_answer_is_a_success_unless_others_are_expected() {
        let target = Target::new("http://127.0.0.1/", None).unwrap();
        let template =
            |expected| Template::new(&target, Method::GET, HeaderMap::new(), Vec::new(), expected);
        let (usual, given) = (template(Vec::new()), template(vec![StatusCode::NOT_FOUND]));
        assert!(usual.expects(StatusCode::OK) && usual.expects(StatusCode::FOUND));
        assert!(!usual.expects(StatusCode::NOT_FOUND));
        assert!(given.expects(StatusCode::NOT_FOUND) && !given.expects(StatusCode::OK));
    }
}
