//! The pages of a history, as a server and as files.
//!
//! `queries/` makes the documents that pages show, of a [`History`], and `kept.rs` has points in memory for them; `report::web` makes pages of documents, and has all
//! words. `server/` answers requests: `target.rs` says which address is what, `access.rs` who may ask, `connection.rs` what a
//! client may take. `publish.rs` makes the same pages as files.
//!
//! It may use `series`, `report`, `tls`, `stats` and `model`. It reads a history and writes nothing but decisions; it opens no file
//! beside the database, and prints nothing. Start reading in `server/routes.rs`.

mod history;
mod kept;
mod publish;
mod queries;
mod server;

pub use becalm_report::web::CommitPages;
pub use becalm_tls::TlsError;
pub use history::{Commits, CommitsOf, History, RecordPage};
pub use publish::{Publication, PublishError, Published, publish};
pub use server::{
    Access, Answered, Encryption, EncryptionError, Identity, Limits, Log, NewToken, ProjectName,
    ProjectNameError, Projects, ReadIdentity, Server, ServerOptions, TokenError, Unconnected,
};
