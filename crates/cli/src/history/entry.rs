//! An entry of a history: a record with the commit that it is of.

use becalm_model::history::AtCommit;
use becalm_model::history::Commit;
use becalm_model::parse_time;
use becalm_model::{Record, RecordKind};
use becalm_store::{NewEntry, Origin, content, facts};

use super::points::points;
use super::when::now;
use crate::caller::sudo_user;
use crate::error::CommandError;
use crate::measuring::Repository;
use crate::records;
use becalm_model::MeasuredRevision;

/// What the user says of what is added.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    /// The commit, or a revision that git knows.
    pub(crate) commit: Option<String>,
    /// The branch.
    pub(crate) branch: Option<String>,
    /// Its place in time, whatever git says of the commit, in seconds since the Unix epoch.
    pub(crate) time: Option<f64>,
    /// Words for it.
    pub(crate) tags: Vec<String>,
}

impl About {
    /// Says whether it tells where the entry belongs.
    pub(crate) fn says_where(&self) -> bool {
        self.commit.is_some() || self.branch.is_some() || self.time.is_some()
    }
}

/// The repository around becalm, as far as there is one.
#[derive(Debug)]
pub(crate) struct Home {
    repository: Option<Repository>,
    /// The commit that is checked out, with its time, if there is any.
    head: Option<Commit>,
    /// The branch that is checked out.
    branch: Option<String>,
    /// Whether tracked files are changed.
    dirty: bool,
}

impl Home {
    /// Looks at the repository of the present folder.
    pub(crate) fn look() -> Result<Self, CommandError> {
        let repository = Repository::find(sudo_user())?;
        let Some(git) = &repository else {
            return Ok(Self { repository: None, head: None, branch: None, dirty: false });
        };
        let head = git.committed("HEAD");
        let dirty = head.is_some() && !git.changed()?.is_empty();
        Ok(Self { head, branch: git.branch(), dirty, repository })
    }

    /// Says whether commits are checked out by their ids, so that no branch is known.
    pub(crate) fn is_detached(&self) -> bool {
        self.head.is_some() && self.branch.is_none()
    }

    /// Says whether this commit is checked out.
    fn has_checked_out(&self, commit: &Commit) -> bool {
        self.head.as_ref().is_some_and(|head| head.id == commit.id)
    }

    /// Says what git does not tell here and therefore is not known of the entries.
    pub(crate) fn doubt(&self, about: &About) -> Option<String> {
        if about.time.is_some() {
            return None;
        }
        let has_git = self.repository.is_some() || Repository::has_git();
        match &about.commit {
            Some(name) if self.named(name).time.is_none() => {
                let why = if has_git { "git knows no such commit here" } else { "git cannot be started" };
                Some(format!(
                    "--commit {name}: {why}; it is taken as a name of your own, whose place in time is that of the \
                     measurement unless --time tells another"
                ))
            }
            None if !has_git => Some(
                "git cannot be started, so what is checked out is not known; --commit, --branch and --time tell it"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// Finds a commit by any of its names; what git does not know keeps its name.
    fn named(&self, name: &str) -> Commit {
        let known = self.repository.as_ref().and_then(|git| git.committed(name));
        known.unwrap_or_else(|| Commit { id: name.to_owned(), time: None })
    }
}

/// Makes an entry. What the user says comes first, then what the file says, then what is checked out; what
/// has no branch is of `branch`.
pub(crate) fn new_entry(one: &AtCommit, about: &About, home: &Home, branch: &str) -> NewEntry {
    let record = &one.record;
    let in_file = Told::of(record);
    let told = about.commit.as_ref().or(one.commit.as_ref()).or(in_file.commit.as_ref());
    let (mut commit, dirty) = match told {
        Some(name) => {
            // A commit that the user names has its time from git, another one from its file.
            let time = if about.commit.is_some() { None } else { one.time.or(in_file.time) };
            let is_known = time.is_some();
            let found = if is_known { Commit { id: name.clone(), time } } else { home.named(name) };
            (Some(found), about.commit.is_none() && in_file.dirty)
        }
        // What tells its own time is of a series that was measured elsewhere, and not of what is checked out.
        None if one.time.is_some() => (None, false),
        None => (home.head.clone(), home.dirty && home.head.is_some()),
    };
    if let (Some(commit), Some(time)) = (&mut commit, about.time) {
        commit.time = Some(time);
    }
    // One of many rows of a history is of the branch of the others, whatever is checked out.
    let is_here = one.time.is_none()
        && (told.is_none() || commit.as_ref().is_some_and(|commit| home.has_checked_out(commit)));
    let of_home = home.branch.as_ref().filter(|_| is_here);
    let branch = about
        .branch
        .as_ref()
        .or(one.branch.as_ref())
        .or(in_file.branch.as_ref())
        .or(of_home)
        .map_or(branch, String::as_str);
    let of_commit = commit.as_ref().and_then(|commit| commit.time);
    let began = Some(record.started_at).filter(|time| *time > 0.0);
    // Without a commit the place in time is when it was measured.
    let of_user = about.time.filter(|_| commit.is_none());
    let measured = of_user.or(began).or(about.time).or(one.time).or(of_commit).unwrap_or_else(now);
    let is_of_many =
        record.kind == RecordKind::Import && (one.commit.is_some() || one.time.is_some());
    NewEntry {
        origin: if is_of_many { Origin::History } else { Origin::Measurement },
        content: content(record, commit.as_ref(), branch),
        measured,
        branch: branch.to_owned(),
        dirty,
        tags: about.tags.clone(),
        facts: facts(record),
        document: records::json(record),
        points: points(record),
        commit,
    }
}

/// What a record says of the commit that it is of: another tool's, or one of a revision.
#[derive(Debug, Default)]
struct Told {
    commit: Option<String>,
    branch: Option<String>,
    time: Option<f64>,
    dirty: bool,
}

impl Told {
    fn of(record: &Record) -> Self {
        let [subject] = &record.subjects[..] else { return Self::default() };
        if record.kind != RecordKind::Import {
            let dirty = MeasuredRevision::of(subject).is_some_and(|revision| revision.dirty);
            return Self { dirty, ..Self::default() };
        }
        let parameter = |wanted: &str| {
            let found = subject.parameters.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
        };
        let fact = |name: &str| record.machine.facts.get(name).cloned();
        Self {
            commit: parameter("commit").or_else(|| fact("commit_id")),
            branch: parameter("branch").or_else(|| fact("commit_branch")),
            time: fact("commit_date").and_then(|text| parse_time(&text)),
            dirty: parameter("dirty").is_some_and(|text| text == "true"),
        }
    }
}
