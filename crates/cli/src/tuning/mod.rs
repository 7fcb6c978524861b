//! What the commands share that change the machine.

mod recovered;
mod text;
mod verify;

pub(crate) use recovered::{put_back_leftovers, report, say_leftovers, with_leftovers};
pub(crate) use text::{place_in_queue, plan_text, settings};
pub(crate) use verify::{spins, verdict};
