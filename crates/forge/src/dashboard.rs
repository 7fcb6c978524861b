//! Records on their way to a dashboard: `becalm serve` on another machine.

use std::fmt::Write as _;
use std::time::Duration;

use becalm_model::history::Commit;
use becalm_model::wire::WebUploadDocument;
use ureq::http::Method;

use crate::api::{Again, Api, ApiError, Call};
use crate::secrets::Secret;

/// Longest that sending a record may take.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Where records are sent.
const PATH: &str = "/api/entries";

/// A dashboard that takes records.
#[derive(Debug)]
pub struct Dashboard {
    api: Api,
}

/// What is said about a record beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordPlace<'a> {
    /// The commit, if it is known.
    pub commit: Option<&'a Commit>,
    /// The branch; empty if it is unknown.
    pub branch: &'a str,
    /// Whether the working tree had changes that no commit has.
    pub dirty: bool,
    /// Words for it.
    pub tags: &'a [String],
    /// When the measuring began, in seconds since the Unix epoch.
    pub measured: f64,
    /// Whether it is one of the many of a file of another tool's history.
    pub is_of_history: bool,
    /// Whether the dashboard keeps the record beside its values.
    pub keeps_record: bool,
}

impl Dashboard {
    /// Speaks to the one at this address, with a token that permits uploads.
    pub fn new(address: &str, token: &str) -> Self {
        let bearer = Secret::new(format!("Bearer {token}"));
        Self { api: Api::patient(&Secret::new(address), vec![("Authorization", bearer)], TIMEOUT) }
    }

    /// Sends a record. One that may have arrived although there was no answer is sent again: twice is as good as once.
    pub fn upload(
        &self,
        place: &RecordPlace<'_>,
        record: &str,
    ) -> Result<WebUploadDocument, ApiError> {
        let path = format!("{PATH}?{}", place.query());
        let text = self.api.send(&Method::POST, &path, PATH, Some(record), Again::Always)?;
        serde_json::from_str(&text).map_err(|error| ApiError::Strange {
            call: Call { method: Method::POST, path: PATH.to_owned() },
            why: error.to_string(),
        })
    }
}

impl RecordPlace<'_> {
    fn query(&self) -> String {
        let mut parts =
            vec![("branch", self.branch.to_owned()), ("measured", format!("{:?}", self.measured))];
        if let Some(Commit { id, time, author, title }) = self.commit {
            parts.push(("commit", id.clone()));
            parts.extend(time.map(|time| ("commit-time", format!("{time:?}"))));
            parts.extend(author.clone().map(|author| ("commit-author", author)));
            parts.extend(title.clone().map(|title| ("commit-title", title)));
        }
        parts.extend(self.tags.iter().map(|tag| ("tag", tag.clone())));
        let words = [
            (self.dirty, ("dirty", "yes")),
            (self.is_of_history, ("origin", "history")),
            (!self.keeps_record, ("record", "drop")),
        ];
        let said = words.into_iter().filter(|(is, _)| *is);
        parts.extend(said.map(|(_, (name, value))| (name, value.to_owned())));
        let parts: Vec<String> =
            parts.into_iter().map(|(name, value)| format!("{name}={}", escaped(&value))).collect();
        parts.join("&")
    }
}

/// Writes a text as a part of an address.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_said_about_a_record_is_in_the_address() {
        let commit = Commit {
            time: Some(1.5e9),
            author: Some("Ada".to_owned()),
            title: Some("x = y".to_owned()),
            ..Commit::named("a b&c")
        };
        let tags = ["x=1".to_owned(), "ä".to_owned()];
        let place = RecordPlace {
            commit: Some(&commit),
            branch: "feature/x",
            dirty: true,
            tags: &tags,
            measured: 1_500_000_000.25,
            is_of_history: true,
            keeps_record: false,
        };
        assert_eq!(
            place.query(),
            "branch=feature%2Fx&measured=1500000000.25&commit=a%20b%26c&commit-time=1500000000.0&\
             commit-author=Ada&commit-title=x%20%3D%20y&tag=x%3D1&tag=%C3%A4&dirty=yes&origin=history&record=drop"
        );
    }
}
