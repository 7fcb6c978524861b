//! An entry of a history: a record with the commit that it is of.

use becalm_model::history::{AtCommit, Commit};
use becalm_model::{Record, RecordKind, Revision, parse_time};
use becalm_store::{NewEntry, Origin, content, facts};

use crate::points::points;

/// What the user says of what is added.
#[derive(Debug, Clone, Default)]
pub struct EntryTerms {
    /// The commit, or a revision that git knows.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// Its place in time, whatever git says of the commit, in seconds since the Unix epoch.
    pub time: Option<f64>,
    /// Words for it.
    pub tags: Vec<String>,
}

impl EntryTerms {
    /// Says whether it tells where the entry belongs.
    pub fn says_where(&self) -> bool {
        self.commit.is_some() || self.branch.is_some() || self.time.is_some()
    }
}

/// What the repository says of itself: what is checked out, and which commits it knows.
pub struct Checkout<'a> {
    /// The commit that is checked out, with its time, if there is any.
    pub head: Option<&'a Commit>,
    /// The branch that is checked out.
    pub branch: Option<&'a str>,
    /// Whether tracked files are changed.
    pub dirty: bool,
    /// Finds a commit by any of its names.
    pub find: &'a dyn Fn(&str) -> Option<Commit>,
}

impl Checkout<'_> {
    /// Says whether this commit is checked out.
    fn has_checked_out(&self, commit: &Commit) -> bool {
        self.head.is_some_and(|head| head.id == commit.id)
    }

    /// Finds a commit by its id alone.
    fn same(&self, id: &str) -> Option<Commit> {
        let is_id = id.len() >= 7 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| (self.find)(id)).flatten().filter(|commit| commit.id.starts_with(id))
    }

    /// Finds a commit; what git does not know keeps its name.
    fn named(&self, name: &str) -> Commit {
        (self.find)(name).unwrap_or_else(|| Commit::named(name))
    }
}

/// Makes an entry. What the user says comes first, then what the file says, then what is checked out; what
/// has no branch is of `branch`, and what nobody knows the time of is of `now`. `document` is the whole record,
/// if it is to be kept.
pub fn new_entry(
    one: &AtCommit,
    terms: &EntryTerms,
    checkout: &Checkout<'_>,
    branch: &str,
    document: Option<String>,
    now: f64,
) -> NewEntry {
    let record = &one.record;
    let in_file = CommitFacts::of(record);
    let named = terms.commit.as_ref().or(one.commit.as_ref()).or(in_file.commit.as_ref());
    let (mut commit, dirty) = match named {
        Some(name) => {
            // A commit that the user names has its time from git, another one from its file.
            let time = if terms.commit.is_some() { None } else { one.time.or(in_file.time) };
            let found = match time.and_then(|_| checkout.same(name)) {
                // Some files have the time at which a commit was written, which a rebase does not change.
                Some(of_git) => of_git,
                None if time.is_some() => {
                    let (author, title) = (one.author.clone(), one.title.clone());
                    Commit { id: name.clone(), time, author, title }
                }
                None => checkout.named(name),
            };
            (Some(found), terms.commit.is_none() && in_file.dirty)
        }
        // What tells its own time is of a series that was measured elsewhere, and not of what is checked out.
        None if one.time.is_some() => (None, false),
        None => (checkout.head.cloned(), checkout.dirty && checkout.head.is_some()),
    };
    if let (Some(commit), Some(time)) = (&mut commit, terms.time) {
        commit.time = Some(time);
    }
    // One of many rows of a history is of the branch of the others, whatever is checked out.
    let is_here = one.time.is_none()
        && (named.is_none()
            || commit.as_ref().is_some_and(|commit| checkout.has_checked_out(commit)));
    let checked_out = checkout.branch.filter(|_| is_here);
    let branch = terms
        .branch
        .as_deref()
        .or(one.branch.as_deref())
        .or(in_file.branch.as_deref())
        .or(checked_out)
        .unwrap_or(branch);
    let of_commit = commit.as_ref().and_then(|commit| commit.time);
    let began = Some(record.started_at).filter(|time| *time > 0.0);
    // Without a commit the place in time is when it was measured.
    let of_user = terms.time.filter(|_| commit.is_none());
    let measured = of_user.or(began).or(terms.time).or(one.time).or(of_commit).unwrap_or(now);
    let is_of_many =
        record.kind == RecordKind::Import && (one.commit.is_some() || one.time.is_some());
    let place = EntryPlace {
        origin: if is_of_many { Origin::History } else { Origin::Measurement },
        measured,
        commit,
        branch: branch.to_owned(),
        dirty,
        tags: terms.tags.clone(),
    };
    entry_at(record, place, document)
}

/// Where an entry belongs, and all else that its record does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryPlace {
    /// Where it comes from.
    pub origin: Origin,
    /// When the measuring began, in seconds since the Unix epoch.
    pub measured: f64,
    /// The commit, where it is known.
    pub commit: Option<Commit>,
    /// The branch; empty if it is unknown.
    pub branch: String,
    /// Whether the working tree had changes that no commit has.
    pub dirty: bool,
    /// Words for it.
    pub tags: Vec<String>,
}

/// Makes the entry of a record at this place. `document` is the whole record, if it is to be kept.
pub fn entry_at(record: &Record, place: EntryPlace, document: Option<String>) -> NewEntry {
    let EntryPlace { origin, measured, commit, branch, dirty, tags } = place;
    NewEntry {
        origin,
        content: content(record, commit.as_ref(), &branch),
        measured,
        branch,
        dirty,
        tags,
        facts: facts(record),
        document,
        points: points(record),
        commit,
    }
}

/// What a record says of the commit that it is of: another tool's, or one of a revision.
#[derive(Debug, Default)]
struct CommitFacts {
    commit: Option<String>,
    branch: Option<String>,
    time: Option<f64>,
    dirty: bool,
}

impl CommitFacts {
    fn of(record: &Record) -> Self {
        let [subject] = &record.subjects[..] else { return Self::default() };
        if record.kind != RecordKind::Import {
            let dirty = subject.revision.as_ref().is_some_and(Revision::is_dirty);
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
