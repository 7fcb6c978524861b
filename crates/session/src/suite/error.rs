//! Why a suite cannot be measured.

use std::path::PathBuf;

/// Why a suite cannot be measured. Nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The file cannot be read.
    #[error("cannot read the suite {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is none.
    #[error("no {} in {} or a folder above it", super::FILE, .0.display())]
    NoFile(PathBuf),
    /// The present folder is unknown.
    #[error("cannot determine the current folder: {0}")]
    Here(std::io::Error),
    /// The file is wrong at a line.
    #[error("{}:{line}: {what}", path.display())]
    At {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// A command contains something that only a shell understands.
    #[error("{}:{line}: benchmark `{benchmark}`: `{command}` needs a shell", path.display())]
    NeedsShell {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The benchmark.
        benchmark: String,
        /// Its command.
        command: String,
    },
    /// The file has no benchmark.
    #[error("{}:{line}: the suite has no benchmark", path.display())]
    NoBenchmark {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
    },
    /// No benchmark has such a name.
    #[error("--only {pattern}: no benchmark matches; {known}")]
    Only {
        /// As it was given.
        pattern: String,
        /// What may have been meant.
        known: String,
    },
    /// No benchmark has such a tag.
    #[error("--tag {tag}: no benchmark has this tag; {known}")]
    Tag {
        /// As it was given.
        tag: String,
        /// What may have been meant.
        known: String,
    },
    /// No benchmark has both.
    #[error("no benchmark matches both --only and --tag")]
    NoneChosen,
    /// The runs of a round are independent of each other.
    #[error("--on-disturbance redo cannot be combined with --suite")]
    Redo,
}
