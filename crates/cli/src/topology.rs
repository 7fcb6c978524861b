//! The CPUs of this machine or of a captured one, with an error for people.

use std::path::Path;

use becalm_machine::{SysRoot, Topology};

use crate::error::CommandError;

/// Reads them.
pub(crate) fn read(root: &SysRoot) -> Result<Topology, CommandError> {
    Topology::read(root).map_err(|error| match root.path() {
        here if here == Path::new("/") => {
            CommandError::measure(format!("cannot determine the CPUs of this machine: {error}"))
        }
        folder => CommandError::measure(format!(
            "cannot determine the CPUs of the machine captured in {}: {error}",
            folder.display()
        ))
        .hint("a captured machine is a folder that contains `proc` and `sys`"),
    })
}
