//! Records as files of other tools, one file per format.
//!
//! Writers are pure: a record and [`Options`] go in, the bytes of a file and notes about what it could not
//! hold come out. Warm-up is left out where the format cannot mark it, and runs that were discarded
//! always. A value never stands for another: what has no place is left out and told.

mod bmf;
mod csv_values;
mod date;
mod figures;
mod github_action_benchmark;
mod go;
mod hyperfine;
mod json;
mod junit;
mod load;
mod names;
mod numbers;
mod options;
mod parquet;
mod pyperf;
mod selection;
mod thrift;

use becalm_model::Record;

pub(crate) use hyperfine::FIELDS as FIELDS_OF_2;
pub use options::{Estimate, Options};

/// One format that can be written.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    /// Its name on the command line: `pyperf`.
    pub name: &'static str,
    /// What reads it, for people.
    pub about: &'static str,
    /// The ending that its files usually have, without the dot.
    pub ending: &'static str,
    /// Writes a record.
    pub write: fn(&Record, &Options) -> Result<Exported, ExportError>,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// The file.
    pub bytes: Vec<u8>,
    /// What is not in it, or not as it was, as sentences.
    pub notes: Vec<String>,
}

/// Why nothing was exported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// There is no format of that name.
    #[error("becalm cannot write a format `{name}`")]
    NoFormat {
        /// What was asked for.
        name: String,
    },
    /// The record has no such metric or subject.
    #[error("the record has no {kind} `{name}`; it has {there}")]
    Unknown {
        /// `metric` or `subject`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is, shortened.
        there: String,
    },
    /// The format holds nothing of what was chosen.
    #[error("{format} cannot contain any of this: {why}")]
    NothingFits {
        /// Name of the format.
        format: &'static str,
        /// Why, metric by metric.
        why: String,
    },
    /// Nothing was compared, and the format is about comparisons.
    #[error("there is nothing to judge: {why}")]
    NoComparison {
        /// Why.
        why: String,
    },
    /// The format has one direction for all values.
    #[error(
        "{format} has one direction for all values, but less is better for {lower}, more for \
         {higher}"
    )]
    Directions {
        /// Name of the format.
        format: &'static str,
        /// Metrics of which less is better.
        lower: String,
        /// Metrics of which more is better.
        higher: String,
    },
    /// There is more than the format can count.
    #[error("{format} can contain at most {most} {what}")]
    TooLarge {
        /// Name of the format.
        format: &'static str,
        /// Of what.
        what: &'static str,
        /// How many.
        most: usize,
    },
}

impl ExportError {
    fn nothing(format: &'static str, why: &str) -> Self {
        Self::NothingFits { format, why: why.to_owned() }
    }
}

/// All formats that can be written.
pub const WRITERS: &[Writer] = &[
    csv_values::CSV,
    parquet::PARQUET,
    pyperf::JSON,
    go::TEXT,
    hyperfine::VERSION_1,
    hyperfine::VERSION_2,
    bmf::JSON,
    github_action_benchmark::EITHER,
    github_action_benchmark::SMALLER,
    github_action_benchmark::BIGGER,
    junit::XML,
    load::HDR_LOG,
    load::SECONDS,
    load::K6,
];

/// Returns the format of this name.
pub fn writer(name: &str) -> Result<&'static Writer, ExportError> {
    WRITERS
        .iter()
        .find(|writer| writer.name == name)
        .ok_or_else(|| ExportError::NoFormat { name: name.to_owned() })
}
