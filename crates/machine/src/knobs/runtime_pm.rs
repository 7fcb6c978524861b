//! Disks, network cards and their controllers stay awake while nobody uses them.
//!
//! `auto` in the file `power/control` means nothing by itself: devices whose driver knows no sleep have it too, and tell
//! so in `runtime_status`.
//! <https://docs.kernel.org/power/runtime_pm.html>

use super::{Knob, Planner, Profile};

/// Folders of the kernel with a link `device` in each entry.
const CLASSES: [&str; 4] =
    ["/sys/class/nvme", "/sys/class/ata_port", "/sys/block", "/sys/class/net"];

pub(super) const RUNTIME_PM: Knob = Knob {
    name: "runtime-pm",
    summary: "disks and network cards stay awake while idle",
    reason: "a device that was suspended while idle takes milliseconds to come back",
    profile: Profile::Strict,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let root = planner.situation.root;
    for class in CLASSES {
        for name in root.list_dir(class).value().unwrap_or_default() {
            let folder = format!("{class}/{name}/device/power");
            let status = root.read(format!("{folder}/runtime_status")).value();
            if status.is_some_and(|status| status != "unsupported") {
                planner.set(format!("{folder}/control"), "on");
            }
        }
    }
    planner.or_not_here("no disk or network card is suspended while idle here");
}
