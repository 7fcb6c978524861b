//! Changing the machine, and putting everything back.
//!
//! The order is always the same: lock, what a dead becalm left, guardian, journal on disk, plan, writes, and
//! backwards. A change is a value ([`becalm_model::Change`]); nothing here knows what a knob means.

mod apply;
mod by_hand;
mod capped;
mod file_locks;
mod guardian;
pub mod journal;
mod late;
mod lock;
mod plan;
mod recover;
mod restore;
mod same;
mod saved;
mod session;
mod state;
mod takeover;
mod target;
pub mod task;
mod tuner;

pub use apply::{Applied, Effect, apply};
pub use by_hand::by_hand;
pub use guardian::{GuardError, Watch, guardian_of, stand_guard};
pub use journal::{JournalFile, JournalFileError};
pub use lock::{LockError, MachineLock, Wait, holder, is_held};
pub use plan::{TuningPlan, UnknownKnob, names, plan};
pub use recover::{Recovered, recover};
pub use restore::{Foreign, Left, Restored, find_foreign, restore};
pub(crate) use same::chosen;
pub use same::same;
pub use saved::{Saved, Trace, saved};
pub use session::{NotKept, TuneError, Tuning, TurnError};
pub use state::KnobReadings;
pub use takeover::{RestoreError, take_over};
pub use tuner::Tuner;

pub(crate) use target::read as read_target;
pub(crate) use target::{
    ABSENT, Area, DOWN, OFF, PRESENT, UP, allowed_list, parse_word, swap_areas, watchdog_is_off,
    word_text, write,
};
