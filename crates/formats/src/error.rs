//! Why a file cannot be imported: which file, where in it, what was expected and what stands there.

use crate::file::File;

/// Why nothing was imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No format looks like this.
    #[error("{file}: unrecognised format")]
    Unrecognised {
        /// Name of the file.
        file: String,
    },
    /// There is nothing in the file.
    #[error("{file} is empty")]
    Empty {
        /// Name of the file.
        file: String,
    },
    /// There is no format of that name.
    #[error("there is no format `{name}`")]
    NoFormat {
        /// What was asked for.
        name: String,
    },
    /// A format that is one file was to be read from a folder.
    #[error("expected one file, found a folder with {files} files")]
    Folder {
        /// How many files there are.
        files: usize,
    },
    /// Something else was expected at a line.
    #[error("{file}, line {line}: expected {expected}, found {found}")]
    Line {
        /// Name of the file.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// What was expected.
        expected: String,
        /// What stands there, shortened.
        found: String,
    },
    /// A JSON document is damaged or of another shape.
    #[error("{file}, line {line}{}: {problem}", at(.place))]
    Json {
        /// Name of the file.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// Path of the field, such as `benchmarks[2].real_time`; empty if it is unknown.
        place: String,
        /// What is wrong, in words.
        problem: String,
    },
    /// A field that is read holds something impossible.
    #[error("{file}, at {place}: expected {expected}, found {found}")]
    Field {
        /// Name of the file.
        file: String,
        /// Path of the field, such as `results[0].times[3]`.
        place: String,
        /// What was expected.
        expected: String,
        /// What stands there, shortened.
        found: String,
    },
    /// A compressed file cannot be expanded.
    #[error("{file}: {why}")]
    Compressed {
        /// Name of the file.
        file: String,
        /// Why not, such as `it is damaged`.
        why: String,
    },
    /// The file is of the format and holds no measurement.
    #[error("{file}: {why}")]
    Nothing {
        /// Name of the file.
        file: String,
        /// Why there is none, such as `it holds no benchmark`.
        why: String,
    },
}

fn at(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(", at {place}") }
}

impl ImportError {
    pub(crate) fn at_line(file: &File, line: usize, expected: &str, found: &str) -> Self {
        Self::Line {
            file: file.name.clone(),
            line,
            expected: expected.to_owned(),
            found: shown(found),
        }
    }

    pub(crate) fn at_field(file: &File, place: &str, expected: &str, found: &str) -> Self {
        Self::Field {
            file: file.name.clone(),
            place: place.to_owned(),
            expected: expected.to_owned(),
            found: shown(found),
        }
    }

    pub(crate) fn compressed(file: &File, why: impl Into<String>) -> Self {
        Self::Compressed { file: file.name.clone(), why: why.into() }
    }

    pub(crate) fn no_measurement(file: String) -> Self {
        Self::Nothing { file, why: "it contains no measurement".to_owned() }
    }

    pub(crate) fn nothing(file: &File, why: &str) -> Self {
        Self::Nothing { file: file.name.clone(), why: why.to_owned() }
    }
}

/// Quotes and shortens what may be anything.
fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().count() > LONGEST {
        shown.push_str("...");
    }
    format!("`{shown}`")
}
