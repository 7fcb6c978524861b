//! What is known of a format that can be imported.

use becalm_model::Record;

use crate::error::ImportError;
use crate::file::File;

/// One format that can be imported.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name on the command line: `hyperfine`.
    pub name: &'static str,
    /// What writes it, for people.
    pub about: &'static str,
    /// Says by the content whether files are of this format. It must be quick and may be wrong about
    /// files that are damaged.
    pub recognise: fn(&[File]) -> bool,
    /// Reads files of this format.
    pub read: fn(&[File]) -> Result<Record, ImportError>,
}
