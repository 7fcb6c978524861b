//! Where a job runs and for what, from the variables and the event that the service gives it.

use std::path::PathBuf;

use serde_json::Value;

use crate::error::SurroundingsError;
use crate::github::GitHub;
use crate::gitlab::GitLab;
use crate::kind::ServiceKind;
use crate::secrets::Secret;
use crate::service::Service;

/// What started a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// The project itself: a branch, a pull request from one, a schedule, a person.
    #[default]
    Own,
    /// A pull request from a fork, whose job may not write.
    Fork,
    /// A pull request from a fork, in a job that has the rights of the project.
    PrivilegedFork,
    /// The end of another workflow of the project, which may have run the code of anybody.
    AfterOther,
    /// The end of another workflow that ran for a fork, in a job that has the rights of the project.
    AfterFork,
    /// A comment on the pull request of this number, which may be from a fork, in a job that has the rights of the
    /// project.
    Commented(u64),
}

/// Where a job runs and for what.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// Whom to tell; `None` outside of a service, or without a token.
    pub service: Option<Service>,
    /// The service that nobody can be reached at, because the job has no token for it.
    pub without_token: Option<ServiceKind>,
    /// What started the job.
    pub origin: Origin,
    /// The commit that the job is for.
    pub commit: Option<String>,
    /// The commit that the service has checked out for the job, such as the merge of the other one.
    pub checked_out: Option<String>,
    /// Number of the pull or merge request.
    pub change: Option<u64>,
    /// What the service says is the base.
    pub base: Option<String>,
    /// Where the branch stood before a push.
    pub before: Option<String>,
    /// The page of the job that measures, or has measured.
    pub link: Option<String>,
    /// The file for the summary of the job.
    pub summary: Option<PathBuf>,
    /// The file for what later steps read.
    pub outputs: Option<PathBuf>,
}

impl Surroundings {
    /// Reads what the variables of a job say, and the event in the file that they name.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SurroundingsError> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let path = variable("GITHUB_EVENT_PATH").filter(|_| variable("GITHUB_ACTIONS").is_some());
        let event = match path.map(PathBuf::from) {
            None => Value::Null,
            Some(path) => std::fs::read_to_string(&path)
                .and_then(|text| Ok(serde_json::from_str(&text)?))
                .map_err(|source| SurroundingsError::Event { path, source })?,
        };
        Self::of(&variable, &event)
    }

    /// Returns the commit that gets the status of what was measured at `head`: that of the job, if it is what was
    /// measured or what was merged into it. A job may measure something else, such as the pull request that it was
    /// asked about in a comment, and must not speak of its own commit then.
    pub fn commit_of_status(&self, head: &str, parents: &[String]) -> Option<String> {
        let commit = self.commit.as_ref()?;
        let is_it = commit == head || self.checked_out.as_deref() == Some(head);
        let is_merged = parents.iter().skip(1).any(|parent| parent == commit);
        Some(if is_it || is_merged { commit.clone() } else { head.to_owned() })
    }

    fn of(
        variable: &dyn Fn(&str) -> Option<String>,
        event: &Value,
    ) -> Result<Self, SurroundingsError> {
        if variable("GITHUB_ACTIONS").is_some() {
            return github(variable, event);
        }
        if variable("GITLAB_CI").is_some() {
            return gitlab(variable);
        }
        Ok(Self::default())
    }
}

