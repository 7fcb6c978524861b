//! Whose rights a command uses if becalm was called as root by sudo, doas or pkexec.
//!
//! Files that a user or a repository names are the user's business: no command opens one as root.

use std::path::Path;

use becalm_machine::{Caller, CallerError};

use crate::error::CommandError;

/// What a command needs of root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Nothing: it becomes the user immediately and permanently.
    User,
    /// The class, niceness and CPUs of a process that it becomes.
    Placement,
    /// Changes of the machine, which a steward makes; it does everything else as the user.
    Steward,
    /// It looks at the machine or changes it, and opens no file that anybody names.
    Root,
}

/// Fails if becalm's own file is setuid root: no flag and no command would make that safe.
pub(crate) fn refuse_lent_root() -> Result<(), CommandError> {
    match Caller::of_this_process() {
        Err(error @ CallerError::SetUserId(_)) => Err(CommandError::measure(error)
            .hint("run `chmod u-s` on its file, and call becalm with sudo")),
        _ => Ok(()),
    }
}

/// Says whether this process is root for a user, who has called it by sudo or the like.
pub(crate) fn is_root_lent() -> bool {
    !matches!(Caller::of_this_process(), Ok(None))
}

impl Rights {
    /// Those of a command that looks at a machine: one in a folder that somebody names is looked at as the user.
    pub(crate) fn to_look_at(root: &Path) -> Self {
        if root == Path::new("/") { Self::Root } else { Self::User }
    }

    /// Those of a command that brings or wants files, carried out for another machine: root receives, reads and writes none.
    pub(crate) fn with_files(self) -> Self {
        match self {
            Self::Root => Self::Placement,
            rights => rights,
        }
    }

    /// Takes them for this process, which has one thread yet; `keeps_privileges` where what it starts may get further ones
    /// by the bits of a file. Where it was not called as root by a user, everything stays as it is.
    pub(crate) fn take(self, keeps_privileges: bool) -> Result<(), CommandError> {
        let unknown = |error: CallerError| {
            CommandError::measure(error).hint(
                "run becalm as that user, or add --keep-root to do everything, and run the \
                     subjects, as root",
            )
        };
        let Some(caller) = Caller::of_this_process().map_err(unknown)? else { return Ok(()) };
        let taken = match self {
            Self::User => caller.assume(),
            Self::Placement => caller.assume_to_measure(),
            Self::Steward => caller.assume_beside_steward(),
            Self::Root => {
                caller.forget_places();
                Ok(())
            }
        };
        let forgone = || match self {
            Self::Root => Ok(()),
            _ if keeps_privileges => Ok(()),
            _ => Caller::forgo_new_privileges(),
        };
        taken.and_then(|()| forgone()).map_err(|error| {
            CommandError::measure(format!(
                "becalm was called as root by user {} and cannot switch to that user: {error}",
                caller.identity.uid
            ))
            .hint("run becalm as that user, without sudo or the like")
        })
    }
}
