//! Power states that an `NVMe` drive enters by itself (APST), by the latency that is tolerated.
//!
//! 0 switches the transitions off; `nvme_core.default_ps_max_latency_us=0` does so from the start. `auto` and
//! `any`, which the file may hold, can be written back.
//! <https://docs.kernel.org/admin-guide/abi-testing.html> (`pm_qos_latency_tolerance_us`), `nvme_configure_apst` in
//! `drivers/nvme/host/core.c`.

use super::{Knob, Planner, Profile};

const FOLDER: &str = "/sys/class/nvme";

pub(super) const NVME_POWER: Knob = Knob {
    name: "nvme-power",
    summary: "NVMe drives stay in operational power states",
    reason: "an idle drive goes to sleep, and the next access takes milliseconds",
    profile: Profile::Strict,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let root = planner.situation.root;
    for name in root.list_dir(FOLDER).value().unwrap_or_default() {
        let path = format!("{FOLDER}/{name}/power/pm_qos_latency_tolerance_us");
        if root.exists(&path) {
            planner.set(path, "0");
        }
    }
    planner.or_not_here("no NVMe drive has power states that it enters on its own");
}
