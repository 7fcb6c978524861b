//! What is asked of the far end. Both ends are the same program, so the shape has no versions.

use std::path::PathBuf;

use becalm_model::SessionNote;
use serde::{Deserialize, Serialize};

use crate::parcel::Item;
use crate::path_text;

/// Something to be carried out on another machine.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    /// The version that asks; another one does not understand it.
    pub version: String,
    /// What is to be done.
    pub work: Work,
    /// How results are shown.
    pub terminal: Terminal,
    /// Where becalm keeps its files on that machine.
    #[serde(with = "path_text")]
    pub store: PathBuf,
    /// Whether other machines use that folder too; then its files are there already, and the folder of the job is not.
    pub is_shared: bool,
    /// The folder in which becalm was started, of the machine that asks.
    #[serde(with = "path_text")]
    pub folder: PathBuf,
    /// The files that it needs.
    pub items: Vec<Item>,
    /// Files that it is to write, of which the contents are sent back: absolute, of the machine that asks.
    pub outputs: Vec<Output>,
}

impl Job {
    /// Says whether it brings files, or wants some back.
    pub fn has_files(&self) -> bool {
        !self.items.is_empty() || !self.outputs.is_empty()
    }
}

/// A file that a command writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output(#[serde(with = "path_text")] pub PathBuf);

/// What is to be done.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A session.
    Session(Box<SessionWork>),
    /// Another command, by its arguments.
    Command(Vec<String>),
}

/// A session to be carried out.
#[derive(Debug, Serialize, Deserialize)]
pub struct SessionWork {
    /// The command that asks, for others who wait for the machine.
    pub(crate) command: String,
    /// A record with its terms, its subjects and its arguments.
    pub(crate) asked: String,
    /// The record of the session that it continues.
    pub(crate) continued: Option<String>,
    /// The only subject that is traced, if one is.
    pub(crate) traced: Option<usize>,
    /// Where the builds are, if the subjects are revisions.
    pub(crate) stands: Option<Vec<StandWork>>,
    /// What the reader has to know of the builds.
    pub(crate) notes: Vec<SessionNote>,
}

/// The build of a revision.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StandWork {
    /// Its folder, of the machine that asks.
    #[serde(with = "path_text")]
    pub(crate) folder: PathBuf,
    /// The link that leads to it.
    #[serde(with = "path_text")]
    pub(crate) place: PathBuf,
    /// Where in it the subject starts.
    #[serde(with = "path_text")]
    pub(crate) inside: PathBuf,
}

/// The terminal of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other")]
pub struct Terminal {
    /// Whether a progress line can be drawn.
    pub progress: bool,
    /// Whether only results, warnings and errors are wanted.
    pub quiet: bool,
    /// Columns of texts.
    pub width: usize,
    /// Columns of large tables.
    pub table_width: usize,
    /// Whether it has colours.
    pub colour: bool,
    /// Whether it has more than ASCII.
    pub unicode: bool,
}
