//! What a journal knows of each target: its old value, and what becalm left behind.

use becalm_model::Change;
use becalm_model::wire::Journal;

/// One change and what is known of the value that it left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The change.
    pub change: Change,
    /// What it left behind.
    pub trace: Trace,
}

/// The value that a change left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    /// Whoever made or undid it died meanwhile, or it could not be read then: any value may be
    /// becalm's own.
    Unknown,
    /// What was read after all changes.
    Settled(String),
    /// The kernel holds it lower than anybody asked for.
    Capped,
    /// Somebody else set another value since.
    Foreign,
}

/// Returns what a journal knows, one entry per target: the oldest value and the latest change.
pub fn saved(journal: &Journal) -> Vec<Saved> {
    let mut all: Vec<Saved> = Vec::new();
    for (index, change) in journal.changes.iter().enumerate() {
        let trace = match &journal.restoring {
            Some(foreign) if foreign.contains(&change.target) => Trace::Foreign,
            Some(_) => Trace::Unknown,
            None => {
                let value = journal.settled.get(index).cloned().flatten();
                value.map_or(Trace::Unknown, Trace::Settled)
            }
        };
        match all.iter_mut().find(|saved| saved.change.target == change.target) {
            Some(earlier) => {
                if change.new.is_some() {
                    earlier.change.new.clone_from(&change.new);
                }
                earlier.trace = trace;
            }
            None => all.push(Saved { change: change.clone(), trace }),
        }
    }
    all
}
