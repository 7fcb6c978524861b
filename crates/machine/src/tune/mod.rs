//! Changing the machine, and putting everything back.
//!
//! The order is always the same: lock, plan, journal on disk, guardian, writes, and backwards. A
//! change is a value ([`becalm_model::Change`]); nothing here knows what a knob means.

mod apply;
pub mod journal;
mod lock;
mod recover;
mod restore;
mod same;
mod target;
pub mod task;

pub use apply::{Applied, Effect, apply};
pub use journal::{JournalFile, JournalFileError};
pub use lock::{Holder, LockError, MachineLock, Wait, holder};
pub use recover::{Recovered, recover};
pub use restore::{Foreign, Left, Restored, Saved, Trace, find_foreign, restore, saved};
pub use same::same;
