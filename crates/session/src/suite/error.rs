//! Why a suite cannot be measured.

use std::path::PathBuf;

/// Why a suite cannot be measured. Nothing was begun.
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
    #[error("there is no {} in {} or a folder above it", super::FILE, .0.display())]
    NoFile(PathBuf),
    /// The present folder is not known.
    #[error("cannot tell the present folder: {0}")]
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
    /// A command has what only a shell understands.
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
    #[error("--only {pattern}: no benchmark has such a name; {known}")]
    Only {
        /// As it was given.
        pattern: String,
        /// What may have been meant.
        known: String,
    },
    /// No benchmark has such a tag.
    #[error("--tag {tag}: no benchmark has it; {known}")]
    Tag {
        /// As it was given.
        tag: String,
        /// What may have been meant.
        known: String,
    },
    /// No benchmark has both.
    #[error("no benchmark has both such a name and such a tag")]
    NoneChosen,
    /// The runs of a round have nothing to do with each other.
    #[error("--on-disturbance redo cannot be had with --suite")]
    Redo,
}
