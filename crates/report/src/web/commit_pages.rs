//! Where commits can be looked at: the pages of what hosts the repository.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// What stands for the commit in an address.
const COMMIT: &str = "{commit}";

/// What stands for the name of a project in an address.
const PROJECT: &str = "{project}";

/// Hosts that everybody knows, and what is between a repository and a commit there.
const KNOWN: [(&str, &str); 4] = [
    ("github.com", "commit"),
    ("gitlab.com", "-/commit"),
    ("codeberg.org", "commit"),
    ("bitbucket.org", "commits"),
];

/// The address of the page of any commit, such as `https://github.com/owner/name/commit/{commit}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitPages(String);

/// Why a text is no address of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoCommitPages;

impl fmt::Display for NoCommitPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "expected an address with {commit}, such as https://example.org/project/commit/{commit}",
        )
    }
}

impl Error for NoCommitPages {}

impl FromStr for CommitPages {
    type Err = NoCommitPages;

    fn from_str(text: &str) -> Result<Self, NoCommitPages> {
        let is_of_web = ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme));
        let is_plain = |c: char| c.is_ascii_graphic() && !"\"'<>\\`".contains(c);
        if is_of_web && text.chars().all(is_plain) && text.contains(COMMIT) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NoCommitPages)
        }
    }
}

impl CommitPages {
    /// Returns the pages of the repository that git fetches from this address, on a host that everybody knows.
    pub fn of_remote(remote: &str) -> Option<Self> {
        let (host, path) = match remote.split_once("://") {
            Some((_, rest)) => rest.split_once('/')?,
            // As ssh has it: `git@github.com:owner/name.git`.
            None => remote.split_once(':')?,
        };
        // Before the host may be a password.
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = host.split_once(':').map_or(host, |(host, _)| host);
        let (_, between) = KNOWN.iter().find(|(known, _)| host.eq_ignore_ascii_case(known))?;
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let is_whole = path.split('/').filter(|part| !part.is_empty()).count() >= 2;
        (is_whole && path.chars().all(is_plain)).then(|| {
            Self(format!("https://{}/{path}/{between}/{COMMIT}", host.to_ascii_lowercase()))
        })
    }

    /// Says whether the name of a project belongs into the address.
    pub fn needs_project(&self) -> bool {
        self.0.contains(PROJECT)
    }

    /// Returns those of one of several projects.
    #[must_use]
    pub fn of_project(&self, project: &str) -> Self {
        Self(self.0.replace(PROJECT, project))
    }

    /// Returns the page of a commit, if its id is one of git: others are names that people chose.
    pub(super) fn of(&self, id: &str) -> Option<String> {
        let is_of_git = (7..=64).contains(&id.len()) && id.bytes().all(|c| c.is_ascii_hexdigit());
        is_of_git.then(|| self.0.replace(COMMIT, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_of_known_hosts_lead_to_their_commits_without_passwords() {
        let at = |remote: &str| CommitPages::of_remote(remote).map(|pages| pages.0);
        let github = Some("https://github.com/owner/name/commit/{commit}".to_owned());
        for remote in [
            "https://github.com/owner/name.git",
            "https://github.com/owner/name/",
            "https://ada:secret@github.com/owner/name",
            "git@github.com:owner/name.git",
            "ssh://git@GitHub.com:22/owner/name.git",
        ] {
            assert_eq!(at(remote), github, "{remote}");
        }
        let gitlab = "https://gitlab.com/group/sub/name/-/commit/{commit}".to_owned();
        assert_eq!(at("git@gitlab.com:group/sub/name.git"), Some(gitlab));
        for other in [
            "/srv/git/name.git",
            "git@example.org:owner/name.git",
            "https://github.com.example.org/owner/name",
            "https://github.com/owner",
            "https://github.com/owner/na\"me",
            "../name",
            "",
        ] {
            assert_eq!(at(other), None, "{other}");
        }
    }

    #[test]
    fn an_address_needs_a_place_for_the_commit_and_nothing_that_a_page_would_read() {
        let read = |text: &str| text.parse::<CommitPages>().is_ok();
        assert!(read("https://example.org/{project}/commit/{commit}?a=b&c"));
        for wrong in [
            "https://example.org/commit/",
            "javascript:alert(1)//{commit}",
            "https://example.org/\"{commit}",
            "https://example.org/ {commit}",
            "/commit/{commit}",
        ] {
            assert!(!read(wrong), "{wrong}");
        }
    }

    #[test]
    fn only_ids_of_git_have_pages() {
        let pages: CommitPages = "https://example.org/{project}/{commit}?a&b".parse().unwrap();
        let pages = pages.of_project("sort");
        let id = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(pages.of(id), Some(format!("https://example.org/sort/{id}?a&b")));
        for other in ["v1.2", "build 17", "<b>", "../../etc", "012345"] {
            assert_eq!(pages.of(other), None, "{other}");
        }
    }
}
