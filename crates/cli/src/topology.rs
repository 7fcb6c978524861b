//! The CPUs of this machine or of a captured one, with an error for people.

use std::path::Path;

use becalm_machine::{SysRoot, Topology};

use crate::error::CommandError;

/// Reads them.
pub(crate) fn read(root: &SysRoot) -> Result<Topology, CommandError> {
    Topology::read(root).map_err(|error| match root.path() {
        here if here == Path::new("/") => {
            CommandError::measure(format!("cannot tell which CPUs there are: {error}"))
        }
        folder => CommandError::measure(format!(
            "cannot tell which CPUs there are below {}: {error}",
            folder.display()
        ))
        .hint("a captured machine is a folder with `proc` and `sys` in it"),
    })
}
