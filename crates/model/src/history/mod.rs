//! Measurements that were kept over time: entries, series, points and changes of level.
//!
//! An [`Entry`] is one record that was put into a store, with the commit that it is of. Each of its
//! metrics adds one [`Point`] to a [`Series`].

mod change;
mod entry;
mod pruned;
mod series;

pub use change::{ChangeId, ChangeIdError, ChangeState, Decision, FirstSeen, Review, StoredChange};
pub use entry::{AtCommit, COMMIT_WORDS, Commit, Entry, EntryId, commit_words, short_commit};
pub use pruned::Pruned;
pub use series::{Point, Series, SeriesId, SeriesKey, full_name};
