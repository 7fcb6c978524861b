//! Why the folder of a fleet cannot be used.

use std::path::PathBuf;

/// Why the folder of a fleet cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is none of this name.
    #[error("there is no fleet {name} in {}", folder.display())]
    Absent {
        /// The name.
        name: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// There is none at all.
    #[error("there are no fleets in {}", .0.display())]
    None(PathBuf),
    /// The name would lead elsewhere.
    #[error("`{0}` is not a name for a fleet: use letters, digits, hyphens and underscores")]
    Name(String),
    /// There is one of this name.
    #[error("there is a fleet {0} already")]
    Exists(String),
    /// A file of it is damaged.
    #[error("{} is damaged: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// Another version started it.
    #[error("fleet {name} was started by becalm {version}, this is {here}", here = env!("CARGO_PKG_VERSION"))]
    Version {
        /// Its name.
        name: String,
        /// The version.
        version: String,
    },
    /// Another becalm attends to it.
    #[error("another becalm attends to fleet {0}")]
    Attended(String),
}