fn github(
    variable: &dyn Fn(&str) -> Option<String>,
    event: &Value,
) -> Result<Surroundings, SurroundingsError> {
    let api = variable("GITHUB_API_URL").unwrap_or_else(|| "https://api.github.com".to_owned());
    let repository = variable("GITHUB_REPOSITORY").unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if repository.split('/').count() != 2 || !repository.chars().all(is_plain) {
        return Err(SurroundingsError::Repository(repository.chars().take(80).collect()));
    }
    let name = variable("GITHUB_EVENT_NAME").unwrap_or_default();
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let request = event.get("pull_request").filter(|value| value.is_object());
    let is_fork = request.is_some()
        && text("/pull_request/head/repo/full_name").as_deref() != Some(repository.as_str());
    // A comment on an issue has no such field.
    let commented = event.pointer("/issue/pull_request").filter(|value| value.is_object());
    let commented = commented.and_then(|_| event.pointer("/issue/number")?.as_u64());
    let origin = match (name.as_str(), commented, is_fork) {
        ("workflow_run", ..)
            if text("/workflow_run/head_repository/full_name").as_deref()
                != Some(repository.as_str()) =>
        {
            Origin::AfterFork
        }
        ("workflow_run", ..) => Origin::AfterOther,
        ("issue_comment", Some(change), _) => Origin::Commented(change),
        ("pull_request_target", _, true) => Origin::PrivilegedFork,
        (.., true) => Origin::Fork,
        (.., false) => Origin::Own,
    };
    let token = variable("GITHUB_TOKEN").or_else(|| variable("GH_TOKEN")).map(Secret::new);
    let service = token.map(|token| Service::GitHub(GitHub::new(&api, &repository, &token)));
    let commit = match name.as_str() {
        "workflow_run" => text("/workflow_run/head_sha"),
        _ => text("/pull_request/head/sha").or_else(|| variable("GITHUB_SHA")),
    };
    let server = variable("GITHUB_SERVER_URL").unwrap_or_else(|| "https://github.com".to_owned());
    let link = match name.as_str() {
        // What was measured is told by the log of that one.
        "workflow_run" => text("/workflow_run/html_url"),
        _ => {
            variable("GITHUB_RUN_ID").map(|run| format!("{server}/{repository}/actions/runs/{run}"))
        }
    };
    Ok(Surroundings {
        without_token: service.is_none().then_some(ServiceKind::GitHub),
        service,
        origin,
        commit,
        // For these it is the base, or the default branch, and nothing of the change.
        checked_out: variable("GITHUB_SHA")
            .filter(|_| !["pull_request_target", "workflow_run"].contains(&name.as_str())),
        change: event.pointer("/pull_request/number").and_then(Value::as_u64),
        // A group of a merge queue has those before it in the queue as its base.
        base: text("/pull_request/base/sha").or_else(|| text("/merge_group/base_sha")),
        before: text("/before").filter(|id| is_commit(id)),
        link,
        summary: variable("GITHUB_STEP_SUMMARY").map(PathBuf::from),
        outputs: variable("GITHUB_OUTPUT").map(PathBuf::from),
    })
}

fn gitlab(variable: &dyn Fn(&str) -> Option<String>) -> Result<Surroundings, SurroundingsError> {
    let api = variable("CI_API_V4_URL").unwrap_or_else(|| "https://gitlab.com/api/v4".to_owned());
    let project = variable("CI_PROJECT_ID").unwrap_or_default();
    let Ok(project) = project.parse::<u64>() else {
        return Err(SurroundingsError::Project(project));
    };
    let token =
        variable("BECALM_GITLAB_TOKEN").or_else(|| variable("GITLAB_TOKEN")).map(Secret::new);
    let service = token.map(|token| Service::GitLab(GitLab::new(&api, project, &token)));
    let source = variable("CI_MERGE_REQUEST_SOURCE_PROJECT_ID").and_then(|id| id.parse().ok());
    let is_fork = source.is_some_and(|source: u64| source != project);
    Ok(Surroundings {
        // A pipeline that a member starts for a fork's merge request does have the project's variables.
        origin: if is_fork && service.is_none() { Origin::Fork } else { Origin::Own },
        without_token: service.is_none().then_some(ServiceKind::GitLab),
        service,
        // In a pipeline for the merged result the commit is one that GitLab made for it.
        commit: variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")
            .or_else(|| variable("CI_COMMIT_SHA")),
        checked_out: variable("CI_COMMIT_SHA"),
        change: variable("CI_MERGE_REQUEST_IID").and_then(|id| id.parse().ok()),
        base: variable("CI_MERGE_REQUEST_DIFF_BASE_SHA"),
        before: variable("CI_COMMIT_BEFORE_SHA").filter(|id| is_commit(id)),
        link: variable("CI_JOB_URL"),
        ..Surroundings::default()
    })
}

