//! The `schemata` of a group of resctrl, of which becalm sets a part.

use std::io;

use crate::SysRoot;
use crate::schemata::Schemata;

/// Says whether a file is one.
pub(super) fn is_one(path: &str) -> bool {
    path.ends_with("/schemata")
}

/// Sets a part. What the kernel no longer shows, because its CPUs are switched off, would make it refuse the
/// rest too.
pub(super) fn write(root: &SysRoot, path: &str, value: &str) -> io::Result<()> {
    let now = root.read(path).value().as_deref().and_then(Schemata::parse);
    // What a new group had goes with it.
    let Some(wanted) = Schemata::parse(value) else { return Ok(()) };
    let wanted = match now {
        Some(now) => wanted.about(&now),
        None => wanted,
    };
    root.write(path, &wanted.lines())
}
