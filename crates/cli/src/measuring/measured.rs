//! What a session has measured, wherever it ran.

use becalm_model::Record;
use becalm_session::SessionLog;

use crate::error::CommandError;

/// What a session has measured, wherever it ran, before anything of it is saved.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Everything that was measured.
    pub(crate) record: Record,
    /// What ended it early.
    pub(crate) failure: Option<CommandError>,
    /// The name of the subject whose program caused that, if one did.
    pub(crate) at_fault: Option<String>,
    /// Failures of subjects without which the session continued.
    pub(crate) left_out: Vec<String>,
    /// Its log, if there is one here.
    pub(crate) log: Option<SessionLog>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// Whether a setting of the machine could not be put back; this was reported when it happened.
    pub(crate) is_machine_changed: bool,
}
