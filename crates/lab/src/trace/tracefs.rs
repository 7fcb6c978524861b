//! Where the kernel describes its tracepoints.

use std::os::fd::{AsRawFd as _, OwnedFd};

use becalm_kernel::tracefs;
use becalm_machine::{Reading, SysRoot};

use super::error::TraceError;

/// The usual places, the newer one first.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// A folder with tracefs in it.
#[derive(Debug)]
pub(super) struct Tracefs {
    /// Its path below the root of the machine.
    pub(super) path: String,
    /// Keeps a file system that is mounted nowhere.
    _unmounted: Option<OwnedFd>,
}

impl Tracefs {
    /// Finds tracefs; where nobody has mounted it, opens it without a mount, so that nothing of the
    /// machine is changed.
    pub(super) fn find(root: &SysRoot) -> Result<Self, TraceError> {
        for place in PLACES {
            match root.read(format!("{place}/events/header_page")) {
                Reading::Absent => {}
                Reading::NoPermission => {
                    return Err(TraceError::TracefsRefused { path: place.to_owned() });
                }
                // What is wrong with it shows when it is used.
                Reading::Value(_) | Reading::Unreadable { .. } => {
                    return Ok(Self { path: place.to_owned(), _unmounted: None });
                }
            }
        }
        let folder = tracefs::open().map_err(TraceError::NoTracefs)?;
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        Ok(Self { path, _unmounted: Some(folder) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn the_older_place_is_looked_at_too_and_refusals_are_told() {
        let tree = FakeTree::new().file("/sys/kernel/debug/tracing/events/header_page", "");
        let root = SysRoot::new(tree.path());
        assert_eq!(Tracefs::find(&root).unwrap().path, "/sys/kernel/debug/tracing");
        let refused = Tracefs::find(&root.denying("/sys/kernel/debug"));
        assert!(matches!(refused, Err(TraceError::TracefsRefused { .. })), "{refused:?}");
    }
}
