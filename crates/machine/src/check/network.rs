//! Network interfaces that are up.

use becalm_model::{Checkup, Severity, Target};

use super::{View, advice};
use crate::Reading;
use crate::tune::{UP, read_target};

const INTERFACES: &str = "/sys/class/net";

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    let names = match view.root.list_dir(INTERFACES) {
        Reading::Value(names) => names,
        Reading::Absent => return,
        other => {
            let why = other.of(INTERFACES).err().unwrap_or_default();
            checkup.unreadable.push(format!("network interfaces: {why}"));
            return;
        }
    };
    // Others (loopback, bridges) are of the kernel alone and interrupt nobody.
    let up: Vec<String> = names
        .into_iter()
        .filter(|name| view.root.exists(format!("{INTERFACES}/{name}/device")))
        .filter(|name| {
            let state = read_target(view.root, &Target::Interface(name.clone()));
            state == Reading::Value(UP.to_owned())
        })
        .collect();
    if up.is_empty() {
        return;
    }
    checkup.findings.push(advice(
        "network",
        Severity::Note,
        format!("The network is on: {}.", up.join(", ")),
        "Packets for others interrupt a CPU at unpredictable moments.",
        "",
        "if nothing that you measure needs it, and you are not logged in remotely: `becalm tune \
         --also network --hold -- COMMAND`, which refuses while anything depends on the network",
    ));
}
