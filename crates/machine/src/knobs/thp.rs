//! Transparent huge pages: a run gets them or not by how memory is fragmented at that moment, and
//! `khugepaged` joins pages later, in the background.
//!
//! `always` is the other way to the same end: every program gets them at once, and the kernel makes room for them
//! while the program waits (`defrag`), so that runs differ less in how many they got.
//!
//! Strict only: programs that live on huge pages become slower, and are then measured otherwise than they
//! run. <https://docs.kernel.org/admin-guide/mm/transhuge.html>

use super::{Knob, Planner, Profile, Thp};

pub(crate) const THP: Knob = Knob {
    name: "thp",
    summary: "transparent huge pages off, or on for all with --thp always",
    reason: "some runs get huge pages and others do not",
    profile: Profile::Strict,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    // The kernel raises its reserve whenever huge pages are switched on. Guarded first, so that it is
    // put back last.
    planner.guard("/proc/sys/vm/min_free_kbytes");
    let mode = match planner.situation.request.thp {
        Thp::Never => "never",
        Thp::Always => "always",
    };
    planner.set("/sys/kernel/mm/transparent_hugepage/enabled", mode);
    planner.set("/sys/kernel/mm/transparent_hugepage/defrag", mode);
}
