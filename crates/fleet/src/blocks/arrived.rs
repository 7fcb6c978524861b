//! What a far end has written into its file of frames so far.

use std::path::PathBuf;

use crate::frame::{Frame, Outcome};
use crate::slurm::Growing;

/// The frames of one far end.
#[derive(Debug)]
pub(crate) struct Frames {
    file: Growing,
    outcome: Option<Outcome>,
    error: Option<String>,
    /// Its exit code, once it has ended.
    code: Option<u8>,
}

/// How a session ended whose frames are whole.
#[derive(Debug)]
pub(crate) enum Ended {
    /// With a record.
    Session(Box<Outcome>),
    /// Without one.
    Failed {
        /// Why.
        message: String,
        /// Its exit code.
        code: u8,
    },
}

impl Frames {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { file: Growing::new(path), outcome: None, error: None, code: None }
    }

    /// Reads what was added; returns how the session ended, once it has. What is no frame is what a job left that was cut off.
    pub(crate) fn look(&mut self) -> Option<Ended> {
        for bytes in self.file.more() {
            match serde_json::from_slice(&bytes) {
                Ok(Frame::Session(outcome)) => self.outcome = Some(*outcome),
                Ok(Frame::Error { message, .. }) => self.error = Some(message),
                Ok(Frame::End(code)) => self.code = Some(code),
                _ => {}
            }
        }
        let code = self.code?;
        Some(match (self.outcome.take(), self.error.take()) {
            (Some(outcome), _) => Ended::Session(Box::new(outcome)),
            (None, Some(message)) => Ended::Failed { message, code },
            (None, None) => {
                let message = format!("it ended with code {code}, without a result");
                Ended::Failed { message, code }
            }
        })
    }

    /// Says whether anything was written.
    pub(crate) fn is_begun(&self) -> bool {
        self.file.is_begun
    }
}
