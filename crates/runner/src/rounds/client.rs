//! Servers as subjects: what is done with one while it runs, in place of waiting for its end.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use becalm_model::load::{Distrust, Failed, KeepAwake, RunLoad};
use becalm_model::{Metric, Outcome};

use super::values::Values;
use crate::Interrupt;

/// Sends requests to servers. The runner starts and stops these, and knows nothing of requests.
pub trait Client: fmt::Debug {
    /// Returns the metrics of each run.
    fn metrics(&self) -> &[Metric];

    /// Asks a server once, and waits at most so long for the right answer.
    ///
    /// # Errors
    ///
    /// With the words for what came instead.
    fn ask(&self, url: &str, patience: Duration, interrupt: &Interrupt) -> Result<(), String>;

    /// Gets another URL than that of the load (`of_load`) once, and waits at most so long for an answer without an error.
    ///
    /// # Errors
    ///
    /// With the words for what came instead.
    fn get(
        &self,
        url: &str,
        of_load: &str,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), String>;

    /// Says whether somebody takes connections at the place of a URL.
    fn is_taken(&self, url: &str) -> bool;

    /// Sends requests to a server before those that count. `goes_on` is asked twice in a second and ends it.
    ///
    /// # Errors
    ///
    /// If nothing can be sent, in words.
    fn warm_up(&self, call: Call<'_>) -> Result<(), String>;

    /// Sends the requests that count.
    ///
    /// # Errors
    ///
    /// If nothing can be sent, in words.
    fn load(&self, call: Call<'_>) -> Result<Sent, String>;
}

/// What a [`Client`] is to load, and until when.
pub struct Call<'a> {
    /// Where the requests go.
    pub url: &'a str,
    /// What the due times follow from.
    pub seed: u64,
    /// Whether the server has CPUs that the generator does not use.
    pub own_cpus: bool,
    /// Ends the load at once.
    pub interrupt: &'a Interrupt,
    /// Says whether there still is somebody to load.
    pub goes_on: &'a mut dyn FnMut() -> bool,
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("url", &self.url).field("seed", &self.seed).finish()
    }
}

/// What came of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// Everything that the record keeps.
    pub load: RunLoad,
    /// The values of [`Client::metrics`], without what the server used.
    pub values: Values,
    /// Why it cannot be believed; empty if it can.
    pub distrust: Vec<Distrust>,
}

/// What is done with a subject that is a server.
#[derive(Debug, Clone)]
pub struct Serving {
    /// What sends the requests.
    pub client: Rc<dyn Client>,
    /// Where they go, with [`PORT`] in place of the port, if becalm chooses one.
    pub url: String,
    /// Who starts the server.
    pub start: ServerStart,
    /// Whether idle CPUs are kept awake meanwhile.
    pub keep_awake: KeepAwake,
}

/// In commands, URLs and variables: the port that becalm has chosen.
pub use becalm_model::load::PORT;

/// Who starts a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerStart {
    /// becalm, for each run.
    EachRun(Ready),
    /// becalm, once for the session.
    Once(Ready),
    /// Somebody else: the subject is a URL.
    IsThere,
}

/// What shows that a server is ready. Texts may contain [`PORT`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// A GET of this URL has an answer without an error; `None`: a request of the load has the right one.
    Answers(Option<String>),
    /// Somebody takes connections at this port of the loopback.
    Listens(String),
    /// A line that it prints contains this.
    Prints(String),
}

/// What is wrong with a server.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ServerError {
    /// No port is free.
    #[error("has no port to listen on: {0}")]
    NoPort(String),
    /// Somebody else listens where it should.
    #[error("cannot be started: something else already listens at {url}")]
    Taken {
        /// Where.
        url: String,
    },
    /// It ended before it was ready.
    #[error("{outcome} before it was ready")]
    EndedBefore {
        /// How.
        outcome: Outcome,
    },
    /// It did not become ready.
    #[error("was not ready after {} s: {why}", patience.as_secs())]
    NotReady {
        /// How long it was waited for.
        patience: Duration,
        /// What was seen instead.
        why: String,
    },
    /// It ended while requests were sent to it.
    #[error("{outcome} while requests were sent to it")]
    EndedUnderLoad {
        /// How.
        outcome: Outcome,
    },
    /// Nothing was answered.
    #[error("gave none of {requests} requests the expected answer: {why}")]
    NoAnswer {
        /// Requests that were due.
        requests: u64,
        /// How most of them failed.
        why: String,
    },
    /// Something that it started goes on.
    #[error("ended, but something that it started still listens at {url}")]
    StillThere {
        /// Where.
        url: String,
    },
    /// The generator could not be started.
    #[error("cannot receive the load: {0}")]
    NotLoaded(String),
    /// The generator was not to be believed, again and again.
    #[error(
        "cannot be judged, because the load was invalid in {invalid} of {all} runs: {}{}",
        reason.in_words(),
        most_failed(failed, *scheduled)
    )]
    NotBelieved {
        /// Runs whose load was invalid.
        invalid: u32,
        /// All of them.
        all: u32,
        /// Why the last one was.
        reason: Distrust,
        /// Requests of the last one.
        scheduled: u64,
        /// What failed of them, the most frequent first.
        failed: Vec<Failed>,
    },
}

/// Says how most requests failed, if most of them did: then the server is why the generator could not keep up.
fn most_failed(failed: &[Failed], scheduled: u64) -> String {
    match failed.first() {
        Some(one) if is_most(failed, scheduled) => {
            format!("; of its {scheduled} requests, {} failed: {}", one.count, one.in_words())
        }
        _ => String::new(),
    }
}

fn is_most(failed: &[Failed], scheduled: u64) -> bool {
    failed.first().is_some_and(|one| 2 * one.count > scheduled)
}

impl ServerError {
    /// Says whether the generator could not keep up because the server answered hardly anything.
    pub fn is_of_silence(&self) -> bool {
        matches!(self, Self::NotBelieved { failed, scheduled, .. } if is_most(failed, *scheduled))
    }

    /// Says whether the server is to blame.
    pub fn is_of_server(&self) -> bool {
        match self {
            Self::EndedBefore { .. }
            | Self::NotReady { .. }
            | Self::EndedUnderLoad { .. }
            | Self::NoAnswer { .. }
            | Self::StillThere { .. } => true,
            Self::NoPort(_)
            | Self::Taken { .. }
            | Self::NotLoaded(_)
            | Self::NotBelieved { .. } => false,
        }
    }
}
