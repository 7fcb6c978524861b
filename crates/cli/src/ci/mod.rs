//! What `becalm ci` does beside measuring: it learns from the environment where it runs, and tells GitHub,
//! GitLab and chats what came out.

mod api;
mod base;
mod event;
mod files;
mod github;
mod gitlab;
mod notify;
mod reported;
mod secrets;
mod service;
mod words;

pub(crate) use api::Secret;
pub(crate) use base::find_base;
pub(crate) use event::{Origin, Surroundings};
pub(crate) use files::{junit, write_outputs, write_summary};
pub(crate) use notify::notify;
pub(crate) use reported::{cut_off_sides, machine_words, report_of};
pub(crate) use secrets::Secrets;
pub(crate) use service::{When, post};
pub(crate) use words::{reproduce, without_commands, without_secrets};
