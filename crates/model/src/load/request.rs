//! What requests are, and which answer is the right one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One kind of request of a load that mixes several. What it does not set, the load sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadRequest {
    /// Its name in the figures.
    pub name: String,
    /// How often it is sent, beside the weights of the others.
    pub weight: f64,
    /// The method; empty for that of the load.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub method: String,
    /// Path and query, in place of those of the URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Names and values of headers, beside those of the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The file with the body, in place of `body`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_file: Option<LoadBody>,
    /// Statuses of a right answer; empty for those of the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected_status: Vec<u16>,
    /// The body of a right answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_body: Option<ExpectedBody>,
}

/// What the body of a right answer is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedBody {
    /// It has this text in it.
    Contains(String),
    /// It is this text.
    Is(String),
}

/// How requests say on whose behalf they are sent: with a secret of which a document has only where it was read, a file or
/// `env:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Authentication {
    /// A name and a password, as `NAME:PASSWORD`.
    Basic(String),
    /// A token.
    Bearer(String),
}

/// A table whose columns fill in `{NAME}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadValues {
    /// The file.
    pub file: String,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// Rows after the one with the names.
    pub rows: u64,
    /// A number that another content would not have.
    pub digest: String,
}

/// A file with the times at which requests are due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadReplay {
    /// The file.
    pub file: String,
    /// How many times there are.
    pub requests: u64,
    /// For how long requests are due: up to the last of them, in seconds.
    pub seconds: f64,
    /// A number that another content would not have.
    pub digest: String,
}

/// A file whose bytes are the body of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadBody {
    /// The file; `-` is standard input.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// A number that another content would not have.
    pub digest: String,
}

impl LoadReplay {
    /// Returns how many requests are due in a second, on average.
    pub fn rate(&self) -> f64 {
        self.requests as f64 / self.seconds
    }
}

/// Headers of a load that have a secret, which no record may have.
pub fn is_secret_header(name: &str) -> bool {
    ["authorization", "proxy-authorization"].contains(&name.to_ascii_lowercase().as_str())
}

impl LoadRequest {
    /// Returns it with what it does not set taken from another one.
    pub(super) fn over(&self, all: &Self) -> Self {
        let is_own =
            |name: &str| self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let others = all.headers.iter().filter(|(name, _)| !is_own(name));
        // A method of its own says that it has no body, if it says none.
        let has_own_body = self.has_body() || !self.method.is_empty();
        let body_of = if has_own_body { self } else { all };
        Self {
            body: body_of.body.clone(),
            body_file: body_of.body_file.clone(),
            method: if self.method.is_empty() { all.method.clone() } else { self.method.clone() },
            headers: others.chain(&self.headers).cloned().collect(),
            expected_status: if self.expected_status.is_empty() {
                all.expected_status.clone()
            } else {
                self.expected_status.clone()
            },
            expected_body: self.expected_body.clone().or_else(|| all.expected_body.clone()),
            ..self.clone()
        }
    }

    fn has_body(&self) -> bool {
        self.body.is_some() || self.body_file.is_some()
    }

    /// Returns it with a method.
    pub(super) fn with_its_method(self) -> Self {
        if !self.method.is_empty() {
            return self;
        }
        let usual = if self.has_body() { "POST" } else { "GET" };
        Self { method: usual.to_owned(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_header_is_known_however_it_is_written() {
        assert!(is_secret_header("AUTHORIZATION") && is_secret_header("Proxy-Authorization"));
        assert!(!is_secret_header("Accept"));
    }
}
