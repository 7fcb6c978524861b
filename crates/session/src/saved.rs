//! Records that becalm saved: a whole one, or the log of a session.

use becalm_model::Record;
use becalm_model::wire::{self, LogError};

/// Reads a document of becalm or the log of a session; says whether it is a log.
pub fn own_record(text: &str) -> Result<(Record, bool), LogError> {
    if text.trim_start().starts_with("{\"log\"") {
        wire::read_log(text).map(|record| (record, true))
    } else {
        Ok((wire::read_document(text)?, false))
    }
}
