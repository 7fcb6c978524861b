//! What a job of continuous integration reports: a comment, a summary, a line for a status, a
//! message for a chat.
//!
//! Names come from benchmarks and commits that anybody may have written, and the texts are posted
//! with the rights of the project: names appear in inline code only, where nothing is a link, a
//! mention or HTML.

mod comment;
mod plot;
mod row;
mod words;

pub use comment::{ci_comment, ci_marker, ci_summary};
pub use words::{ci_message, ci_status, ci_text, machine_words};
