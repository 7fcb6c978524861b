//! What becalm asks git for. It runs as the user who owns the repository: git refuses root there.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use becalm_model::history::{commit_words, short_commit};
use becalm_runner::WorkFolder;

use super::documentation::is_documentation;
use crate::error::Fault;

/// Why git does not answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no repository here, or none that git can read.
    #[error("{flag} needs a git repository: {source}")]
    NoRepository {
        /// What needs it.
        flag: String,
        /// What git says.
        source: Box<GitError>,
    },
    /// A revision names no commit.
    #[error("{flag} {revision}: no such revision in {}", top.display())]
    NoRevision {
        /// What needs it.
        flag: String,
        /// As it was given.
        revision: String,
        /// The repository.
        top: PathBuf,
    },
    /// git knows nothing of a commit.
    #[error("git has no information about {0}")]
    NoCommit(String),
    /// git cannot be started.
    #[error("cannot start git: {0}")]
    Start(std::io::Error),
    /// git failed.
    #[error("git {command} failed: {said}")]
    Failed {
        /// Its command.
        command: String,
        /// Its last message.
        said: String,
    },
}

impl GitError {
    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoRepository { .. } | Self::NoRevision { .. } => Fault::Usage,
            Self::NoCommit(_) | Self::Start(_) | Self::Failed { .. } => Fault::Measurement,
        }
    }

    /// Says whether the repository belongs to somebody else, which git refuses.
    pub fn is_of_other_owner(&self) -> bool {
        match self {
            Self::NoRepository { source, .. } => source.is_of_other_owner(),
            Self::Failed { said, .. } => said.contains("dubious ownership"),
            _ => false,
        }
    }
}

/// The repository that becalm was started in.
#[derive(Debug)]
pub struct Repository {
    /// The top folder of its working tree.
    top: PathBuf,
    /// Where in it becalm was started.
    inside: PathBuf,
}

/// A commit that a revision names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its full id.
    pub id: String,
    /// The first line of its message.
    pub title: String,
    /// The commit whose changes it has, if it is a snapshot of the working tree.
    pub changes_of: Option<String>,
}

/// A branch that counts as the main one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MainBranch {
    /// Its name.
    pub name: String,
    /// Whether nothing is known but that this clone of another repository has no other branch.
    pub is_only_one: bool,
}

/// The commits of a branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Lineage {
    /// Those that the branch itself went through: of a merge only the first parent.
    pub first_parents: HashSet<String>,
    /// With those of merged branches.
    pub all: HashSet<String>,
    /// When its last commit was made, in seconds since the Unix epoch.
    pub tip: f64,
}

/// A commit with who made it and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The commit.
    pub commit: Commit,
    /// How many parents it has.
    pub parents: usize,
    /// Who wrote it.
    pub author: String,
    /// When, in ISO 8601.
    pub date: String,
}

/// The format in which git writes a [`Signed`].
const SIGNED: &str = "--format=%H%x00%P%x00%an%x00%aI%x00%s";

impl Signed {
    fn of_line(line: &str) -> Option<Self> {
        let mut parts = line.splitn(5, '\0').map(str::to_owned);
        let id = parts.next()?;
        let parents = parts.next()?.split_whitespace().count();
        let (author, date, title) = (parts.next()?, parts.next()?, parts.next()?);
        let commit = Commit { id, title, changes_of: None };
        Some(Self { commit, parents, author, date })
    }
}

impl Commit {
    /// Returns the beginning of the id, as people know it.
    pub fn short(&self) -> &str {
        short_commit(&self.id)
    }
}

impl Repository {
    /// Finds the repository of the present folder.
    /// `flag` is what needs it.
    pub fn here(flag: &str) -> Result<Self, GitError> {
        Self::around()?.map_err(|source| GitError::NoRepository {
            flag: flag.to_owned(),
            source: Box::new(source),
        })
    }

    /// Finds the repository of the present folder; `None` where there is none, or no git.
    pub fn find() -> Result<Option<Self>, GitError> {
        Ok(Self::around()?.ok())
    }

    /// Returns the repository of the present folder, or why there is none.
    fn around() -> Result<Result<Self, GitError>, GitError> {
        let here = Self { top: PathBuf::from("."), inside: PathBuf::new() };
        Ok(match here.text(&["rev-parse", "--show-toplevel"]) {
            Ok(top) => {
                let inside = here.text(&["rev-parse", "--show-prefix"])?.into();
                Ok(Self { top: top.into(), inside })
            }
            Err(why) => Err(why),
        })
    }

    /// Says whether git can be started at all.
    pub fn has_git() -> bool {
        Command::new("git").arg("--version").stdin(Stdio::null()).output().is_ok()
    }

