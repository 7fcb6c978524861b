//! Sleeping PCI Express links (ASPM), by the one policy that the kernel has for all of them.
//!
//! The files of single links (`link/l1_aspm` ...) show what comes of the policy, and what was forbidden there stays
//! forbidden under every policy, so that the policy put back gives each link its old states. Where the firmware keeps
//! ASPM to itself (`pcie_aspm=off`, the FADT) the kernel refuses with EPERM.
//! <https://docs.kernel.org/admin-guide/kernel-parameters.html> (`pcie_aspm.policy`), `pcie_aspm_set_policy` in
//! `drivers/pci/pcie/aspm.c`.

use becalm_model::{Nature, Target};

use super::{Knob, Planner, Profile};
use crate::Reading;
use crate::tune::chosen;

const PATH: &str = "/sys/module/pcie_aspm/parameters/policy";

/// No link sleeps.
const AWAKE: &str = "performance";

pub(super) const PCIE_ASPM: Knob = Knob {
    name: "pcie-aspm",
    summary: "no sleeping PCI Express links",
    reason: "a link to a sleeping device takes microseconds to wake up",
    profile: Profile::Strict,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    match planner.see(PATH) {
        Reading::Value(old) if chosen(&old) != AWAKE => {
            let change = planner.change(Target::File(PATH.to_owned()), chosen(&old), Some(AWAKE));
            planner.add(change.with(Nature::MayBeRefused));
        }
        _ => planner.set(PATH, AWAKE),
    }
}
