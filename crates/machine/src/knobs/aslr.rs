//! Address space layout randomisation of every new process.
//!
//! Only on request: it protects every program of the machine, and one fixed layout is not the layout of
//! tomorrow's build. `becalm run --aslr off` does the same for the subject alone, and varying the layout
//! on purpose is better still. <https://docs.kernel.org/admin-guide/sysctl/kernel.html#randomize-va-space>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "aslr";
const REASON: &str = "programs lie elsewhere in memory in every run";

pub(super) const ASLR: Knob = Knob {
    name: NAME,
    summary: "address space layout randomisation off",
    profile: Profile::OnRequest,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    planned.set(situation, NAME, "/proc/sys/kernel/randomize_va_space", "0", REASON);
    planned
}