    /// Returns the top folder of the working tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the branch that is checked out; `None` where a commit is.
    pub fn branch(&self) -> Option<String> {
        self.text(&["symbolic-ref", "--quiet", "--short", "HEAD"]).ok()
    }

    /// Returns where the remote `origin` is, if there is one. The address can have a password.
    pub fn origin(&self) -> Option<String> {
        self.text(&["remote", "get-url", "origin"]).ok()
    }

    /// Returns the main branch, as far as git says: that of a remote, else the one that new repositories get here, `main`
    /// or `master`, if this one or a remote has it, else the only one here. `None` where nothing says.
    pub fn main_branch(&self) -> Option<MainBranch> {
        let has = |name: &str| self.text(&["rev-parse", "--quiet", "--verify", name]).is_ok();
        let remotes = self.text(&["remote"]).unwrap_or_default();
        let mut remotes: Vec<&str> = remotes.lines().collect();
        remotes.sort_by_key(|name| *name != "origin");
        let named = |name: String| Some(MainBranch { name, is_only_one: false });
        let of_remote = |remote: &&str| {
            let of = format!("refs/remotes/{remote}/");
            let full = self.text(&["symbolic-ref", "--quiet", &format!("{of}HEAD")]).ok()?;
            // The branch may have got another name since, and a fetch does not change what is said here.
            full.strip_prefix(&of).filter(|_| has(&full)).map(str::to_owned)
        };
        if let Some(name) = remotes.iter().find_map(of_remote) {
            return named(name);
        }
        let configured = self.text(&["config", "--get", "init.defaultBranch"]).ok();
        let mut usual = configured.into_iter().chain(["main", "master"].map(str::to_owned));
        let is_there = |name: &String| {
            has(&format!("refs/heads/{name}"))
                || remotes.iter().any(|remote| has(&format!("refs/remotes/{remote}/{name}")))
        };
        if let Some(name) = usual.find(is_there) {
            return named(name);
        }
        let how = ["for-each-ref", "--count=2", "--format=%(refname:short)", "refs/heads"];
        let branches = self.text(&how).unwrap_or_default();
        match branches.lines().collect::<Vec<_>>()[..] {
            [] => self.branch().and_then(named),
            // A clone may have nothing but a branch for a change.
            [only] => Some(MainBranch { name: only.to_owned(), is_only_one: !remotes.is_empty() }),
            _ => None,
        }
    }

    /// Returns the commits of a branch, here and at `origin`; `None` if there is no such branch, or if the clone does not
    /// have all of its commits.
    pub fn lineage(&self, branch: &str) -> Option<Lineage> {
        let names = [format!("refs/heads/{branch}"), format!("refs/remotes/origin/{branch}")];
        let is_there =
            |name: &&String| self.text(&["rev-parse", "--quiet", "--verify", name]).is_ok();
        let there: Vec<&str> = names.iter().filter(is_there).map(String::as_str).collect();
        if there.is_empty() || self.is_shallow() {
            return None;
        }
        let commits = |how: &[&str]| -> Option<HashSet<String>> {
            let text = self.text(&[&["rev-list"], how, &there[..]].concat()).ok()?;
            Some(text.lines().map(str::to_owned).collect())
        };
        let tips = self.text(&[&["log", "--no-walk", "--format=%ct"], &there[..]].concat()).ok()?;
        let tip = tips.lines().filter_map(|time| time.parse().ok()).fold(0.0, f64::max);
        Some(Lineage { first_parents: commits(&["--first-parent"])?, all: commits(&[])?, tip })
    }

    /// Returns the names of branches and tags, the latest first; at most a thousand, for people to choose from.
    ///
    /// # Errors
    ///
    /// If git fails.
    pub fn named(&self) -> Result<Vec<String>, GitError> {
        let kinds = ["refs/heads", "refs/tags", "refs/remotes"];
        let how =
            ["for-each-ref", "--count=1000", "--sort=-creatordate", "--format=%(refname:short)"];
        let names = self.text(&[&how[..], &kinds].concat())?;
        Ok(names.lines().map(str::to_owned).collect())
    }

    /// Returns a commit with the time of committing, its author (after `.mailmap`) and its title; `None` if there is no such
    /// revision.
    pub fn committed(&self, revision: &str) -> Option<becalm_model::history::Commit> {
        let of = format!("{revision}^{{commit}}");
        let how = "--format=%H%n%ct%n%aN%n%s";
        let shown = self.text(&["log", "-1", how, "--end-of-options", &of]).ok()?;
        let mut lines = shown.lines();
        let (id, time) = (lines.next()?, lines.next()?);
        let [author, title] = [(); 2].map(|()| lines.next().and_then(commit_words));
        Some(becalm_model::history::Commit {
            id: id.to_owned(),
            time: time.parse().ok(),
            author,
            title,
        })
    }

