//! From a record's raw runs to comparisons. Pure: the same record always gives the same answer.

mod busy;
mod character;
mod crowded;
mod family;
mod in_turns;
mod loads;
mod pairs;
mod primary;
mod resolution;
mod separate;
mod shape;
#[cfg(test)]
mod tests;
mod verdict;

pub use busy::busy_note;
pub use character::{Character, character};
pub use crowded::crowded_notes;
pub use family::comparisons;
pub(crate) use family::have_nothing_in_common;
pub use in_turns::compare_in_turns;
pub use loads::loads_notes;
pub use pairs::{PairedRound, observations, paired_rounds};
pub use primary::{Choice, one_sided, primary_metrics};
pub use separate::{Pairing, compare_all_separate, compare_separate};
pub use shape::Shape;
pub use verdict::{is_settled, verdict};
