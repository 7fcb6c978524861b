//! How gladly the kernel swaps anonymous memory instead of dropping cached files.
//!
//! 1 and not 0: with 0 the kernel prefers killing a process. Other programs may notice.
//! <https://docs.kernel.org/admin-guide/sysctl/vm.html#swappiness>

use super::{Knob, Profile};

pub(super) const SWAPPINESS: Knob = Knob {
    name: "swappiness",
    summary: "swapping only when memory runs out",
    reason: "pages of idle programs, and of the subject, are written to swap",
    profile: Profile::Strict,
    plan: |planner| planner.set("/proc/sys/vm/swappiness", "1"),
};