    /// Returns the parents of a commit that are in this clone's history.
    pub fn parents(&self, revision: &str) -> Result<Vec<String>, GitError> {
        let of = format!("{revision}^{{commit}}");
        let text = self.text(&["log", "-1", "--format=%P", "--end-of-options", &of])?;
        Ok(text.split_whitespace().map(str::to_owned).collect())
    }

    /// Returns the last commit that two revisions have in common; `None` where there is none here.
    pub fn common(&self, a: &str, b: &str) -> Option<String> {
        self.text(&["merge-base", "--end-of-options", a, b]).ok()
    }

    /// Returns the first line of a commit's message.
    pub fn title(&self, revision: &str) -> Option<String> {
        self.text(&["log", "-1", "--format=%s", "--end-of-options", revision]).ok()
    }

    /// Returns the paths in which two revisions differ.
    pub fn differing(&self, a: &str, b: &str) -> Result<Vec<String>, GitError> {
        // `.gitmodules` may say that submodules are to be ignored, and what they hold is built all the same.
        let all = ["--no-renames", "--no-relative", "--ignore-submodules=none"];
        let named =
            ["diff", "--name-only"].into_iter().chain(all).chain(["--end-of-options", a, b]);
        let text = self.text(&named.collect::<Vec<_>>())?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Returns where in the working tree becalm was started.
    pub fn inside(&self) -> &Path {
        &self.inside
    }

    /// Says whether older commits were left out when it was cloned.
    pub fn is_shallow(&self) -> bool {
        self.text(&["rev-parse", "--is-shallow-repository"]).is_ok_and(|text| text == "true")
    }

    /// Says whether a commit is in the history of another.
    pub fn is_ancestor(&self, earlier: &Commit, later: &Commit) -> bool {
        self.text(&["merge-base", "--is-ancestor", &earlier.id, &later.id]).is_ok()
    }

    /// Returns the newest commit that is in the history of both, if there is one.
    pub fn merge_base(&self, a: &Commit, b: &Commit) -> Option<String> {
        self.text(&["merge-base", &a.id, &b.id]).ok().filter(|id| !id.is_empty())
    }

    /// Returns a commit with who made it and when.
    pub fn signed(&self, commit: &Commit) -> Result<Signed, GitError> {
        let text = self.text(&["log", "-1", SIGNED, &commit.id])?;
        Signed::of_line(&text).ok_or_else(|| GitError::NoCommit(commit.id.clone()))
    }

    /// Returns the commits after `good` up to `bad`, the oldest first, by first parents: a merge is one commit.
    pub fn range(&self, good: &Commit, bad: &Commit) -> Result<Vec<Signed>, GitError> {
        let text = self.text(&[
            "log",
            "--first-parent",
            "--reverse",
            SIGNED,
            &format!("{}..{}", good.id, bad.id),
        ])?;
        Ok(text.lines().filter_map(Signed::of_line).collect())
    }

    /// Returns the id that git would give to a file's content.
    pub fn content(&self, file: &Path) -> Result<String, GitError> {
        let file = file.display().to_string();
        self.text(&["hash-object", "--no-filters", "--", &file])
    }

    /// Returns the files of a commit with the ids of their contents, one to a line, but for documentation.
    pub fn sources(&self, commit: &Commit) -> Result<String, GitError> {
        let text = self.text(&["ls-tree", "-r", "--full-tree", &commit.id])?;
        let is_source =
            |line: &&str| line.split_once('\t').is_none_or(|(_, path)| !is_documentation(path));
        Ok(text.lines().filter(is_source).collect::<Vec<_>>().join("\n"))
    }

    /// Finds the commit that a revision names, which was given by `flag`.
    pub fn commit(&self, flag: &str, revision: &str) -> Result<Commit, GitError> {
        let id = self.text(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{revision}^{{commit}}"),
        ]);
        let id = id.map_err(|_| GitError::NoRevision {
            flag: flag.to_owned(),
            revision: revision.to_owned(),
            top: self.top.clone(),
        })?;
        let title = self.text(&["log", "-1", "--format=%s", &id])?;
        Ok(Commit { id, title, changes_of: None })
    }

    /// Makes a commit of the working tree as it is, on no branch, without changing anything; `None`
    /// if nothing is changed.
    pub fn working_tree(&self) -> Result<Option<Commit>, GitError> {
        // Always the same time, so that the same tree is the same commit when a session goes on.
        let mut git = Command::new("git");
        git.envs([("GIT_AUTHOR_DATE", "@1 +0000"), ("GIT_COMMITTER_DATE", "@1 +0000")]);
        let id = self.said(git, &["stash", "create", "becalm: the working tree"])?;
        if id.is_empty() {
            return Ok(None);
        }
        let changes_of = Some(self.text(&["rev-parse", "--verify", &format!("{id}^1")])?);
        Ok(Some(Commit { id, title: "the working tree".to_owned(), changes_of }))
    }

