//! Where requests go.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::path::PathBuf;
use std::time::Duration;

use becalm_model::load::Scenario;

use super::tls::{Tls, TlsError, Trusted};
use crate::serve::Listening;
use http::Uri;

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
    /// Returns what the connections of a scenario speak.
    pub fn of(scenario: &Scenario) -> Self {
        if scenario.http2 { Self::Http2 } else { Self::Http1 }
    }

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
    /// It has a name or a password in it, which every document would have.
    #[error("a URL with a name or a password in it would be in every document; use --user")]
    Secret,
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
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(TargetError::Secret);
        }
        // An address of IPv6 is in brackets in a URL.
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let tls = if is_tls { Some(Tls::new(host, protocol.in_tls(), &trusted)?) } else { None };
        let place = match unix_socket {
            Some(path) => Place::Unix(path),
            None => Place::Tcp(address(host, port_of(&uri))?),
        };
        Ok(Self { uri, protocol, place, tls })
    }
}

/// Returns the port that a URL means.
pub fn port_of_url(url: &str) -> Option<u16> {
    url.parse().ok().as_ref().map(port_of)
}

/// Returns the port of a URL, the usual one of its scheme if it names none.
fn port_of(uri: &Uri) -> u16 {
    let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    uri.port_u16().unwrap_or(usual)
}

impl Target {
    /// Says whether a URL has the host and the port of this one's.
    pub fn has_place_of(&self, url: &str) -> bool {
        let Ok(other) = url.parse::<Uri>() else { return false };
        let host = |uri: &Uri| uri.host().map(str::to_ascii_lowercase);
        host(&self.uri) == host(&other) && port_of(&self.uri) == port_of(&other)
    }

    /// Returns where its server listens.
    pub fn at(&self) -> Listening {
        match &self.place {
            Place::Tcp(address) => Listening::Tcp(*address),
            Place::Unix(path) => Listening::Unix(path.clone()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_scheme_and_a_host() {
        let error = |url| Target::new(url, Way::default()).unwrap_err().to_string();
        assert!(error("ftp://x/").contains("http://"));
        assert!(error("/path").contains("http://"));
        assert!(error("http://a b/").contains("not a URL"));
        let secret = error("http://name:s3cret@127.0.0.1/");
        assert!(secret.contains("--user") && !secret.contains("s3cret"), "{secret}");
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
    fn a_url_of_the_same_host_and_port_has_its_place() {
        let target = Target::new("http://127.0.0.1/a", Way::default()).unwrap();
        assert!(target.has_place_of("http://127.0.0.1:80/b?c"));
        for other in ["https://127.0.0.1/", "http://127.0.0.1:81/a", "http://127.0.0.2/a", "a b"] {
            assert!(!target.has_place_of(other), "{other}");
        }
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
}
