//! Series over time, and what a gate says of them: everything between a record and a history.
//!
//! `points.rs` says which values a record adds to which series, `cut_off.rs` what it has no value of, `entry.rs`
//! makes an entry of a record and its commit, `measurements.rs` takes a record of several commits apart, `follow.rs`
//! finds changes of level from where the detector stopped (`detector_state.rs`), of many series in several threads
//! (`parallel.rs`), `few.rs` says in which of them none can be found yet, `documents.rs` makes documents of them, `lineage.rs` what a branch does not have any more. `judge/`
//! is the one judge of `becalm gate` and `becalm ci`: start with `judge/comparison.rs` for what both share and where
//! they differ.
//!
//! It may use `store`, `stats` and `model`. It is given the time, the repository's answers and rules as values, reads
//! no file and prints nothing; what a command needs of the store it re-exports.

mod cut_off;
mod detector_state;
mod documents;
mod entry;
mod few;
mod follow;
pub mod judge;
mod lineage;
mod measurements;
mod parallel;
mod points;

pub use becalm_store::{
    ANNOTATE, Access, Added, Decided, DetectorState, EntryFilter, EntryValue, Found, Group,
    HistoryLocation, Moment, NewEntry, NewPoint, Origin, Prune, RIGHTS, Right, RightError,
    SETTINGS, SPLIT, SeriesFilter, Snapshot, Stamp, Store, StoreError, Token, fact, open,
};
pub use cut_off::{CutOff, cut_off};
pub use documents::{
    change_in_history, change_point, series_state, spread_change, spread_in_history,
    state_in_history, state_word,
};
pub use entry::{Checkout, EntryPlace, EntryTerms, entry_at, new_entry};
pub use few::{Unchanged, too_few};
pub use follow::{
    ChangeTerms, FalseAlarmsError, Followed, check_false_alarms, follow, follow_each, follow_in,
    placed, rose,
};
pub use lineage::{BranchCommits, Counting, Place, Placed, Uncounted};
pub use measurements::measurements;
pub use points::{command_of, flags_of, margin_of, names_in_comparison, points};
