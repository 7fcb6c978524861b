//! The history of measurements, in SQLite or PostgreSQL.
//!
//! [`open`] opens a [`HistoryLocation`]; [`Store`] is what can be done with it. Both databases have the same
//! tables and the same statements; what differs is in `sqlite` and `postgres`.
//!
//! It may use `model` alone. Start reading in `history/mod.rs`; what is done with a history is a file beside it
//! each, and tables and columns stand in `migrations/`.

mod content;
mod database;
mod error;
mod facts;
mod filter;
mod found;
mod gathered;
mod hash;
mod history;
mod new_entry;
mod packed;
mod place;
mod postgres;
mod sqlite;
mod token;
mod value;

pub use content::content;
pub use error::StoreError;
pub use facts::{ANNOTATE, SETTINGS, SPLIT, fact, facts, fingerprint};
pub use filter::{EntryFilter, SeriesFilter};
pub use found::{
    Decided, DetectorState, EntryValue, Found, Group, Moment, Moved, Prune, Seen, Snapshot, Stamp,
};
pub use gathered::GatheredPoints;
pub use history::{Store, open};
pub use new_entry::{Added, NewEntry, NewPoint, Origin};
pub use place::{Access, HistoryLocation};
pub use token::{RIGHTS, Right, RightError, Token};
