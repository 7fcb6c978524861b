//! The files of other benchmark tools: reading them into records, and writing records as such files.
//!
//! Nothing here opens a file: callers hand in names and contents. [`import`] finds out by the content
//! which format it is, and [`FORMATS`] is the table of all; [`WRITERS`] is that of the formats that can be
//! written.
//!
//! It may use `model` alone. Start reading in `format.rs`, which lists the formats; each reader is a file of
//! `readers/`, each writer one of `writers/`, and `imported.rs` is what readers fill.

mod entry;
mod error;
mod file;
mod format;
mod histograms;
mod history;
mod imported;
mod javascript;
mod json;
mod lines;
mod merge;
mod messages;
mod objects;
mod readers;
mod sides;
mod units;
mod writers;

pub use entry::Entry;
pub(crate) use entry::Takes;
pub use error::ImportError;
pub use file::File;
pub use format::{FORMATS, entry, import, recognise};
pub use history::{History, history, history_formats};
pub use merge::merge;
pub use readers::asv::AsvFolder;
pub use sides::measured_last;
pub use writers::{Estimate, ExportError, Exported, Options, WRITERS, Writer, writer};
