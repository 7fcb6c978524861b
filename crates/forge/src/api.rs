//! Requests to a service that speaks JSON over HTTP: bounded in time and number, and silent about secrets.

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use ureq::http::{Method, Request, Response};

use crate::secrets::{Secret, Secrets, parts_of_address};

/// Longest that one request may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How often a request is made at most.
const TRIES: u32 = 3;

/// Longest wait that a service may ask for before the next try.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Bytes of a body from which on a service is asked before it is sent (RFC 9110, section 10.1.1): one that refuses closes
/// the connection while the body is under way, and its reason would be lost.
const ASKED_FROM: usize = 64 << 10;

/// Largest answer that is read. A hundred comments of the greatest length are 25 MB.
const LARGEST_ANSWER: u64 = 32 << 20;

/// Things on a page of a list, the most that there can be.
const PAGE: usize = 100;
/// Pages that are searched: ten thousand comments.
const MOST_PAGES: usize = 100;
/// Part of a service's own words that is repeated.
const SHOWN: usize = 200;

/// How long to wait before the next try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// As long as usual.
    Usual,
    /// As long as the service asks for.
    Asked(Duration),
}

/// Whether a request that may have been carried out already is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// Yes: twice is as good as once.
    Always,
    /// Only if it was surely not carried out.
    IfRefused,
}

/// A request, as errors name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// How it was made.
    pub method: Method,
    /// The path below the address of the service; empty for an address that is taken as it is.
    pub path: String,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method.as_str())?;
        if self.path.is_empty() { Ok(()) } else { write!(f, " {}", self.path) }
    }
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// No answer.
    #[error("{call}: no answer ({why})")]
    Unreachable {
        /// The request.
        call: Call,
        /// Why.
        why: String,
    },
    /// An answer that says no.
    #[error("{call}: status {status}{said}")]
    Refused {
        /// The request.
        call: Call,
        /// Its status.
        status: u16,
        /// What the service says, with a separator in front.
        said: String,
    },
    /// An answer that cannot be understood.
    #[error("{call}: unexpected answer ({why})")]
    Strange {
        /// The request.
        call: Call,
        /// Why.
        why: String,
    },
}

impl ApiError {
    /// Says whether the request may have been carried out although it failed.
    pub fn is_unclear(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => *status >= 500,
            Self::Strange { .. } => false,
        }
    }

    /// Returns how the request was made.
    pub fn method(&self) -> &Method {
        match self {
            Self::Unreachable { call, .. }
            | Self::Refused { call, .. }
            | Self::Strange { call, .. } => &call.method,
        }
    }

    /// Returns the status of an answer that says no.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            Self::Unreachable { .. } | Self::Strange { .. } => None,
        }
    }
}

/// A service at an address.
#[derive(Debug)]
pub(crate) struct Api {
    agent: ureq::Agent,
    base: Secret,
    headers: Vec<(&'static str, Secret)>,
    /// What the service was told in confidence: some repeat the request that they refuse.
    secrets: Secrets,
}

impl Api {
    /// Speaks to the service at `base`, with these headers in every request.
    pub(crate) fn new(base: &Secret, headers: Vec<(&'static str, Secret)>) -> Self {
        Self::patient(base, headers, TIMEOUT)
    }

    /// The same, where a request may take longer.
    pub(crate) fn patient(
        base: &Secret,
        headers: Vec<(&'static str, Secret)>,
        longest: Duration,
    ) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(longest))
            .http_status_as_error(false)
            // A token goes to the address that the user gave, and nowhere else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("becalm/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let base = Secret::new(base.expose().trim_end_matches('/'));
        let words = headers.iter().flat_map(|(_, value)| value.expose().split(' '));
        let secrets = Secrets::new(words.map(str::to_owned));
        Self { agent, base, headers, secrets }
    }

    /// Speaks to one address, which is taken as it is, and is a secret.
    pub(crate) fn whole(address: Secret) -> Self {
        let api = Self::new(&Secret::new(""), Vec::new());
        let secrets = Secrets::new(parts_of_address(address.expose()));
        Self { base: address, secrets, ..api }
    }

    /// Makes a request and returns the answer; [`Value::Null`] where it is empty.
    pub(crate) fn call(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        again: Again,
    ) -> Result<Value, ApiError> {
        let text = self.text(method, path, body, again)?;
        if text.trim().is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).map_err(|error| ApiError::Strange {
            call: Call { method: method.clone(), path: path.to_owned() },
            why: error.to_string(),
        })
    }

    /// Searches a list, page by page, and returns the number of the first thing that `is` takes; `what` names what
    /// is in it.
    pub(crate) fn find(
        &self,
        path: &str,
        what: &str,
        is: impl Fn(&Value) -> bool,
    ) -> Result<Option<u64>, ApiError> {
        for page in 1..=MOST_PAGES {
            let path = format!("{path}?per_page={PAGE}&page={page}");
            let answer = self.call(&Method::GET, &path, None, Again::Always)?;
            let Some(list) = answer.as_array() else {
                return Err(strange(path, format!("not a list of {what}")));
            };
            let found = list.iter().find(|one| is(one));
            if let Some(id) = found.and_then(|one| one["id"].as_u64()) {
                return Ok(Some(id));
            }
            if list.len() < PAGE {
                break;
            }
        }
        Ok(None)
    }

    /// Makes a request and returns the answer as it is.
    pub(crate) fn text(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        again: Again,
    ) -> Result<String, ApiError> {
        self.send(method, path, path, body.map(Value::to_string).as_deref(), again)
    }

