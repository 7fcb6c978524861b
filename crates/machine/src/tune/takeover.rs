//! Restoring the machine from outside: what `becalm restore` does.

use std::time::Duration;

use becalm_kernel::ending::RELIEVED;
use becalm_kernel::{errno, signal};

use super::lock::{LockError, MachineLock, Wait};
use super::task::{is_alive, pid_namespace};
use super::{Foreign, JournalFileError, Recovered, journal, recover};
use crate::SysRoot;

/// How long a guardian may take to give the machine free, or to finish what it is restoring.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why the machine cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Somebody is using the tuned machine.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalFileError),
    /// The guardian cannot be told to give the machine free.
    #[error(
        "cannot tell the guardian (process {pid}) to release the machine: {source}; the machine \
         is still tuned"
    )]
    Guardian {
        /// Which process.
        pid: u32,
        /// Why.
        source: std::io::Error,
    },
}

/// Restores the machine, for `command`: at once where the tuning process is dead, and taking over
/// from a guardian that keeps it. A living owner keeps its machine: it restores when it ends.
pub fn take_over(
    root: &SysRoot,
    command: &str,
    foreign: Foreign,
    wait: Wait,
    stop: &dyn Fn() -> bool,
) -> Result<Recovered, RestoreError> {
    let first = MachineLock::take(root, command, Wait::No, stop);
    let _lock = match first {
        Ok(lock) => lock,
        Err(LockError::Held(_)) if relieve_guardian(root)? => {
            MachineLock::take(root, command, Wait::For(PATIENCE), stop)?
        }
        Err(LockError::Held(_)) => MachineLock::take(root, command, wait, stop)?,
        Err(error) => return Err(error.into()),
    };
    Ok(recover(root, foreign)?)
}

/// Tells a guardian whose owner is dead to give the machine free; says whether there is one. A journal that
/// cannot be used names none: whoever holds the lock is told by the lock then.
fn relieve_guardian(root: &SysRoot) -> Result<bool, RestoreError> {
    let Ok(Some(journal)) = journal::load_readable(root) else { return Ok(false) };
    let Some(guardian) = journal.guardian else { return Ok(false) };
    let namespace = journal.header.pid_namespace.as_deref();
    // In another namespace the number means another process.
    let is_another = namespace.is_some() && namespace != pid_namespace("self").as_deref();
    let here = SysRoot::default();
    if is_another || is_alive(&here, journal.header.owner) || !is_alive(&here, guardian) {
        return Ok(false);
    }
    // One that somebody has stopped hears of it only when it goes on.
    let relieved = signal::send(guardian.pid, RELIEVED)
        .and_then(|()| signal::send(guardian.pid, signal::SIGCONT));
    match relieved {
        Ok(()) => Ok(true),
        // It ended meanwhile, and with it its hold on the lock.
        Err(error) if error.raw_os_error() == Some(errno::ESRCH) => Ok(true),
        Err(source) => Err(RestoreError::Guardian { pid: guardian.pid, source }),
    }
}
