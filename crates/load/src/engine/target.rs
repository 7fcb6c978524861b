//! Where requests go, and what each of them is.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::path::PathBuf;
use std::time::Duration;

use super::tls::{Tls, TlsError, Trusted};
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;

/// Where requests go.
#[derive(Debug, Clone)]
pub struct Target {
    /// As it was given.
    pub uri: Uri,
    /// What connections speak.
    pub protocol: Protocol,
    pub(crate) place: Place,
    pub(crate) tls: Option<Tls>,
}

/// What a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// HTTP/1.1: one request after the other.
    #[default]
    Http1,
    /// HTTP/2: several at the same time; without TLS from the first byte on.
    Http2,
}

impl Protocol {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
        }
    }

    /// Returns what it is called when TLS is agreed on.
    fn in_tls(self) -> &'static [u8] {
        match self {
            Self::Http1 => b"http/1.1",
            Self::Http2 => b"h2",
        }
    }
}

/// How a target is reached, beside its URL.
#[derive(Debug, Clone, Default)]
pub struct Way {
    /// A socket of Unix in place of the host's address.
    pub unix_socket: Option<PathBuf>,
    /// What connections speak.
    pub protocol: Protocol,
    /// Whose certificates are good.
    pub trusted: Trusted,
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
    #[error("`{0}` does not begin with http:// or https://")]
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
    /// TLS cannot be used with it.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Target {
    /// Reads a URL, and looks up the address of its host, unless the requests go through a socket of Unix.
    pub fn new(url: &str, way: Way) -> Result<Self, TargetError> {
        let Way { unix_socket, protocol, trusted } = way;
        let uri: Uri =
            url.parse().map_err(|error| TargetError::Url { url: url.to_owned(), error })?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(TargetError::Scheme(url.to_owned())),
        };
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| TargetError::Host(url.to_owned()))?;
        // An address of IPv6 is in brackets in a URL.
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let tls = if is_tls { Some(Tls::new(host, protocol.in_tls(), &trusted)?) } else { None };
        let usual = if is_tls { 443 } else { 80 };
        let place = match unix_socket {
            Some(path) => Place::Unix(path),
            None => Place::Tcp(address(host, uri.port_u16().unwrap_or(usual))?),
        };
        Ok(Self { uri, protocol, place, tls })
    }
}

/// Returns an address of a host. A name may have several, and a server need not listen at all of them: of several the first
/// one that takes a connection.
fn address(host: &str, port: u16) -> Result<SocketAddr, TargetError> {
    const PATIENCE: Duration = Duration::from_secs(1);
    let failed = |error| TargetError::Lookup { host: host.to_owned(), error };
    let found: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(failed)?.collect();
    let first = *found.first().ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let takes = |address: &&SocketAddr| TcpStream::connect_timeout(address, PATIENCE).is_ok();
    let taking = if found.len() > 1 { found.iter().find(takes) } else { None };
    Ok(taking.copied().unwrap_or(first))
}

