//! Who called becalm: the signals by which it may be stopped, and the user behind sudo.

use becalm_runner::{Interrupt, User, invoking_user};

use crate::error::CommandError;

/// Takes in hand the signals that ask becalm to stop.
pub(crate) fn interrupt() -> Result<&'static Interrupt, CommandError> {
    Interrupt::install()
        .map_err(|error| CommandError::measure(format!("cannot install a signal handler: {error}")))
}

/// Returns who called sudo, if becalm was called so.
pub(crate) fn sudo_user() -> Option<User> {
    let variable = |name| std::env::var_os(name);
    invoking_user(variable("SUDO_UID").as_deref(), variable("SUDO_GID").as_deref())
}
