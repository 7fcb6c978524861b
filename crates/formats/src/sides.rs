//! Files that hold, beside a measurement, what the tool compared it with.

use becalm_model::Record;

use crate::readers::{NEW, criterion, gungraun};

/// Returns the subject that was measured last, where the others are what the tool compared it with: `old` of
/// gungraun, and the baselines of criterion, which stay in its folder as they once were.
pub fn measured_last(record: &Record) -> Option<usize> {
    let source = record.source.as_ref()?;
    let has_sides = [gungraun::JSON.name, criterion::FOLDER.name].contains(&source.format.as_str());
    record.subjects.iter().position(|one| one.name == NEW).filter(|_| has_sides)
}
