//! What the commands that change the machine share.

mod flags;
mod profile;
mod session;
mod text;
mod verify;

pub(crate) use flags::{ProfileFlag, RequestFlags, WaitFlag, parse_profile, wait};
pub(crate) use session::{
    Tuned, ended_by, guardian, put_back_leftovers, refused, report, unrestored, with_leftovers,
};
pub(crate) use text::{failures, plan_text, settings, unmoved};
pub(crate) use verify::{spins, verdict};
