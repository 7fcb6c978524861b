//! Address space layout randomisation of every new process.
//!
//! Only on request: it protects every program of the machine, and one fixed layout is not the layout of
//! tomorrow's build. `becalm run --aslr off` does the same for the subject alone, and varying the layout
//! on purpose is better still. <https://docs.kernel.org/admin-guide/sysctl/kernel.html#randomize-va-space>

use super::{Knob, Profile};

pub(super) const ASLR: Knob = Knob {
    name: "aslr",
    summary: "address space layout randomisation off",
    reason: "programs are placed elsewhere in memory in every run",
    profile: Profile::OnRequest,
    plan: |planner| planner.set("/proc/sys/kernel/randomize_va_space", "0"),
};
