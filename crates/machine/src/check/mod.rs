//! What makes this machine noisy.
//!
//! Every knob that would change something is a finding; what no knob can mend is looked at by the files
//! beside this one. What cannot be read is never a finding.

mod background;
mod boot;
mod hardware;
mod knobs;
mod pressure;
mod process;
mod surroundings;

use becalm_model::{Checkup, CpuSet, Finding, Fix, Severity};

use crate::{SysRoot, Topology};

/// What the checks may look at.
pub(crate) struct View<'a> {
    pub(crate) root: &'a SysRoot,
    pub(crate) topology: &'a Topology,
    /// CPUs that a measurement of one thread would use.
    pub(crate) cpus: CpuSet,
    /// Whether what this process and this moment show is that of the machine in question, and not of
    /// another machine that a folder was captured from.
    pub(crate) is_present: bool,
}

/// Looks at everything. `cpus` are those that a measurement of one thread would use.
pub fn check(root: &SysRoot, topology: &Topology, cpus: &CpuSet) -> Checkup {
    let view = View { root, topology, cpus: cpus.clone(), is_present: root.is_live() };
    let mut checkup = Checkup::default();
    knobs::look(&view, &mut checkup);
    hardware::look(&view, &mut checkup);
    boot::look(&view, &mut checkup);
    background::look(&view, &mut checkup);
    pressure::look(&view, &mut checkup);
    if view.is_present {
        process::look(&view, &mut checkup);
    }
    checkup.surroundings = surroundings::paragraph(&view);
    // Stable, so that equally bad ones stay in the order of the areas.
    checkup.findings.sort_by_key(|finding| finding.severity);
    checkup
}

/// A finding that a person has to act on.
fn advice(
    id: &str,
    severity: Severity,
    what: String,
    why: &str,
    size: &str,
    todo: &str,
) -> Finding {
    Finding {
        id: id.to_owned(),
        severity,
        what,
        why: why.to_owned(),
        size: size.to_owned(),
        fix: Fix::Advice(todo.to_owned()),
    }
}