    /// Sends a text, which is JSON, and returns the answer as it is. Errors call the path `shown`.
    pub(crate) fn send(
        &self,
        method: &Method,
        path: &str,
        shown: &str,
        body: Option<&str>,
        again: Again,
    ) -> Result<String, ApiError> {
        let call = Call { method: method.clone(), path: shown.to_owned() };
        let mut tries = 0;
        loop {
            tries += 1;
            let (error, wait) = match self.once(&call, path, body) {
                Ok(text) => return Ok(text),
                Err(failed) => failed,
            };
            let is_safe = again == Again::Always || !error.is_unclear();
            match wait.filter(|_| tries < TRIES && is_safe) {
                Some(Wait::Usual) => std::thread::sleep(usual_wait(tries)),
                Some(Wait::Asked(wait)) => std::thread::sleep(wait),
                None => return Err(error),
            }
        }
    }

    /// Makes a request once. The error comes with how long to wait before the next try, where one makes sense.
    fn once(
        &self,
        call: &Call,
        path: &str,
        body: Option<&str>,
    ) -> Result<String, (ApiError, Option<Wait>)> {
        let unreachable = |why: String| ApiError::Unreachable { call: call.clone(), why };
        let mut request =
            Request::builder().method(&call.method).uri(format!("{}{path}", self.base.expose()));
        for (name, value) in &self.headers {
            request = request.header(*name, value.expose());
        }
        if body.is_some() {
            request = request.header("Content-Type", "application/json");
        }
        if body.is_some_and(|body| body.len() > ASKED_FROM) {
            request = request.header("Expect", "100-continue");
        }
        // The builder's own words would repeat the address.
        let request = |body: String| {
            request.body(body).map_err(|_| {
                (
                    unreachable(
                        "the address or the token contains characters that cannot be sent"
                            .to_owned(),
                    ),
                    None,
                )
            })
        };
        let mut response: Response<ureq::Body> =
            match self.agent.run(request(body.unwrap_or_default().to_owned())?) {
                Ok(response) => response,
                Err(error) => return Err((unreachable(why(&error)), Some(Wait::Usual))),
            };
        let status = response.status().as_u16();
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let asked =
            header("retry-after").and_then(|text| text.parse().ok()).map(Duration::from_secs);
        let is_used_up = header("x-ratelimit-remaining").as_deref() == Some("0");
        let body = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_string();
        if (200..300).contains(&status) {
            return body.map_err(|error| (unreachable(why(&error)), Some(Wait::Usual)));
        }
        let said = said(&self.secrets.hide(&body.unwrap_or_default()));
        let wait = match status {
            // GitHub's limits on how fast one may ask come as 403 or 429.
            429 | 500.. => Some(asked.map_or(Wait::Usual, Wait::Asked)),
            403 => asked.map(Wait::Asked),
            _ => None,
        };
        // A limit that is used up opens again within the hour, which is too long.
        let wait = wait.filter(|wait| match wait {
            Wait::Usual => !is_used_up,
            Wait::Asked(asked) => *asked <= LONGEST_WAIT,
        });
        Err((ApiError::Refused { call: call.clone(), status, said }, wait))
    }
}

/// Returns a text of what was read from `path`.
pub(crate) fn text_in(answer: &Value, pointer: &str, path: String) -> Result<String, ApiError> {
    let text = answer.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| strange(path, format!("{pointer} is missing")))
}

/// Says why what was read from `path` cannot be understood.
fn strange(path: String, why: String) -> ApiError {
    ApiError::Strange { call: Call { method: Method::GET, path }, why }
}

fn usual_wait(tries: u32) -> Duration {
    Duration::from_millis(500) * 2u32.pow(tries - 1)
}

/// Says why there was no answer, without the address: a webhook's is a secret.
fn why(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "it took too long".to_owned(),
        ureq::Error::HostNotFound => "its name cannot be resolved".to_owned(),
        ureq::Error::ConnectionFailed => "no connection".to_owned(),
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Tls(why) => format!("TLS: {why}"),
        ureq::Error::Rustls(error) => format!("TLS: {error}"),
        ureq::Error::BadUri(_) => "the address is not valid".to_owned(),
        ureq::Error::BodyExceedsLimit(_) => "the answer is too large".to_owned(),
        _ => "the connection broke".to_owned(),
    }
}

/// Returns the beginning of what a service says, on one line.
fn said(body: &str) -> String {
    let message = serde_json::from_str::<Value>(body).ok().and_then(|value| {
        let message = value.get("message").or_else(|| value.get("error"))?;
        Some(message.as_str().map_or_else(|| message.to_string(), str::to_owned))
    });
    // What is no JSON is a page for people, or anything.
    let Some(message) = message else { return String::new() };
    let line: String =
        message.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
    format!(": {line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let api =
            Api::new(&Secret::new("http://x/hook"), vec![("Authorization", Secret::new("t0ken"))]);
        let shown = format!("{api:?}");
        assert!(!shown.contains("t0ken") && !shown.contains("hook"), "{shown}");
    }

    #[test]
    fn a_service_that_repeats_a_secret_is_not_repeated() {
        let api = Api::new(
            &Secret::new("http://x"),
            vec![("Authorization", Secret::new("Bearer t0ken-of-ours"))],
        );
        assert_eq!(api.secrets.hide("bad: Bearer t0ken-of-ours"), "bad: Bearer ***");
        let hook = Api::whole(Secret::new("https://x.org/services/B012345678?key=0123456789"));
        let said = "no such hook: /services/B012345678?key=0123456789";
        assert_eq!(hook.secrets.hide(said), "no such hook: /***");
    }

    #[test]
    fn a_services_words_are_kept_to_one_line() {
        assert_eq!(said(r#"{"message":"no\nway"}"#), ": no way");
        assert_eq!(said(r#"{"error":{"a":1}}"#), r#": {"a":1}"#);
        assert_eq!(said("<html>"), "");
    }
}
