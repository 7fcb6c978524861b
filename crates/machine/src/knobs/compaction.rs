//! Proactive compaction of memory, by which `kcompactd` moves pages in the background.
//!
//! <https://docs.kernel.org/admin-guide/sysctl/vm.html#compaction-proactiveness>

use super::{Knob, Profile};

pub(super) const COMPACTION: Knob = Knob {
    name: "compaction",
    summary: "proactive memory compaction off",
    reason: "kcompactd moves pages in the background",
    profile: Profile::Safe,
    plan: |planner| planner.set("/proc/sys/vm/compaction_proactiveness", "0"),
};
