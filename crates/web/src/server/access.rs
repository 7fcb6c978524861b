//! Who may ask: everybody who reaches a server on loopback by one of its names, otherwise those who have its token.

use std::io::{self, Read as _};
use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::HeaderMap;
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use sha2::{Digest as _, Sha256};

/// Letters that a token has at least: fewer can be guessed.
const SHORTEST: usize = 16;

/// A token that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenError {
    /// Without one, a server is for this machine alone.
    Needed,
    /// It can be guessed.
    TooShort {
        /// Letters that one has at least.
        least: usize,
    },
    /// It has letters that no browser sends as they are.
    Unusual,
}

/// Who may ask.
#[derive(Debug, Clone)]
pub struct Access {
    /// The digest of the token: the token itself is not kept.
    token: Option<[u8; 32]>,
    /// Names of the server, beside those of loopback.
    hosts: Vec<String>,
}

impl Access {
    /// Permits those who have the token. Without one, those who reach a server on loopback by `localhost`, its address or
    /// one of these names: a page of another site could have its own name lead here.
    pub fn new(
        at: SocketAddr,
        token: Option<&str>,
        hosts: Vec<String>,
    ) -> Result<Self, TokenError> {
        let token = match token {
            None if at.ip().is_loopback() => None,
            None => return Err(TokenError::Needed),
            Some(token) if token.len() < SHORTEST => {
                return Err(TokenError::TooShort { least: SHORTEST });
            }
            Some(token) if !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                return Err(TokenError::Unusual);
            }
            Some(token) => Some(digest(token.as_bytes())),
        };
        Ok(Self { token, hosts })
    }

    /// Says whether a token is needed.
    pub fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    /// Says whether a request names the server as it is called. With a token nobody else gets in anyway.
    pub(super) fn knows_host(&self, headers: &HeaderMap) -> bool {
        if self.token.is_some() && self.hosts.is_empty() {
            return true;
        }
        let Some(host) = host(headers) else { return false };
        let name = without_port(host);
        let is_loopback = name.eq_ignore_ascii_case("localhost")
            || name
                .trim_matches(['[', ']'])
                .parse()
                .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        is_loopback || self.hosts.iter().any(|known| name.eq_ignore_ascii_case(known))
    }

    /// Returns who asks, if they may: the name that they gave with the token, empty without one.
    pub(super) fn who(&self, headers: &HeaderMap) -> Option<String> {
        let Some(token) = &self.token else { return Some(String::new()) };
        let given = headers.get(AUTHORIZATION)?.to_str().ok()?;
        let (scheme, rest) = given.split_once(' ')?;
        let (name, secret) = match scheme.to_ascii_lowercase().as_str() {
            "bearer" => (String::new(), rest.trim().to_owned()),
            "basic" => {
                let both = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
                let (name, secret) = both.split_once(':')?;
                (name.to_owned(), secret.to_owned())
            }
            _ => return None,
        };
        is_same(&digest(secret.as_bytes()), token).then_some(name)
    }
}

/// Says whether a form comes from a page of this server, as far as the browser says.
pub(super) fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if text("sec-fetch-site").is_some_and(|site| site != "same-origin") {
        return false;
    }
    match headers.get(ORIGIN).map(|origin| origin.to_str()) {
        None => true,
        Some(Ok(origin)) => {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            authority.is_some() && authority == host(headers)
        }
        Some(Err(_)) => false,
    }
}

/// Says whether two digests are equal, in a time that does not depend on where they differ.
pub(super) fn is_same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let differing = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    std::hint::black_box(differing) == 0
}

/// Returns the SHA-256 of bytes.
pub(super) fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Makes a text that nobody can guess.
pub(super) fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

pub(super) fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST)?.to_str().ok()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter()
            .map(|(name, value)| {
                (name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap())
            })
            .collect()
    }

    fn here() -> SocketAddr {
        "127.0.0.1:1".parse().unwrap()
    }

    #[test]
    fn beyond_loopback_a_token_is_needed_that_nobody_guesses() {
        let beyond = "0.0.0.0:1".parse().unwrap();
        let with = |token| Access::new(beyond, token, Vec::new()).err();
        assert_eq!(with(None), Some(TokenError::Needed));
        assert_eq!(with(Some("short")), Some(TokenError::TooShort { least: 16 }));
        assert_eq!(with(Some("0123456789 abcdef")), Some(TokenError::Unusual));
        assert_eq!(with(Some(TOKEN)), None);
        assert!(Access::new(here(), None, Vec::new()).is_ok());
    }

    #[test]
    fn who_has_the_token_may_ask_by_either_scheme() {
        let access = Access::new(here(), Some(TOKEN), Vec::new()).unwrap();
        let who = |given: &str| access.who(&headers(&[("authorization", given)]));
        assert_eq!(who(&format!("Bearer {TOKEN}")), Some(String::new()));
        assert_eq!(
            who(&format!("Basic {}", STANDARD.encode(format!("ada:{TOKEN}")))),
            Some("ada".into())
        );
        for wrong in ["", "Bearer", "Bearer x", "Basic !", "Digest 1", &format!("Bearer {TOKEN}0")]
        {
            assert_eq!(who(wrong), None, "{wrong}");
        }
        assert_eq!(access.who(&HeaderMap::new()), None);
    }

    #[test]
    fn a_name_of_another_site_does_not_lead_here() {
        let access = Access::new(here(), None, vec!["bench.example".to_owned()]).unwrap();
        let knows = |host: &str| access.knows_host(&headers(&[("host", host)]));
        for known in
            ["localhost", "LOCALHOST:80", "127.0.0.1:8", "[::1]:8", "[::1]", "bench.example:8"]
        {
            assert!(knows(known), "{known}");
        }
        for unknown in ["evil.example", "localhost.evil.example", "", "10.0.0.1:80"] {
            assert!(!knows(unknown), "{unknown}");
        }
        assert!(!access.knows_host(&HeaderMap::new()));
    }

    #[test]
    fn a_form_of_another_site_is_recognised() {
        let host = ("host", "localhost:8");
        assert!(is_same_origin(&headers(&[host])));
        assert!(is_same_origin(&headers(&[
            host,
            ("origin", "http://localhost:8"),
            ("sec-fetch-site", "same-origin")
        ])));
        for other in ["http://evil.example", "null", "http://localhost:9", "localhost:8"] {
            assert!(!is_same_origin(&headers(&[host, ("origin", other)])), "{other}");
        }
        assert!(!is_same_origin(&headers(&[host, ("sec-fetch-site", "cross-site")])));
    }
}
