//! Reading and setting one target of a change.

use std::io;

use becalm_model::Target;

use super::chosen;
use crate::{Reading, SysRoot};

/// Value of a folder that exists.
pub(crate) const PRESENT: &str = "present";
/// Value of a folder that does not.
pub(crate) const ABSENT: &str = "absent";

/// Returns the value of a target now.
pub(crate) fn read(root: &SysRoot, target: &Target) -> Reading {
    match target {
        Target::File(path) => root.read(path),
        Target::Folder(path) => {
            Reading::Value(if root.exists(path) { PRESENT } else { ABSENT }.to_owned())
        }
        other => Reading::Unreadable { reason: format!("{other} is not known to this becalm") },
    }
}

/// Sets a target.
pub(crate) fn write(root: &SysRoot, target: &Target, value: &str) -> io::Result<()> {
    match target {
        // A value that was read as one of several words is written as the one word.
        Target::File(path) => root.write(path, chosen(value)),
        Target::Folder(path) if value == ABSENT => root.remove_folder(path),
        Target::Folder(path) => root.make_folder(path),
        other => Err(io::Error::other(format!("{other} is not known to this becalm"))),
    }
}
