//! What the two ends say to each other, one JSON object a line.

use serde::{Deserialize, Serialize};

/// What the far end says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Frame {
    /// It has started. The first frame.
    Hello {
        /// Its version.
        version: String,
        /// Whether it may act as root.
        #[serde(default)]
        root: bool,
    },
    /// It lacks these files of the job, by their place in its list.
    Wants(Vec<usize>),
    /// A sentence.
    Say(String),
    /// A sentence about what the user should know.
    Warn(String),
    /// Why it fails.
    Error {
        /// What failed.
        message: String,
        /// What to do.
        hints: Vec<String>,
    },
    /// The progress line; empty to remove it.
    Progress(String),
    /// A part of the result.
    Print(String),
    /// Lines of the session's log.
    Log(String),
    /// A file that the command has written, by its place in the list of the job.
    Output(usize, String),
    /// A session ended.
    Session(Box<Outcome>),
    /// The job is done, with this exit code. The last frame.
    End(u8),
}

/// What the near end says, after the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// The user is still there.
    Alive,
    /// The files follow that the far end lacks, without anything between them.
    Files,
    /// The log of the session has begun here too: whatever is measured from now on can be continued.
    Kept,
    /// The user has sent this signal.
    Signal(i32),
}

/// How a session ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its record, as becalm saves it.
    pub record: String,
    /// What ended it early: what failed, and what to do.
    pub failure: Option<(String, Vec<String>)>,
    /// The subject whose program caused that.
    pub at_fault: Option<String>,
    /// Failures of subjects without which the session continued.
    pub left_out: Vec<String>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether a setting of the machine could not be put back.
    pub is_machine_changed: bool,
}

impl Frame {
    /// Returns it as a line.
    pub(crate) fn line(&self) -> String {
        line(self)
    }
}

impl Call {
    /// Returns it as a line.
    pub(crate) fn line(self) -> String {
        line(&self)
    }
}

/// Returns a value as one line of JSON.
pub(crate) fn line(value: &impl Serialize) -> String {
    // serde_json escapes line breaks in strings.
    serde_json::to_string(value).expect("plain values can be written") + "\n"
}
