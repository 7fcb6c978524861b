//! The CPUs of the kernel's unbound work, which are shown otherwise than they were asked for.
//!
//! From Linux 6.7 on `workqueue/cpumask` shows what was asked for without the CPUs of isolated partitions, and
//! sets what is asked for. The old value is what stands in `cpumask_requested` beside it: the other one, put
//! back, would keep those CPUs out when their partition has gone.
//! <https://docs.kernel.org/core-api/workqueue.html>, `workqueue_unbound_exclude_cpumask` in
//! `kernel/workqueue.c`.

use crate::{Reading, SysRoot};

const SHOWN: &str = "/sys/devices/virtual/workqueue/cpumask";
const REQUESTED: &str = "/sys/devices/virtual/workqueue/cpumask_requested";

/// Says whether a file is this one.
pub(super) fn is_it(path: &str) -> bool {
    path == SHOWN
}

/// Returns the CPUs that were asked for.
pub(super) fn read(root: &SysRoot) -> Reading {
    match root.read(REQUESTED) {
        Reading::Absent => root.read(SHOWN),
        requested => requested,
    }
}
