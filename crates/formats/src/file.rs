//! What is read: a file, or the files of a folder.

use crate::error::ImportError;

/// One file, as the caller read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path, or its path inside the folder that is imported, with `/` between the parts.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl File {
    /// Makes a file of a text; for tests and for the output of a harness.
    pub fn of_text(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
    }

    /// Returns the text of the file, without the byte order mark that some Windows programs write.
    pub(crate) fn text(&self) -> Result<&str, ImportError> {
        let text = std::str::from_utf8(&self.bytes).map_err(|error| {
            let line = self.bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
            ImportError::at_line(self, line, "UTF-8 text", "other bytes")
        })?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
    }
}

/// Returns the one file of a format that has no folders.
pub(crate) fn only(files: &[File]) -> Result<&File, ImportError> {
    match files {
        [one] => Ok(one),
        _ => Err(ImportError::Folder { files: files.len() }),
    }
}
