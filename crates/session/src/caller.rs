//! Who called becalm: the user behind sudo, and where what is kept for that user lies.

use std::ffi::OsString;

use becalm_runner::{User, invoking_user};

/// Returns who called sudo, if becalm was called so.
pub fn sudo_user() -> Option<User> {
    let variable = |name| std::env::var_os(name);
    invoking_user(variable("SUDO_UID").as_deref(), variable("SUDO_GID").as_deref())
}

/// Returns as whom subjects and their builds run: who called sudo, if becalm was called so and is not to keep root.
pub fn subject_user(keep_root: bool) -> Option<User> {
    if keep_root { None } else { sudo_user() }
}

/// Returns the variables that programs of this user see, or becalm's own.
pub fn variables(user: Option<&User>) -> Vec<(OsString, OsString)> {
    match user {
        Some(user) => user.environment(std::env::vars_os()),
        None => std::env::vars_os().collect(),
    }
}
