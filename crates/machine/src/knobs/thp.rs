//! Transparent huge pages: a run gets them or not by how memory is fragmented at that moment, and
//! `khugepaged` joins pages later, in the background.
//!
//! Strict only: programs that live on huge pages become slower, and are then measured otherwise than they
//! run. <https://docs.kernel.org/admin-guide/mm/transhuge.html>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "thp";
const REASON: &str = "some runs get huge pages and others do not";

pub(super) const THP: Knob =
    Knob { name: NAME, summary: "transparent huge pages off", profile: Profile::Strict, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    // The kernel raises its reserve whenever huge pages are switched on. Guarded first, so that it is
    // put back last.
    planned.guard(situation, NAME, "/proc/sys/vm/min_free_kbytes");
    planned.set(situation, NAME, "/sys/kernel/mm/transparent_hugepage/enabled", "never", REASON);
    planned.set(situation, NAME, "/sys/kernel/mm/transparent_hugepage/defrag", "never", REASON);
    planned
}
