//! Who may ask, and what for: everybody who reaches a server on loopback by one of its names, otherwise those who have its
//! token, or one that the history knows.

use std::io::{self, Read as _};
use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use becalm_series::{RIGHTS, Right, Token};
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
    /// The digest of the token that permits everything: the token itself is not kept.
    token: Option<[u8; 32]>,
    /// Whether nobody sees anything without a token, whatever tokens a history has.
    needs_token: bool,
    /// Whether the history has a token for reading, so that nobody reads it without one.
    pub(super) has_readers: bool,
    /// Names of the server, beside those of loopback.
    hosts: Vec<String>,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    /// The name that was given with the token, or that of the token; empty if nobody said.
    pub(super) name: String,
    /// Whether they gave a token that counts.
    pub(super) has_token: bool,
    rights: Vec<Right>,
}

impl Caller {
    /// Says whether they may do this.
    pub(super) fn may(&self, right: Right) -> bool {
        self.rights.contains(&right)
    }

    /// Returns somebody who may do nothing.
    pub(super) fn nobody() -> Self {
        Self { name: String::new(), has_token: false, rights: Vec::new() }
    }
}

impl Access {
    /// Permits everything to those who have the token, and to those of a history what it says, in that history. Without any
    /// for reading, those who reach a server on loopback by `localhost`, its address or one of these names may look and decide: a page of
    /// another site could have its own name lead here.
    pub fn new(
        at: SocketAddr,
        token: Option<&str>,
        of_history: &[Token],
        hosts: Vec<String>,
    ) -> Result<Self, TokenError> {
        let has_readers = of_history.iter().any(|one| one.permits(Right::Read));
        let token = match token {
            None if at.ip().is_loopback() || has_readers => None,
            None => return Err(TokenError::Needed),
            Some(token) if token.len() < SHORTEST => {
                return Err(TokenError::TooShort { least: SHORTEST });
            }
            Some(token) if !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                return Err(TokenError::Unusual);
            }
            Some(token) => Some(digest(token.as_bytes())),
        };
        let needs_token = token.is_some() || !at.ip().is_loopback();
        Ok(Self { token, needs_token, has_readers, hosts })
    }

    /// Says whether nobody reads a history without a token that has one for reading, or none.
    pub(super) fn guards(&self, has_readers: bool) -> bool {
        self.needs_token || has_readers
    }

    /// Says whether a request names the server as it is called. Where nothing is open without a token, nobody else gets in
    /// anyway.
    pub(super) fn knows_host(&self, headers: &HeaderMap, is_open: bool) -> bool {
        if !is_open && self.hosts.is_empty() {
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

    /// Returns who asks, if they have the token that permits everything.
    pub(super) fn of_server(&self, headers: &HeaderMap) -> Option<Caller> {
        let (name, secret) = credentials(headers)?;
        let is_it = is_same(&digest(secret.as_bytes()), self.token.as_ref()?);
        is_it.then(|| Caller { name, has_token: true, rights: RIGHTS.to_vec() })
    }

    /// Returns who asks at a history, by its tokens, if they may ask for anything.
    pub(super) fn of_history(
        &self,
        headers: &HeaderMap,
        tokens: &[Token],
        has_readers: bool,
    ) -> Option<Caller> {
        if let Some((_, secret)) = credentials(headers) {
            let given = hexadecimal(&digest(secret.as_bytes()));
            let known = tokens.iter().find(|one| one.revoked.is_none() && one.digest == given);
            if let Some(Token { name, rights, .. }) = known {
                let (name, rights) = (name.clone(), rights.clone());
                return Some(Caller { name, has_token: true, rights });
            }
        }
        // Nobody adds anything without a token: what can reach loopback can be a page of another site.
        let rights = vec![Right::Read, Right::Manage];
        (!self.guards(has_readers)).then_some(Caller { rights, ..Caller::nobody() })
    }
}

/// Returns the name and the token that were given.
fn credentials(headers: &HeaderMap) -> Option<(String, String)> {
    let given = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = given.split_once(' ')?;
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Some((String::new(), rest.trim().to_owned())),
        "basic" => {
            let both = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
            let (name, secret) = both.split_once(':')?;
            Some((name.to_owned(), secret.to_owned()))
        }
        _ => None,
    }
}

/// A new token: the text that its owner gets, and what a history keeps of it.
#[derive(Debug)]
pub struct NewToken {
    /// The token itself, which is nowhere else.
    pub text: String,
    /// Its SHA-256, in hexadecimal.
    pub digest: String,
}

