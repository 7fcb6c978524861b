//! What the subjects of a session are made of.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command as the user gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CommandLine {
    /// One line, to be split into words or given to a shell.
    Line(String),
    /// Program and arguments.
    Words(Vec<String>),
}

/// What the subjects are made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SubjectSource {
    /// Commands, each a subject for every combination of parameter values.
    Commands {
        /// The commands; the first is the baseline of a comparison.
        commands: Vec<CommandLine>,
    },
    /// One command, compared with itself.
    Itself {
        /// The command.
        command: CommandLine,
    },
    /// One command, started in the builds of several revisions.
    Revisions {
        /// As the user named them; the first is the baseline.
        revisions: Vec<String>,
        /// The command.
        command: CommandLine,
    },
    /// The benchmarks of a suite.
    Suite {
        /// The file; `null` for the `becalm.toml` in the folder or above it.
        file: Option<PathBuf>,
        /// Patterns of names; without any, all.
        only: Vec<String>,
        /// Tags; without any, all.
        tags: Vec<String>,
        /// Whether the first benchmark that fails ends the session.
        fail_fast: bool,
    },
    /// A statement, timed by workers that becalm makes.
    Statement,
}

impl Default for SubjectSource {
    fn default() -> Self {
        Self::Commands { commands: Vec::new() }
    }
}
