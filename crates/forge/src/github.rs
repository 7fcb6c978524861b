//! GitHub's REST API: comments of a pull request and statuses of a commit.
//! <https://docs.github.com/en/rest>, version 2022-11-28; `GitHub` Enterprise Server speaks the same.

use serde_json::{Value, json};
use ureq::http::Method;

use crate::api::{Again, Api, ApiError, text_in};
use crate::kind::State;
use crate::secrets::Secret;

/// A repository.
#[derive(Debug)]
pub struct GitHub {
    api: Api,
    /// `owner/name`.
    repository: String,
}

impl GitHub {
    pub(crate) fn new(base: &str, repository: &str, token: &Secret) -> Self {
        let headers = vec![
            ("Authorization", Secret::new(format!("Bearer {}", token.expose()))),
            ("Accept", Secret::new("application/vnd.github+json")),
            ("X-GitHub-Api-Version", Secret::new("2022-11-28")),
        ];
        Self { api: Api::new(&Secret::new(base), headers), repository: repository.to_owned() }
    }

    /// Returns the commit at which a pull request stands.
    pub(crate) fn head_of(&self, change: u64) -> Result<String, ApiError> {
        let path = format!("/repos/{}/pulls/{change}", self.repository);
        let answer = self.api.call(&Method::GET, &path, None, Again::Always)?;
        text_in(&answer, "/head/sha", path)
    }

    /// Says whether a pull request is from another repository, also one that is gone.
    pub(crate) fn is_from_fork(&self, change: u64) -> Result<bool, ApiError> {
        let path = format!("/repos/{}/pulls/{change}", self.repository);
        let answer = self.api.call(&Method::GET, &path, None, Again::Always)?;
        let from = answer.pointer("/head/repo/full_name").and_then(Value::as_str);
        Ok(from != Some(self.repository.as_str()))
    }

    /// Finds the comment that begins with `marker` and that somebody with rights here has written.
    pub(crate) fn find_comment(&self, change: u64, marker: &str) -> Result<Option<u64>, ApiError> {
        let path = format!("/repos/{}/issues/{change}/comments", self.repository);
        self.api.find(&path, "comments", |one| is_ours(one, marker))
    }

    pub(crate) fn create_comment(&self, change: u64, body: &str) -> Result<(), ApiError> {
        let path = format!("/repos/{}/issues/{change}/comments", self.repository);
        let body = json!({ "body": body });
        self.api.call(&Method::POST, &path, Some(&body), Again::IfRefused).map(|_| ())
    }

    pub(crate) fn update_comment(&self, comment: u64, body: &str) -> Result<(), ApiError> {
        let path = format!("/repos/{}/issues/comments/{comment}", self.repository);
        let body = json!({ "body": body });
        self.api.call(&Method::PATCH, &path, Some(&body), Again::Always).map(|_| ())
    }

    pub(crate) fn set_status(
        &self,
        commit: &str,
        state: State,
        context: &str,
        description: &str,
        link: Option<&str>,
    ) -> Result<(), ApiError> {
        let path = format!("/repos/{}/statuses/{commit}", self.repository);
        let state = match state {
            State::Success => "success",
            State::Failure => "failure",
            State::Error => "error",
        };
        let mut body = json!({ "state": state, "context": context, "description": description });
        if let Some(link) = link {
            body["target_url"] = link.into();
        }
        // The last status of a context counts.
        self.api.call(&Method::POST, &path, Some(&body), Again::Always).map(|_| ())
    }
}

/// Anybody may write a comment that looks like ours, and would then see it updated in place of a real one.
fn is_ours(comment: &Value, marker: &str) -> bool {
    let is_app = comment["user"]["type"] == "Bot";
    let is_member = ["OWNER", "MEMBER", "COLLABORATOR"]
        .iter()
        .any(|role| comment["author_association"] == *role);
    let first_line = comment["body"].as_str().and_then(|body| body.lines().next());
    (is_app || is_member) && first_line == Some(marker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_of_an_outsider_is_not_ours() {
        let comment = |association: &str, kind: &str, body: &str| json!({"author_association": association, "user": {"type": kind}, "body": body});
        let marker = "<!-- m -->";
        assert!(is_ours(&comment("NONE", "Bot", "<!-- m -->\r\nx"), marker));
        assert!(is_ours(&comment("MEMBER", "User", "<!-- m -->"), marker));
        assert!(!is_ours(&comment("CONTRIBUTOR", "User", "<!-- m -->"), marker));
        assert!(!is_ours(&comment("NONE", "Bot", "> <!-- m -->"), marker));
        assert!(!is_ours(&comment("NONE", "Bot", "<!-- m2 -->"), marker));
    }
}
