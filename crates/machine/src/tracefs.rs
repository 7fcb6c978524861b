//! Where the kernel describes its tracepoints.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd as _, OwnedFd};

use becalm_kernel::tracefs;
use serde::{Deserialize, Serialize};

use crate::{Reading, SysRoot};

/// The usual places, the newer one first.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The tracepoints that becalm traces where the kernel has them.
const TRACEPOINTS: [&str; 15] = [
    "sched/sched_switch",
    "sched/sched_wakeup",
    "sched/sched_wakeup_new",
    "sched/sched_migrate_task",
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
    "timer/hrtimer_expire_entry",
    "timer/hrtimer_expire_exit",
    "timer/timer_expire_entry",
    "timer/timer_expire_exit",
    "workqueue/workqueue_execute_start",
    "workqueue/workqueue_execute_end",
    "nmi/nmi_handler",
];

/// The folder with the CPU's own interrupts, which x86 alone has. All of it is described.
pub const VECTORS: &str = "irq_vectors";

/// How this kernel describes its tracepoints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptions {
    /// Where they were read, for messages.
    pub place: String,
    /// The file `format` of each, by its name (`sched/sched_switch`).
    pub formats: BTreeMap<String, Reading>,
}

/// Why nothing is known of any tracepoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoTracefs {
    /// It is there, and this process may not read it.
    Refused {
        /// Where it is.
        path: String,
    },
    /// It is nowhere, and cannot be opened without a mount.
    Nowhere {
        /// Why not.
        why: String,
    },
}

/// What is known of the tracepoints.
pub type Described = Result<Descriptions, NoTracefs>;

/// Reads the descriptions of the tracepoints that becalm uses, as far as this process may.
pub(crate) fn descriptions(root: &SysRoot) -> Described {
    let Tracefs { path, _unmounted } = Tracefs::find(root)?;
    let vectors = root.list_dir(format!("{path}/events/{VECTORS}")).value().unwrap_or_default();
    let vectors = vectors.iter().map(|name| format!("{VECTORS}/{name}"));
    let names = TRACEPOINTS.into_iter().map(str::to_owned).chain(vectors);
    let described = |name: String| {
        let format = root.read(format!("{path}/events/{name}/format"));
        (name, format)
    };
    let formats = names.map(described).filter(|(_, format)| *format != Reading::Absent).collect();
    Ok(Descriptions { place: path, formats })
}

/// A folder with tracefs in it.
#[derive(Debug)]
struct Tracefs {
    /// Its path below the root of the machine.
    path: String,
    /// Keeps a file system that is mounted nowhere.
    _unmounted: Option<OwnedFd>,
}

impl Tracefs {
    /// Finds tracefs; where nobody has mounted it, opens it without a mount, so that nothing of the
    /// machine is changed.
    fn find(root: &SysRoot) -> Result<Self, NoTracefs> {
        for place in PLACES {
            match root.read(format!("{place}/events/header_page")) {
                Reading::Absent => {}
                Reading::NoPermission => {
                    return Err(NoTracefs::Refused { path: place.to_owned() });
                }
                // What is wrong with it shows when it is used.
                Reading::Value(_) | Reading::Unreadable { .. } => {
                    return Ok(Self { path: place.to_owned(), _unmounted: None });
                }
            }
        }
        let folder =
            tracefs::open().map_err(|error| NoTracefs::Nowhere { why: error.to_string() })?;
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
        assert!(matches!(refused, Err(NoTracefs::Refused { .. })), "{refused:?}");
    }
}
