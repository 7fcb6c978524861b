//! What all measuring commands share: from a session to its files, texts and exit code.

mod export;
mod finished;
mod listener;
mod measured;
mod progress;
mod resumed;
mod traced;

pub(crate) use export::{check_exports, export, remember};
pub(crate) use finished::{Finished, conduct};
pub(crate) use listener::{interrupt, with_listener};
pub(crate) use measured::Measured;
pub(crate) use resumed::{Resumed, begun, merged};
pub(crate) use traced::{text as traced_text, with_notes as with_traced_notes};
