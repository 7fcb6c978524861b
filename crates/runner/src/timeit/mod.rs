//! Statements in the languages that people write: timed from inside by a small program of becalm's, the
//! worker, of which each run of a session is one process.
//!
//! `language` knows the languages, `snippet` is what is to be timed, `workbench` a folder with the worker and
//! the snippet, `compile` makes a program of both where the language needs that. `calibrate` finds out how many
//! loops make a value, once and before the session; `answer` reads what a worker prints. A worker times whole
//! values in nanoseconds and knows nothing of statistics.

mod answer;
mod calibrate;
mod compile;
mod language;
mod snippet;
mod workbench;

pub use answer::{AnswerError, Calibration, Rule};
pub use calibrate::{CalibrationError, Setting, calibrate};
pub use compile::CompileError;
pub use language::{Language, Usual};
pub use snippet::Snippet;
pub use workbench::{Workbench, Worker};