/// What a request is to be, in words.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The method; `GET` if it is empty.
    pub method: String,
    /// Names and values of headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Statuses of a right answer; without them those from 200 to 399 are right.
    pub expected: Vec<u16>,
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
    /// It is not a status.
    #[error("{0} is not a status of HTTP, from 100 to 999")]
    Status(u16),
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
    /// Makes requests for a target.
    pub fn new(target: &Target, wanted: Wanted) -> Result<Self, RequestError> {
        let Wanted { method, headers: named, body, expected } = wanted;
        let mut headers = HeaderMap::new();
        for (name, value) in named {
            let header = name.parse::<HeaderName>().ok().zip(value.parse::<HeaderValue>().ok());
            let (name, value) =
                header.ok_or_else(|| RequestError::Header(format!("{name}: {value}")))?;
            headers.append(name, value);
        }
        let is_http1 = target.protocol == Protocol::Http1;
        let authority = target.uri.authority().map_or("", http::uri::Authority::as_str);
        if let Ok(host) = HeaderValue::from_str(authority)
            && is_http1
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
        let status =
            |status| StatusCode::from_u16(status).map_err(|_| RequestError::Status(status));
        Ok(Self {
            method: match method.as_str() {
                "" => Method::GET,
                given => given.parse().map_err(|_| RequestError::Method(method.clone()))?,
            },
            // HTTP/2 has scheme and host in fields of its own, which hyper takes from here.
            uri: match path {
                _ if !is_http1 => target.uri.clone(),
                Some(path) => Uri::from(path),
                None => Uri::from_static("/"),
            },
            headers,
            body: body.into(),
            expected: expected.into_iter().map(status).collect::<Result<_, _>>()?,
        })
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
        let error = |url| Target::new(url, Way::default()).unwrap_err().to_string();
        assert!(error("ftp://x/").contains("http://"));
        assert!(error("/path").contains("http://"));
        assert!(error("http://a b/").contains("not a URL"));
        let target = Target::new("http://127.0.0.1:8080/a?b", Way::default()).unwrap();
        assert!(matches!(target.place, Place::Tcp(address) if address.port() == 8080));
        let target = Target::new("http://[::1]/", Way::default()).unwrap();
        assert!(matches!(target.place, Place::Tcp(address) if address.is_ipv6()));
        let target = Target::new(
            "http://any/",
            Way { unix_socket: Some("/run/x".into()), ..Way::default() },
        )
        .unwrap();
        assert!(matches!(target.place, Place::Unix(_)) && target.tls.is_none());
        let target = Target::new("https://127.0.0.1/", Way::default()).unwrap();
        assert!(matches!(target.place, Place::Tcp(address) if address.port() == 443));
        assert!(target.tls.is_some());
    }

    #[test]
    fn of_several_addresses_it_takes_one_where_somebody_listens() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let there = listener.local_addr().unwrap();
        match Target::new(&format!("http://localhost:{}/", there.port()), Way::default()) {
            Ok(target) => assert!(matches!(target.place, Place::Tcp(address) if address == there)),
            Err(error) => becalm_testkit::skipped(&format!(
                "of_several_addresses_it_takes_one_where_somebody_listens: {error}"
            )),
        }
    }

    fn template(target: &str, wanted: Wanted) -> Result<Template, RequestError> {
        Template::new(&Target::new(target, Way::default()).unwrap(), wanted)
    }

    #[test]
    fn a_request_has_path_host_headers_and_body() {
        let headers = [("X-A", "b"), ("content-length", "99")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let wanted = Wanted {
            method: "POST".to_owned(),
            headers,
            body: b"xy".to_vec(),
            ..Wanted::default()
        };
        let request = template("http://127.0.0.1:81/a?b", wanted).unwrap().closing().request();
        assert_eq!((request.method(), request.uri().to_string()), (&Method::POST, "/a?b".into()));
        assert_eq!(request.headers()[HOST], "127.0.0.1:81");
        assert_eq!(
            (&request.headers()["x-a"], &request.headers()[CONNECTION]),
            (&HeaderValue::from_static("b"), &HeaderValue::from_static("close"))
        );
        assert!(!request.headers().contains_key(CONTENT_LENGTH));
    }

    #[test]
    fn what_is_none_of_http_is_refused() {
        let refused = |wanted| template("http://127.0.0.1/", wanted).unwrap_err();
        let method = Wanted { method: "GE T".to_owned(), ..Wanted::default() };
        assert_eq!(refused(method), RequestError::Method("GE T".to_owned()));
        let header = ("a b".to_owned(), "c".to_owned());
        let header = Wanted { headers: vec![header], ..Wanted::default() };
        assert_eq!(refused(header), RequestError::Header("a b: c".to_owned()));
        let status = Wanted { expected: vec![42], ..Wanted::default() };
        assert_eq!(refused(status), RequestError::Status(42));
    }

    #[test]
    fn a_right_answer_is_a_success_unless_others_are_expected() {
        let template = |expected| {
            template("http://127.0.0.1/", Wanted { expected, ..Wanted::default() }).unwrap()
        };
        let (usual, given) = (template(Vec::new()), template(vec![404]));
        assert!(usual.expects(StatusCode::OK) && usual.expects(StatusCode::FOUND));
        assert!(!usual.expects(StatusCode::NOT_FOUND));
        assert!(given.expects(StatusCode::NOT_FOUND) && !given.expects(StatusCode::OK));
    }
}