    /// Returns the paths of tracked files that are changed and not committed.
    pub fn changed(&self) -> Result<Vec<String>, GitError> {
        let text = self.text(&["status", "--porcelain", "--untracked-files=no"])?;
        Ok(text.lines().filter_map(|line| line.get(3..)).map(str::to_owned).collect())
    }

    /// Returns the submodules that are at another commit than the last commit of this repository has, or that have
    /// changes of their own.
    pub fn changed_submodules(&self) -> Result<Vec<String>, GitError> {
        let told = ["--porcelain=v2", "--untracked-files=no", "--ignore-submodules=none"];
        let text = self.text(&[&["status"], &told[..]].concat())?;
        // 1 XY S<commit><modified><untracked> and six more fields, or seven if it was moved, before the path.
        let changed = |line: &str| {
            let fields: Vec<&str> = line.split(' ').collect();
            let state = fields.get(2).filter(|state| state.starts_with('S'))?;
            let first = if fields[0] == "1" { 8 } else { 9 };
            let path = fields.get(first..)?.join(" ");
            let is_changed = fields[1] != ".." && fields[1] != ".M" || state.contains(['C', 'M']);
            is_changed.then(|| path.split('\t').next().unwrap_or_default().to_owned())
        };
        Ok(text.lines().filter_map(changed).collect())
    }

    /// Returns the paths of files that git does not know and does not ignore.
    pub fn untracked(&self) -> Result<Vec<String>, GitError> {
        let text = self.text(&["ls-files", "--others", "--exclude-standard"])?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Returns the paths in which two commits differ.
    pub fn difference(&self, a: &Commit, b: &Commit) -> Result<Vec<String>, GitError> {
        let text = self.text(&["diff", "--name-only", &a.id, &b.id])?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Makes a working tree of a commit, with its submodules.
    pub fn add_worktree(&self, place: &Path, commit: &Commit) -> Result<(), GitError> {
        let path = place.display().to_string();
        // Forced, because the place may be known of a tree that was moved away.
        self.text(&["worktree", "add", "--force", "--detach", &path, &commit.id])?;
        if place.join(".gitmodules").exists() {
            let tree = Self { top: place.to_owned(), inside: PathBuf::new() };
            // `--init` would write into the configuration of the repository, which all its worktrees share, and where
            // it would stay. Without it the addresses are those of the user's configuration or of `.gitmodules`.
            let mut git = Command::new("git");
            git.args(["-c", "submodule.active=."]);
            tree.said(git, &["submodule", "update", "--recursive"])?;
        }
        Ok(())
    }

    /// Makes git forget the worktrees that becalm has made and that are gone, including those of
    /// killed sessions. (Pruning would also forget those of the user that are missing at the
    /// moment, on a disk that is not mounted, with what is staged in them.)
    pub fn forget_worktrees(&self) {
        let listed = self.text(&["worktree", "list", "--porcelain"]).unwrap_or_default();
        for path in listed.lines().filter_map(|line| line.strip_prefix("worktree ")) {
            let folder = Path::new(path).parent().and_then(Path::file_name);
            if folder.is_some_and(WorkFolder::is_for_builds) && !Path::new(path).exists() {
                // It does so by itself some day.
                let _ = self.text(&["worktree", "remove", "--force", path]);
            }
        }
    }

    fn text(&self, arguments: &[&str]) -> Result<String, GitError> {
        self.said(Command::new("git"), arguments)
    }

    fn said(&self, mut git: Command, arguments: &[&str]) -> Result<String, GitError> {
        // The user's wish to see signatures in the log would put them between the lines that are read here.
        git.args(["-c", "log.showSignature=false"]);
        git.arg("-C").arg(&self.top).args(arguments).stdin(Stdio::null());
        let Output { status, stdout, stderr } = git.output().map_err(GitError::Start)?;
        if !status.success() {
            let said = String::from_utf8_lossy(&stderr);
            // Advice stands below, such as the command that trusts a folder of another user.
            let fatal = said.lines().find(|line| line.starts_with("fatal: "));
            let said = fatal.or(said.trim().lines().last()).unwrap_or("it printed no message");
            return Err(GitError::Failed {
                command: arguments[0].to_owned(),
                said: said.to_owned(),
            });
        }
        Ok(String::from_utf8_lossy(&stdout).trim_end().to_owned())
    }
}
