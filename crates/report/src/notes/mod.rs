//! The sentences of notes: the only place that has words for them.

mod brief;
mod comparison;
mod gate;
mod import;
mod limit;
mod placement;
mod search;
mod session;
mod session_limit;
mod watching;

pub(crate) use brief::{explains, is_aside, unseen};
pub(crate) use gate::{advice, not_counted, reason};
pub use limit::limit;
pub(crate) use placement::affinity;

use becalm_model::wire::Words;
use becalm_model::{Interruption, Note};

/// Makes the sentences of documents.
pub const WORDS: Words = Words { note: sentence, interruption, limit, affinity, reason, advice };

/// Returns the sentence of a note.
pub fn sentence(note: &Note) -> String {
    match note {
        Note::Comparison(note) => comparison::sentence(note),
        Note::Session(note) => session::sentence(note),
        Note::Gate(note) => gate::sentence(note),
        Note::Import(note) => import::sentence(note),
        Note::Bisect(note) => search::bisect(note),
        Note::Diff(note) => search::diff(note),
        Note::Plan(note) => search::plan(note),
        Note::Text(sentence) => sentence.text.clone(),
    }
}

/// Says why a session ended before its plan did.
pub fn interruption(why: &Interruption) -> String {
    match why {
        Interruption::Signal { signal } => format!("stopped by signal {signal}"),
        Interruption::Failure { error } => error.clone(),
        Interruption::Text { text } => text.clone(),
    }
}
