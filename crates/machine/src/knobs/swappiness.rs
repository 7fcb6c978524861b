//! How gladly the kernel swaps anonymous memory instead of dropping cached files.
//!
//! 1 and not 0: with 0 the kernel prefers killing a process. Other programs may notice.
//! <https://docs.kernel.org/admin-guide/sysctl/vm.html#swappiness>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "swappiness";
const REASON: &str = "pages of idle programs, and of the subject, are written to swap";

pub(super) const SWAPPINESS: Knob = Knob {
    name: NAME,
    summary: "swapping only when memory runs out",
    profile: Profile::Strict,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    planned.set(situation, NAME, "/proc/sys/vm/swappiness", "1", REASON);
    planned
}
