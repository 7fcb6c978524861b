//! What the commands share that change the machine.

mod recovered;
mod text;
mod verify;

pub(crate) use recovered::{
    ended_by, put_back_leftovers, refused, report, say_leftovers, unrestored, with_leftovers,
};
pub(crate) use text::{plan_text, settings};
pub(crate) use verify::{spins, verdict};
