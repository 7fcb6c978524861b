//! What the commands that change the machine share.

mod flags;
mod profile;
mod session;
mod text;

pub(crate) use flags::{RequestFlags, WaitFlag, wait};
pub(crate) use session::{Tuned, put_back_leftovers, report};
pub(crate) use text::plan_text;