/// A new branch has only zeros before it.
fn is_commit(id: &str) -> bool {
    id.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(variables: &[(&str, &str)], event: &Value) -> Surroundings {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Surroundings::of(&variable, event).unwrap()
    }

    const GITHUB: [(&str, &str); 4] = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_REPOSITORY", "o/r"),
        ("GITHUB_SHA", "5a"),
        ("GITHUB_RUN_ID", "9"),
    ];

    #[test]
    fn a_pull_request_from_a_fork_is_known() {
        let event = |from: &str| {
            json!({"pull_request": {"number": 7, "base": {"sha": "ba"},
                "head": {"sha": "4e", "repo": {"full_name": from}}}})
        };
        let own = of(&GITHUB, &event("o/r"));
        assert_eq!((own.origin, own.change), (Origin::Own, Some(7)));
        assert_eq!((own.commit.as_deref(), own.base.as_deref()), (Some("4e"), Some("ba")));
        assert_eq!(own.link.as_deref(), Some("https://github.com/o/r/actions/runs/9"));
        assert!(own.service.is_none() && own.without_token == Some(ServiceKind::GitHub));
        assert_eq!(of(&GITHUB, &event("x/r")).origin, Origin::Fork);
        let target = [&GITHUB[..], &[("GITHUB_EVENT_NAME", "pull_request_target")]].concat();
        assert_eq!(of(&target, &event("x/r")).origin, Origin::PrivilegedFork);
        // The repository of a fork may be gone.
        let gone = json!({"pull_request": {"number": 7, "head": {"sha": "4e", "repo": null}}});
        assert_eq!(of(&GITHUB, &gone).origin, Origin::Fork);
    }

    #[test]
    fn a_push_is_compared_with_what_was_there_before() {
        let push = of(&GITHUB, &json!({"before": "be"}));
        assert_eq!((push.commit.as_deref(), push.before.as_deref()), (Some("5a"), Some("be")));
        assert_eq!(of(&GITHUB, &json!({"before": "0000"})).before, None, "a new branch");
    }

    #[test]
    fn the_status_is_of_what_was_measured() {
        let event = json!({"pull_request": {"number": 7, "head": {"sha": "4e", "repo": {"full_name": "o/r"}}}});
        let of_request = of(&GITHUB, &event);
        let status = |around: &Surroundings, head: &str, parents: &[&str]| {
            let parents: Vec<String> = parents.iter().map(|one| (*one).to_owned()).collect();
            around.commit_of_status(head, &parents).unwrap()
        };
        assert_eq!(status(&of_request, "4e", &["ba"]), "4e");
        assert_eq!(status(&of_request, "5a", &["ba"]), "4e", "what the service has checked out");
        assert_eq!(status(&of_request, "77", &["ba", "4e"]), "4e", "a merge of it");
        assert_eq!(status(&of_request, "77", &["4e", "ba"]), "77", "a merge into it");
        let push = of(&GITHUB, &json!({"before": "be"}));
        assert_eq!(
            (status(&push, "5a", &[]), status(&push, "77", &["5a"])),
            ("5a".into(), "77".into())
        );
        let target = [&GITHUB[..], &[("GITHUB_EVENT_NAME", "pull_request_target")]].concat();
        assert_eq!(status(&of(&target, &event), "5a", &[]), "5a", "the base, and not the request");
        assert_eq!(of(&[], &Value::Null).commit_of_status("77", &[]), None);
    }

    #[test]
    fn a_comment_on_a_pull_request_may_ask_for_the_code_of_a_fork() {
        let commented = [&GITHUB[..], &[("GITHUB_EVENT_NAME", "issue_comment")]].concat();
        let on_request =
            json!({"issue": {"number": 7, "pull_request": {"url": "u"}}, "comment": {}});
        assert_eq!(of(&commented, &on_request).origin, Origin::Commented(7));
        let on_issue = json!({"issue": {"number": 7}, "comment": {}});
        assert_eq!(of(&commented, &on_issue).origin, Origin::Own);
    }

    #[test]
    fn a_workflow_that_follows_one_of_a_fork_is_known() {
        let after = [&GITHUB[..], &[("GITHUB_EVENT_NAME", "workflow_run")]].concat();
        let event = |of: &str| json!({"workflow_run": {"head_sha": "4e", "head_repository": {"full_name": of}}});
        assert_eq!(of(&after, &event("o/r")).origin, Origin::AfterOther);
        assert_eq!(of(&after, &event("x/r")).origin, Origin::AfterFork);
        assert_eq!(of(&after, &json!({"workflow_run": {}})).origin, Origin::AfterFork);
    }

    #[test]
    fn a_group_of_a_merge_queue_does_not_answer_for_those_before_it() {
        let queue = [&GITHUB[..], &[("GITHUB_EVENT_NAME", "merge_group")]].concat();
        let event = json!({"merge_group": {"base_sha": "ba", "head_sha": "5a"}});
        assert_eq!(of(&queue, &event).base.as_deref(), Some("ba"));
    }

    #[test]
    fn gitlab_says_it_in_variables() {
        let merge = of(
            &[
                ("GITLAB_CI", "true"),
                ("CI_PROJECT_ID", "12"),
                ("CI_MERGE_REQUEST_IID", "3"),
                ("CI_COMMIT_SHA", "5a"),
                ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "ba"),
                ("BECALM_GITLAB_TOKEN", "t"),
            ],
            &Value::Null,
        );
        assert_eq!((merge.change, merge.commit.as_deref()), (Some(3), Some("5a")));
        assert_eq!(merge.base.as_deref(), Some("ba"));
        assert!(matches!(merge.service, Some(Service::GitLab(_))));
    }

    #[test]
    fn outside_of_a_service_there_is_nobody_to_tell() {
        let here = of(&[], &Value::Null);
        assert!(here.service.is_none() && here.without_token.is_none() && here.commit.is_none());
    }
}
