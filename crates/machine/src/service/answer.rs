//! What the service answers.

use becalm_model::wire::Holder;
use serde::{Deserialize, Serialize};

use crate::tune::{JournalFileError, Recovered, TuneError};

/// What is said to a caller until it has the machine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Who has the machine.
    Status(Status),
    /// The caller is in the queue.
    Queued(Queued),
    /// There was nothing to queue for, or the time for that is over: somebody else has the machine.
    Held(Option<Holder>),
    /// The caller and the service are not of one version.
    OtherVersion(String),
    /// This user, or all together, have too many connections.
    TooMany,
    /// From the steward, which is there now: what came of taking the lock.
    Begun(Result<Recovered, TuneError>),
}

/// What a steward answers to a request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply<T> {
    /// It did.
    Answer(T),
    /// The time is up. It puts the machine back now: whoever sees a setting change can have heard why.
    TimeUp {
        /// After this many seconds.
        seconds: u64,
    },
    /// It has put the machine back after that. Nothing comes afterwards.
    PutBack(Result<Recovered, JournalFileError>),
}

/// A machine that was put back before the session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeUp {
    /// The limit in seconds; `None` where the steward is gone and nobody says why.
    pub seconds: Option<u64>,
}

/// Where somebody stands in the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    /// 1 for the next one.
    pub place: usize,
    /// Who has the machine now.
    pub holder: Option<Held>,
}

/// Who has the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Which user, where the service has given it.
    pub uid: Option<u32>,
    /// Which process.
    pub pid: u32,
    /// Its command, without arguments.
    pub command: String,
    /// For how many seconds it has been so, where the service has given it.
    pub held: Option<u64>,
    /// After how many seconds the service takes it back.
    pub left: Option<u64>,
}

/// Somebody in the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Which user.
    pub uid: u32,
    /// Which process.
    pub pid: u32,
    /// Its command, without arguments.
    pub command: String,
    /// For how many seconds it has been waiting.
    pub waited: u64,
}

/// What the service says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Who has the machine, through the service or as root.
    pub holder: Option<Held>,
    /// Who waits, the next one first.
    pub waiting: Vec<Waiting>,
    /// Names of the profiles that users may have.
    pub profiles: Vec<String>,
    /// Most CPUs that a user may take away from everybody else.
    pub isolated_cpus: usize,
    /// For how many seconds a user may have the machine.
    pub limit: u64,
}
