//! With whose rights a command works where becalm was called as root by sudo, doas or pkexec.
//!
//! Files that a user or a repository names are the user's business: no command opens one as root.

use std::path::Path;

use becalm_machine::{Caller, CallerError};

use crate::error::CommandError;

/// What a command needs of root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Nothing: it becomes the user at once, and for good.
    User,
    /// The class, niceness and CPUs of a process that it becomes.
    Placement,
    /// Changes of the machine, which a steward makes; all else it does as the user.
    Steward,
    /// It looks at the machine or changes it, and opens no file that anybody names.
    Root,
}

/// Fails where becalm's own file is root's for whoever starts it: no flag and no command would make that safe.
pub(crate) fn refuse_lent_root() -> Result<(), CommandError> {
    match Caller::of_this_process() {
        Err(error @ CallerError::SetUserId(_)) => {
            Err(CommandError::measure(error).hint("`chmod u-s` its file, and call it by sudo"))
        }
        _ => Ok(()),
    }
}

impl Rights {
    /// Those of a command that looks at a machine: one in a folder that somebody names is looked at as the user.
    pub(crate) fn to_look_at(root: &Path) -> Self {
        if root == Path::new("/") { Self::Root } else { Self::User }
    }

    /// Takes them for this process, which has one thread yet; `keeps_privileges` where what it starts may get further ones
    /// by the bits of a file. Where it was not called as root by a user, everything stays as it is.
    pub(crate) fn take(self, keeps_privileges: bool) -> Result<(), CommandError> {
        let unknown = |error: CallerError| {
            CommandError::measure(error)
                .hint("run it as that user, or with --keep-root to do everything, and run the subjects, as root")
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
                "becalm was called as root by user {} and cannot become that user: {error}",
                caller.identity.uid
            ))
            .hint("run it as that user, without what makes it root")
        })
    }
}
