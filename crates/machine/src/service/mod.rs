//! The service: root that an administrator has put there, through which users ask for what the administrator allows.
//!
//! It is off unless somebody installs it. Users connect to a socket whose group says who may, and queue; one after the
//! other gets a steward (`steward/guest.rs`), which carries out the same requests as under sudo as far as the
//! [`Policy`] goes, for a limited time. The machine is put back when the user's process, the steward or the service
//! ends, however that happens.

mod answer;
mod call;
mod client;
mod install;
mod policy;
mod serve;
mod trust;

pub use answer::{Held, Queued, Status, TimeUp, Waiting};
pub use call::ServiceRefusal;
pub use client::{StatusError, status};
pub use install::{InstallError, Installed, install, remove};
pub use policy::{NotAllowed, Policy};
pub use serve::{ServeError, Server, listen};
pub use trust::{Untrusted, of_root_alone};

pub(crate) use answer::{Answer, Reply};
pub(crate) use client::{Hired, gate, is_there};

use crate::accounts;

/// Returns the number of a group, given as one or by name.
pub fn group(name: &str) -> Option<u32> {
    name.parse().ok().or_else(|| accounts::group_named(name))
}

/// Returns the login name of a user.
pub fn user_name(uid: u32) -> Option<String> {
    let name = accounts::account_of(uid)?.name;
    name.into_string().ok()
}

/// Where it listens.
pub const SOCKET: &str = "/run/becalm/service.sock";
