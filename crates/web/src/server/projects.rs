//! The histories of a server: one, or several projects, each with its own tokens. Where the database of one is gone, the
//! others do not wait for it.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use becalm_report::web::WebMessage;
use becalm_series::{Right, Store, StoreError, Token};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::access::{Access, Caller};
use super::target::is_reserved;
use crate::history::History;
use crate::queries::Findings;

/// Queries at the same time, of each project.
const QUERIES: usize = 4;

/// How long tokens are known before they are read again: so long one that was revoked may still count.
const FRESH: Duration = Duration::from_secs(1);

/// How long a page of several projects waits for each of them, and who looks after the server for an answer.
pub(super) const WAIT: Duration = Duration::from_secs(5);

/// Letters of a name.
const LONGEST: usize = 63;

/// What a project is called: the addresses of its pages begin with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProjectName(String);

/// A name that no project can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectNameError {
    /// It has more letters than this, none, or others than ASCII letters, digits, `-`, `_` and `.`, or begins with a sign.
    Unusual {
        /// Letters that one has at most.
        most: usize,
    },
    /// Addresses of the server begin with it.
    Reserved,
}

impl fmt::Display for ProjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ProjectName {
    type Err = ProjectNameError;

    fn from_str(name: &str) -> Result<Self, ProjectNameError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if !begins || name.len() > LONGEST || !name.bytes().all(is_plain) {
            return Err(ProjectNameError::Unusual { most: LONGEST });
        }
        if is_reserved(name) {
            return Err(ProjectNameError::Reserved);
        }
        Ok(Self(name.to_owned()))
    }
}

/// The histories that a server shows.
pub struct Projects {
    all: Vec<Arc<Project>>,
    /// Whether each is below its name.
    are_named: bool,
}

/// One history with its tokens.
pub(super) struct Project {
    /// Empty if the server has no other.
    pub(super) name: String,
    pub(super) history: History,
    /// Whether it has a token for reading, so that nobody reads it without one: as it was when the server started, or when
    /// its tokens could be read for the first time.
    has_readers: OnceLock<bool>,
    tokens: tokio::sync::Mutex<KnownTokens>,
    /// One reads the tokens at a time, also where the database does not answer.
    reading: Arc<Semaphore>,
    pub(super) turns: Arc<Semaphore>,
    /// Records are read one at a time, to be shown or to be added: each needs several times its length meanwhile, and the
    /// history has one writer.
    pub(super) records: Arc<Semaphore>,
}

/// What is known of the tokens of a history.
#[derive(Default)]
struct KnownTokens {
    /// When they were last asked for.
    asked: Option<Instant>,
    /// Those that were read last, if they ever were.
    read: Option<Arc<[Token]>>,
}

impl From<History> for Projects {
    fn from(history: History) -> Self {
        Self { all: vec![Arc::new(Project::new(String::new(), history))], are_named: false }
    }
}

impl Projects {
    /// Makes several of histories with the tokens that they have, `None` if these cannot be read now. Of two with the same
    /// name, nobody reaches the second one.
    pub fn named(
        projects: impl IntoIterator<Item = (ProjectName, History, Option<Vec<Token>>)>,
    ) -> Self {
        let projects: Vec<_> = projects.into_iter().collect();
        let of = projects.len();
        let all = projects.into_iter().map(|(ProjectName(name), mut history, tokens)| {
            history.share(of);
            let project = Project::new(name, history);
            if let Some(tokens) = tokens {
                project.learn(&tokens);
            }
            Arc::new(project)
        });
        Self { all: all.collect(), are_named: true }
    }

    /// Settles whether the only history has a token for reading.
    pub(super) fn settle(&self, has_readers: bool) {
        if let (false, [only]) = (self.are_named, &self.all[..]) {
            let _ = only.has_readers.set(has_readers);
        }
    }

    pub(super) fn all(&self) -> &[Arc<Project>] {
        &self.all
    }

    pub(super) fn are_named(&self) -> bool {
        self.are_named
    }

    /// Returns which project a path is of, and what it is there; `None` for the top of a server with several.
    pub(super) fn find<'a>(&self, path: &'a [String]) -> (Option<usize>, &'a [String]) {
        if !self.are_named {
            return (Some(0), path);
        }
        let at = path.first().and_then(|first| self.all.iter().position(|one| one.name == *first));
        (at, if at.is_some() { &path[1..] } else { path })
    }

    /// Says whether somebody may read one of them without a token.
    pub(super) fn is_open(&self, access: &Access) -> bool {
        self.all
            .iter()
            .any(|one| one.has_readers.get().is_none_or(|has_readers| !access.guards(*has_readers)))
    }
}

impl Project {
    fn new(name: String, history: History) -> Self {
        Self {
            name,
            history,
            has_readers: OnceLock::new(),
            tokens: tokio::sync::Mutex::default(),
            reading: Arc::new(Semaphore::new(1)),
            turns: Arc::new(Semaphore::new(QUERIES)),
            records: Arc::new(Semaphore::new(1)),
        }
    }

