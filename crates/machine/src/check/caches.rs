//! Whether the caches can be divided, and whether somebody does so.

use becalm_model::{Checkup, Finding, Fix, Severity};

use super::{View, advice};
use crate::facts::CpuInfo;
use crate::knobs::resctrl::{MOUNT, RESCTRL, TOP};
use crate::knobs::{NoteKind, Situation, TuningRequest};

/// Flags by which x86 processors say that they can divide caches or the bandwidth of the memory.
const FLAGS: [&str; 3] = ["cat_l3", "cat_l2", "mba"];

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    const WHY: &str = "What runs beside a measurement displaces what it keeps in the cache.";
    let topology = view.topology;
    if [2, 3].iter().all(|&level| topology.beside(level, &view.cpus).is_empty()) {
        return;
    }
    let found = |what: String, todo: &str| advice("resctrl", Severity::Note, what, WHY, "", todo);
    if !view.root.exists(TOP) {
        let cpuinfo = CpuInfo::read(view.root);
        if let Some(flag) = FLAGS.into_iter().find(|flag| cpuinfo.has_flag(flag) == Some(true)) {
            let what =
                format!("The processor can divide its caches ({flag}), but this kernel does not.");
            let todo = "use a kernel with CONFIG_X86_CPU_RESCTRL, without `rdt=` switching it off; then \
                 `--isolate`";
            checkup.findings.push(found(what, todo));
        }
        return;
    }
    if !view.root.exists(format!("{TOP}/schemata")) {
        let what = "The caches can be divided, but resctrl is not mounted.".to_owned();
        let todo = format!(
            "`{MOUNT}`; then `--isolate` gives the measured CPUs a separate part of the caches"
        );
        checkup.findings.push(found(what, &todo));
        return;
    }
    let request = TuningRequest::default();
    let planned = RESCTRL.planned(&Situation::of(view.root, topology, view.cpus.clone(), &request));
    let refused = planned.notes.iter().find(|note| note.kind == NoteKind::Refused);
    if !planned.changes.is_empty() {
        let what = format!(
            "{}: a separate part of the caches is possible, but all of them are shared.",
            view.cpus.named()
        );
        let fix = Fix::Knob(RESCTRL.name.to_owned());
        checkup.findings.push(Finding { fix, ..found(what, "") });
    } else if let Some(note) = refused {
        let what = format!("The caches are not divided for a measurement: {}.", note.text);
        checkup
            .findings
            .push(found(what, "remove groups below /sys/fs/resctrl that are not needed"));
    }
}