impl NewToken {
    /// Makes one that nobody can guess. What it begins with tells those who search for leaked tokens what it is.
    pub fn make() -> io::Result<Self> {
        let text = format!("becalm_{}", secret()?);
        Ok(Self { digest: hexadecimal(&digest(text.as_bytes())), text })
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
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
fn secret() -> io::Result<String> {
    Ok(URL_SAFE_NO_PAD.encode(random::<32>()?))
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// What forms of this server have, and no other: each page has it in another guise, so that the lengths of compressed pages
/// tell nothing about it.
pub(super) struct FormToken([u8; 32]);

impl FormToken {
    /// Makes another one.
    pub(super) fn make() -> io::Result<Self> {
        random().map(Self)
    }

    /// Returns it for one page.
    pub(super) fn for_page(&self) -> io::Result<String> {
        let mask = random::<32>()?;
        let both: Vec<u8> = mask.into_iter().chain(mixed(&mask, &self.0)).collect();
        Ok(URL_SAFE_NO_PAD.encode(both))
    }

    /// Says whether a form has it.
    pub(super) fn is(&self, given: &str) -> bool {
        let Ok(both) = URL_SAFE_NO_PAD.decode(given) else { return false };
        let Some((mask, rest)) = both.split_first_chunk::<32>() else { return false };
        let Ok(rest) = <&[u8; 32]>::try_from(rest) else { return false };
        is_same(&mixed(mask, rest), &self.0)
    }
}

fn mixed(one: &[u8; 32], other: &[u8; 32]) -> [u8; 32] {
    std::array::from_fn(|at| one[at] ^ other[at])
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
        let with = |token| Access::new(beyond, token, &[], Vec::new()).err();
        assert_eq!(with(None), Some(TokenError::Needed));
        assert_eq!(with(Some("short")), Some(TokenError::TooShort { least: 16 }));
        assert_eq!(with(Some("0123456789 abcdef")), Some(TokenError::Unusual));
        assert_eq!(with(Some(TOKEN)), None);
        assert!(Access::new(here(), None, &[], Vec::new()).is_ok());
        // One of the history that lets nobody look does not make it safe.
        let of_history = |right| [token("ci", right, None)];
        let with = |right| Access::new(beyond, None, &of_history(right), Vec::new()).err();
        assert_eq!((with(Right::Upload), with(Right::Read)), (Some(TokenError::Needed), None));
    }

    fn token(text: &str, right: Right, revoked: Option<f64>) -> Token {
        Token {
            name: text.to_owned(),
            digest: hexadecimal(&digest(text.as_bytes())),
            rights: vec![right],
            made: 1.0,
            revoked,
        }
    }

    #[test]
    fn who_has_the_token_may_ask_by_either_scheme() {
        let access = Access::new(here(), Some(TOKEN), &[], Vec::new()).unwrap();
        let who = |given: &str| {
            let caller = access.of_server(&headers(&[("authorization", given)]))?;
            assert!(RIGHTS.into_iter().all(|right| caller.may(right)));
            Some(caller.name)
        };
        assert_eq!(who(&format!("Bearer {TOKEN}")), Some(String::new()));
        assert_eq!(
            who(&format!("Basic {}", STANDARD.encode(format!("ada:{TOKEN}")))),
            Some("ada".into())
        );
        for wrong in ["", "Bearer", "Bearer x", "Basic !", "Digest 1", &format!("Bearer {TOKEN}0")]
        {
            assert_eq!(who(wrong), None, "{wrong}");
        }
        let nobody = HeaderMap::new();
        assert_eq!(
            (access.of_server(&nobody), access.of_history(&nobody, &[], false)),
            (None, None)
        );
    }

    #[test]
    fn tokens_of_the_history_permit_what_it_says_until_they_are_revoked() {
        let known = [
            token("reader", Right::Read, None),
            token("uploader", Right::Upload, None),
            token("gone", Right::Manage, Some(2.0)),
        ];
        let access = Access::new(here(), None, &known, Vec::new()).unwrap();
        let may = |given: &str| -> Option<Vec<Right>> {
            let given = format!("Bearer {given}");
            let given = headers(&[("authorization", &given)]);
            let caller = access.of_history(&given, &known, access.has_readers)?;
            Some(RIGHTS.into_iter().filter(|right| caller.may(*right)).collect())
        };
        assert_eq!(may("reader"), Some(vec![Right::Read]));
        assert_eq!(may("uploader"), Some(vec![Right::Upload]));
        assert_eq!((may("gone"), may("other")), (None, None));
        // Where nobody needs a token to look, everybody does, but nobody adds without one.
        let open = Access::new(here(), None, &known[1..], Vec::new()).unwrap();
        assert!(access.has_readers && !open.has_readers);
        let anybody = open.of_history(&HeaderMap::new(), &known[1..], false).unwrap();
        let all = RIGHTS.map(|right| anybody.may(right));
        assert_eq!(all, [true, false, true]);
    }

    #[test]
    fn a_new_token_is_another_one_every_time() {
        let [one, other] = [(); 2].map(|()| NewToken::make().unwrap());
        assert!(one.text != other.text && one.digest != other.digest);
        assert_eq!(one.digest, hexadecimal(&digest(one.text.as_bytes())));
        assert!(one.text.starts_with("becalm_") && one.text.len() > 40 && one.digest.len() == 64);
    }

    #[test]
    fn a_token_of_forms_looks_different_on_every_page_and_is_the_same() {
        let token = FormToken::make().unwrap();
        let [one, other] = [(); 2].map(|()| token.for_page().unwrap());
        assert!(one != other && token.is(&one) && token.is(&other));
        let foreign = FormToken::make().unwrap().for_page().unwrap();
        for wrong in ["", "a", "ä", &one[1..], &format!("{one}a"), &format!("{one}{one}"), &foreign]
        {
            assert!(!token.is(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_name_of_another_site_does_not_lead_here() {
        let access = Access::new(here(), None, &[], vec!["bench.example".to_owned()]).unwrap();
        let knows = |host: &str| access.knows_host(&headers(&[("host", host)]), true);
        for known in
            ["localhost", "LOCALHOST:80", "127.0.0.1:8", "[::1]:8", "[::1]", "bench.example:8"]
        {
            assert!(knows(known), "{known}");
        }
        for unknown in ["evil.example", "localhost.evil.example", "", "10.0.0.1:80"] {
            assert!(!knows(unknown), "{unknown}");
        }
        assert!(!access.knows_host(&HeaderMap::new(), true));
        // Where nothing is open, a name that nobody has given is as good as any.
        let closed = Access::new(here(), Some(TOKEN), &[], Vec::new()).unwrap();
        assert!(closed.knows_host(&headers(&[("host", "evil.example")]), false));
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