    fn learn(&self, tokens: &[Token]) {
        let _ = self.has_readers.set(tokens.iter().any(|one| one.permits(Right::Read)));
    }

    /// Returns who asks, if they may ask for anything here; or why nobody knows.
    pub(super) async fn caller(
        self: &Arc<Self>,
        access: &Access,
        headers: &HeaderMap,
    ) -> Result<Option<Caller>, WebMessage> {
        let gives_token = headers.contains_key(AUTHORIZATION);
        let of_server = access.of_server(headers);
        if of_server.is_some() || (!gives_token && access.guards(false)) {
            return Ok(of_server);
        }
        let is_new = self.has_readers.get().is_none();
        let known =
            if gives_token || is_new { self.known_tokens().await } else { Some(Arc::default()) };
        match known.zip(self.has_readers.get()) {
            Some((known, has_readers)) => Ok(access.of_history(headers, &known, *has_readers)),
            // Nobody reads what may be for others, and no token is wrong.
            None => Err(WebMessage::NoDatabase("its tokens could not be read yet".to_owned())),
        }
    }

    /// Finds what most pages need, before anybody asks. If that is not possible now, the first request tries again.
    pub(super) fn look(&self) {
        let _ = self.history.reading(|store| Findings::of(&self.history, store));
    }

    /// Returns its tokens: as they were a moment ago, so that those who guess do not keep the database busy; `None` if they
    /// could never be read.
    async fn known_tokens(self: &Arc<Self>) -> Option<Arc<[Token]>> {
        let mut known = self.tokens.lock().await;
        if known.asked.is_none_or(|asked| asked.elapsed() >= FRESH) {
            if let Ok(alone) = Arc::clone(&self.reading).try_acquire_owned() {
                let project = Arc::clone(self);
                let read = spawn_blocking(move || {
                    let _alone = alone;
                    project.history.reading(Store::tokens)
                });
                // While the history cannot be read, those that were there count on.
                if let Ok(Ok(Ok(tokens))) = timeout(WAIT, read).await {
                    self.learn(&tokens);
                    known.read = Some(tokens.into());
                }
            }
            known.asked = Some(Instant::now());
        }
        known.read.clone()
    }

    /// Asks the history; `None` if it does not answer soon.
    async fn ask<T: Send + 'static>(self: Arc<Self>, question: Question<T>) -> Option<T> {
        let asked = async move {
            let turn = Arc::clone(&self.turns).acquire_owned().await.ok()?;
            let work = spawn_blocking(move || {
                let _turn = turn;
                self.history.reading(|store| question(&self.history, store))
            });
            work.await.ok()?.ok()
        };
        timeout(WAIT, asked).await.ok().flatten()
    }
}

/// What several histories are asked.
type Question<T> = fn(&History, &mut Store) -> Result<T, StoreError>;

/// Asks several projects the same at the same time.
pub(super) async fn ask_each<T: Send + 'static>(
    projects: &[Arc<Project>],
    question: Question<T>,
) -> Vec<Option<T>> {
    let ask = |one: &Arc<Project>| tokio::spawn(Arc::clone(one).ask(question));
    all(projects.iter().map(ask)).await.into_iter().map(Option::flatten).collect()
}

/// Returns who asks at each of several projects, as [`Project::caller`] does.
pub(super) async fn callers(
    projects: &[Arc<Project>],
    access: &Arc<Access>,
    headers: &HeaderMap,
) -> Vec<Result<Option<Caller>, WebMessage>> {
    let ask = |one: &Arc<Project>| {
        let (one, access, headers) = (Arc::clone(one), Arc::clone(access), headers.clone());
        tokio::spawn(async move { one.caller(&access, &headers).await })
    };
    let asked = all(projects.iter().map(ask)).await;
    asked.into_iter().map(|one| one.unwrap_or(Err(WebMessage::Failed))).collect()
}

/// Waits for tasks that run at the same time.
async fn all<T>(tasks: impl Iterator<Item = tokio::task::JoinHandle<T>>) -> Vec<Option<T>> {
    // All of them begin before the first one is waited for.
    let tasks: Vec<_> = tasks.collect();
    let mut done = Vec::new();
    for task in tasks {
        done.push(task.await.ok());
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_an_address_and_no_other_address_begins_with_it() {
        for name in ["a", "Becalm-2", "x.y_z", "0", &"x".repeat(63)] {
            assert!(name.parse::<ProjectName>().is_ok(), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            ".git",
            "-a",
            "_a",
            "a/b",
            "a b",
            "a%2fb",
            "ä",
            "a?b",
            "a#",
            "a\n",
            "<b>",
            &"x".repeat(64),
        ] {
            let unusual = Err(ProjectNameError::Unusual { most: 63 });
            assert_eq!(name.parse::<ProjectName>(), unusual, "{name}");
        }
        for name in ["api", "health", "metrics", "feed.atom", "badge.svg", "changes", "icon.svg"] {
            assert_eq!(name.parse::<ProjectName>(), Err(ProjectNameError::Reserved), "{name}");
        }
    }
}
