//! What users ask the service for.
//!
//! Both ends need not be the same program: one may have been replaced since. So each call names its version first,
//! and the service answers no other. No call has a path: a test of the sources sees to that.

use serde::{Deserialize, Serialize};

use crate::tune::Wait;

/// The version that both ends have to be of.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The first line of a connection.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Call {
    /// Of the caller.
    pub(super) version: String,
    /// What it wants.
    pub(super) wish: Wish,
}

/// What a caller wants.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Wish {
    /// To know who has the machine.
    Status,
    /// To have the machine.
    Machine {
        /// For what, in words.
        command: String,
        /// How long to queue.
        wait: Wait,
    },
}

/// Why the service does not serve. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ServiceRefusal {
    /// It is another becalm.
    #[error(
        "the service of this machine is becalm {0}, but this is becalm {VERSION}; `systemctl \
         restart becalm.service` updates it"
    )]
    OtherVersion(String),
    /// Too much is asked for.
    #[error("the service of this machine has too many callers")]
    TooMany,
}
