//! The steward: a process beside becalm that holds root, where becalm itself acts as the user who called it.
//!
//! It is split off before the first thread is started or the first file opened, and answers requests (`request.rs`) over a
//! socket that nothing else has. A request says what is to be done with the machine in words of the machine: which
//! CPUs, which knobs. None has a path, and none is carried out on a file that a user or a repository names. When
//! becalm ends, however that happens, the steward puts the machine back and ends too; when the steward is killed, the
//! guardian does.

mod client;
mod guest;
mod homes;
mod lines;
mod request;
mod serve;

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

use becalm_kernel::capability::Capability;
use becalm_kernel::{process, user};
use becalm_model::ProcessIdentity;

use crate::SysRoot;
use crate::tune::task::this_process;

pub(crate) use client::Steward;
pub(crate) use guest::{Guest, split_off};
pub(crate) use lines::Lines;
pub use request::IsolationRequest;
pub(crate) use request::{KnobRequest, Request};
pub(crate) use serve::for_people;

/// The steward is gone, or does not make sense.
#[derive(Debug, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error(
    "the steward, becalm's process with root's rights, does not answer: {why}; it or its guardian \
     puts the changes back"
)]
pub struct StewardLost {
    /// What came instead of an answer.
    pub why: String,
}

/// Rights of root that a process which measures keeps.
pub(crate) const TO_MEASURE: [Capability; 3] =
    [Capability::LockMemory, Capability::Schedule, Capability::Observe];

/// The way to the steward of this process. It belongs to the process, as its user does.
static LINK: OnceLock<Mutex<Lines>> = OnceLock::new();

/// Whether this process has become the user who called it.
static ACTING: AtomicBool = AtomicBool::new(false);

/// In the steward: which process it works for.
static SERVED: OnceLock<ProcessIdentity> = OnceLock::new();

/// Keeps in mind, in the steward, which process it works for.
fn work_for(process: ProcessIdentity) {
    let _ = SERVED.set(process);
}

/// A user as the kernel takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Every group, the one above included.
    pub groups: Vec<u32>,
}

impl Identity {
    /// Makes this process, which has one thread yet, this user for good. It keeps these rights of root, none of which
    /// leads past the permissions of a file.
    pub(crate) fn assume(&self, kept: &[Capability]) -> io::Result<()> {
        user::become_user(self.uid, self.gid, &self.groups, kept)?;
        ACTING.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The same with [`TO_MEASURE`], after splitting off a steward, which every later request of this process about the live
    /// machine goes to.
    pub(crate) fn assume_beside_steward(&self) -> io::Result<()> {
        let (ours, theirs) = UnixStream::pair()?;
        // Looked up while it surely lives: a number can be somebody else's later.
        let becalm = this_process();
        process::split(theirs, |socket| {
            work_for(becalm);
            serve::serve(socket);
        })?;
        self.assume(&TO_MEASURE)?;
        let _ = LINK.set(Mutex::new(Lines::new(ours)));
        Ok(())
    }
}

/// Says whether this process was called as root, and acts as the user who called it.
pub fn acts_for_caller() -> bool {
    ACTING.load(Ordering::Relaxed)
}

/// Says whether this process may change the machine: as root, or through a steward.
pub fn may_act_as_root() -> bool {
    acts_for_caller() || becalm_kernel::user::effective_uid() == 0
}

/// Returns which process this one is the steward of.
pub(crate) fn served() -> Option<ProcessIdentity> {
    SERVED.get().copied()
}

/// Says whether there is a steward for this machine.
pub(crate) fn is_there(root: &SysRoot) -> bool {
    root.is_live() && LINK.get().is_some()
}

/// Returns the way to the steward, where there is one for this machine.
fn link(root: &SysRoot) -> Option<MutexGuard<'static, Lines>> {
    if !root.is_live() {
        return None;
    }
    // Who panicked with it has left no half of a message that a later one could not tell from its own answer.
    Some(LINK.get()?.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Errors of the system on their way between two processes: the number, where there is one, or the text.
pub(crate) mod failure {
    use std::io;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Failure {
        Number(i32),
        Text(String),
    }

    pub(crate) fn serialize<S: Serializer>(error: &io::Error, to: S) -> Result<S::Ok, S::Error> {
        let failure = match error.raw_os_error() {
            Some(number) => Failure::Number(number),
            None => Failure::Text(error.to_string()),
        };
        failure.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<io::Error, D::Error> {
        Ok(match Failure::deserialize(from)? {
            Failure::Number(number) => io::Error::from_raw_os_error(number),
            Failure::Text(text) => io::Error::other(text),
        })
    }

    /// An error of the system as a value of its own.
    #[derive(Serialize, Deserialize)]
    pub(crate) struct Of(#[serde(with = "self")] pub(crate) io::Error);
}
