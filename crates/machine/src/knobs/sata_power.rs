//! The power states of links to SATA drives.
//!
//! Writing the policy makes the kernel set the link up again, so accesses of others pause for a moment. Drives that
//! take no such states are refused with EOPNOTSUPP. `keep_firmware_settings` can be read and not written.
//! <https://docs.kernel.org/scsi/link_power_management_policy.html>, `ata_scsi_lpm_store` in
//! `drivers/ata/libata-sata.c`.

use becalm_model::{Nature, Target};

use super::{Knob, Planner, Profile};
use crate::Reading;

const FOLDER: &str = "/sys/class/scsi_host";

/// What can be written, and so also written back.
const POLICIES: [&str; 5] =
    [AWAKE, "medium_power", "med_power_with_dipm", "min_power_with_partial", "min_power"];

/// No link sleeps.
const AWAKE: &str = "max_performance";

pub(super) const SATA_POWER: Knob = Knob {
    name: "sata-power",
    summary: "no sleeping links to SATA drives",
    reason: "a link to a sleeping drive takes up to milliseconds to wake up",
    profile: Profile::Strict,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let root = planner.situation.root;
    for name in root.list_dir(FOLDER).value().unwrap_or_default() {
        let folder = format!("{FOLDER}/{name}");
        let path = format!("{folder}/link_power_management_policy");
        let supports = root.read(format!("{folder}/link_power_management_supported")).value();
        if !root.exists(&path) || supports.as_deref() == Some("0") {
            continue;
        }
        match planner.see(&path) {
            Reading::Value(old) if !POLICIES.contains(&old.as_str()) => {
                planner.refuse(format!("{path} is {old}, which cannot be written back"));
            }
            Reading::Value(old) if old != AWAKE => {
                let change = planner.change(Target::File(path), &old, Some(AWAKE));
                planner.add(change.with(Nature::MayBeRefused));
            }
            _ => planner.set(path, AWAKE),
        }
    }
    planner.or_not_here("no link to a SATA drive has power states here");
}
