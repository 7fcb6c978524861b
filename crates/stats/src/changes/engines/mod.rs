//! Other detectors, to compare with.

mod edpelt;
mod otava;

pub use edpelt::{EDPELT_DISTANCE, edpelt};
pub use otava::{Otava, otava};
