//! Units of systemd.

use std::io;

use super::ABSENT;
use crate::systemd::{self, ACTIVE, INACTIVE, UnitState};
use crate::{Reading, SysRoot};

/// Returns whether a unit is active.
pub(super) fn read(root: &SysRoot, name: &str) -> Reading {
    if !systemd::is_there(root) {
        return Reading::Absent;
    }
    match systemd::states(&[name.to_owned()]) {
        Ok(states) => match states.get(name) {
            Some(UnitState::Active | UnitState::Starting) => Reading::Value(ACTIVE.to_owned()),
            // One whose file is gone does not run either.
            Some(UnitState::Inactive) | None => Reading::Value(INACTIVE.to_owned()),
        },
        Err(error) => Reading::Unreadable { reason: error.to_string() },
    }
}

/// Starts or stops a unit.
pub(super) fn write(root: &SysRoot, name: &str, value: &str) -> io::Result<()> {
    check(root)?;
    systemd::set_unit(name, value)
}

/// What is said of a folder that stands for a machine must not reach the one that runs this.
fn check(root: &SysRoot) -> io::Result<()> {
    if systemd::is_there(root) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "systemd does not run on this machine"))
}

/// Returns the text of a unit's file.
pub(super) fn read_file(root: &SysRoot, path: &str) -> Reading {
    match root.read(path) {
        Reading::Absent => Reading::Value(ABSENT.to_owned()),
        other => other,
    }
}

/// Writes or removes a unit's file, and lets systemd look at its files again.
pub(super) fn write_file(root: &SysRoot, path: &str, value: &str) -> io::Result<()> {
    if value == ABSENT {
        root.remove_file(path)?;
    } else {
        root.put_file(path, value)?;
    }
    if systemd::is_there(root) { systemd::look_again() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn what_a_folder_says_of_units_does_not_reach_this_machine() {
        let tree = FakeTree::new().file("/run/systemd/system/x", "");
        let root = SysRoot::new(tree.path());
        let refused = write(&root, "becalm-test.service", "active");
        assert_eq!(refused.unwrap_err().to_string(), "systemd does not run on this machine");
    }
}
