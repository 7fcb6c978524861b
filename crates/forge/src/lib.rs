//! What becalm says to GitHub, GitLab and webhooks about a job, and what it learns from them.
//!
//! Holds the place of a job ([`Surroundings`], from its variables and its event), comments and statuses
//! ([`post`]), messages ([`notify`]), records for a [`Dashboard`], the files that a service reads after a job ([`write_summary`],
//! [`write_outputs`]), and what keeps secrets out of all of them ([`Secrets`], [`without_commands`]).
//!
//! It is given a finished report, so it knows neither sessions nor histories: it may use `report`, which
//! words what is posted, and `model`. Variables come as a closure, and errors are typed; what to advise
//! about them is up to the caller. Start reading at `surroundings.rs` for the way in and at `service.rs`
//! for the way out; `api.rs` is every request.

mod api;
mod dashboard;
mod error;
mod files;
mod github;
mod gitlab;
mod kind;
mod notify;
mod secrets;
mod service;
mod surroundings;

pub use api::{ApiError, Call};
pub use dashboard::{Dashboard, RecordPlace};
pub use error::{Channel, ForgeError, NotifyError, ServiceCall, SurroundingsError};
pub use files::{without_commands, write_outputs, write_summary};
pub use github::GitHub;
pub use gitlab::GitLab;
pub use kind::ServiceKind;
pub use notify::notify;
pub use secrets::{Secret, Secrets};
pub use service::{CommentOutcome, CommentPolicy, Posted, Service, post};
pub use surroundings::{Origin, Surroundings};
