//! How often the kernel writes dirty pages out, in hundredths of a second.
//!
//! Strict only: a power cut loses up to a minute of what other programs wrote without syncing. The limits
//! on dirty memory stay as they are: of `dirty_bytes` and `dirty_ratio` only one is in force, and the other
//! reads 0, which cannot be written back.
//! <https://docs.kernel.org/admin-guide/sysctl/vm.html#dirty-writeback-centisecs>

use super::{Knob, Planner, Profile};

const PATH: &str = "/proc/sys/vm/dirty_writeback_centisecs";

pub(super) const WRITEBACK: Knob = Knob {
    name: "writeback",
    summary: "periodic writeback once a minute",
    reason: "dirty pages are written out every five seconds",
    profile: Profile::Strict,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    // 0 switches it off, which is quieter still.
    if planner.situation.root.read(PATH).value().as_deref() == Some("0") {
        planner.already_quiet(PATH);
    } else {
        planner.raise(PATH, 6000);
    }
}
