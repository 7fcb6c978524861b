//! Who called becalm.

use becalm_runner::Interrupt;

pub(crate) use becalm_session::{subject_user, sudo_user};

use crate::error::CommandError;

/// Takes in hand the signals that ask becalm to stop.
pub(crate) fn interrupt() -> Result<&'static Interrupt, CommandError> {
    Ok(Interrupt::install().map_err(becalm_session::Error::Signals)?)
}
