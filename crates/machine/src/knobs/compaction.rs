//! Proactive compaction of memory, by which `kcompactd` moves pages in the background.
//!
//! <https://docs.kernel.org/admin-guide/sysctl/vm.html#compaction-proactiveness>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "compaction";
const REASON: &str = "kcompactd moves pages in the background";

pub(super) const COMPACTION: Knob =
    Knob { name: NAME, summary: "proactive memory compaction off", profile: Profile::Safe, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    planned.set(situation, NAME, "/proc/sys/vm/compaction_proactiveness", "0", REASON);
    planned
}
