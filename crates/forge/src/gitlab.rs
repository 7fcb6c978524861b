//! GitLab's REST API, version 4: notes of a merge request and statuses of a commit.
//! <https://docs.gitlab.com/api/notes/>, <https://docs.gitlab.com/api/commits/>.

use serde_json::json;
use ureq::http::Method;

use crate::api::{Again, Api, ApiError, text_in};
use crate::kind::State;
use crate::secrets::Secret;

/// A project.
#[derive(Debug)]
pub struct GitLab {
    api: Api,
    /// Its number.
    project: u64,
}

impl GitLab {
    /// The token is one of a project, a group or a person: a job's own may neither write notes nor statuses.
    pub(crate) fn new(base: &str, project: u64, token: &Secret) -> Self {
        let headers = vec![("PRIVATE-TOKEN", token.clone())];
        Self { api: Api::new(&Secret::new(base), headers), project }
    }

    /// Returns the commit at which a merge request stands.
    pub(crate) fn head_of(&self, change: u64) -> Result<String, ApiError> {
        let path = format!("/projects/{}/merge_requests/{change}", self.project);
        let answer = self.api.call(&Method::GET, &path, None, Again::Always)?;
        text_in(&answer, "/sha", path)
    }

    /// Finds the note that begins with `marker` and that the owner of the token has written.
    pub(crate) fn find_comment(&self, change: u64, marker: &str) -> Result<Option<u64>, ApiError> {
        let me = self.api.call(&Method::GET, "/user", None, Again::Always)?["id"].as_u64();
        let path = format!("/projects/{}/merge_requests/{change}/notes", self.project);
        self.api.find(&path, "notes", |one| {
            me.is_some()
                && one["author"]["id"].as_u64() == me
                && one["body"].as_str().and_then(|body| body.lines().next()) == Some(marker)
        })
    }

    pub(crate) fn create_comment(&self, change: u64, body: &str) -> Result<(), ApiError> {
        let path = format!("/projects/{}/merge_requests/{change}/notes", self.project);
        let body = json!({ "body": body });
        self.api.call(&Method::POST, &path, Some(&body), Again::IfRefused).map(|_| ())
    }

    pub(crate) fn update_comment(
        &self,
        change: u64,
        comment: u64,
        body: &str,
    ) -> Result<(), ApiError> {
        let path = format!("/projects/{}/merge_requests/{change}/notes/{comment}", self.project);
        let body = json!({ "body": body });
        self.api.call(&Method::PUT, &path, Some(&body), Again::Always).map(|_| ())
    }

    pub(crate) fn set_status(
        &self,
        commit: &str,
        state: State,
        context: &str,
        description: &str,
        link: Option<&str>,
    ) -> Result<(), ApiError> {
        let path = format!("/projects/{}/statuses/{commit}", self.project);
        let state = match state {
            State::Success => "success",
            State::Failure | State::Error => "failed",
        };
        let mut body = json!({ "state": state, "name": context, "description": description });
        if let Some(link) = link {
            body["target_url"] = link.into();
        }
        match self.api.call(&Method::POST, &path, Some(&body), Again::Always) {
            // A status that is so already is refused with these words.
            Err(ApiError::Refused { status: 400, said, .. })
                if said.contains("Cannot transition status") =>
            {
                Ok(())
            }
            answer => answer.map(|_| ()),
        }
    }
}
