//! What makes this machine noisy.
//!
//! Every knob that would change something is a finding; what no knob can mend is looked at by the files
//! beside this one. What cannot be read is never a finding.

mod background;
mod boot;
mod caches;
mod hardware;
mod heat;
mod huge_pages;
mod knobs;
mod network;
mod pressure;
mod process;
mod sharing;
mod surroundings;

use becalm_model::{Checkup, CpuId, CpuSet, Finding, Fix, Severity};

use crate::{MitigationEffects, SysRoot, Topology};

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
    heat::look(&view, &mut checkup);
    boot::look(&view, &mut checkup);
    sharing::look(&view, &mut checkup);
    caches::look(&view, &mut checkup);
    huge_pages::look(&view, &mut checkup);
    background::look(&view, &mut checkup);
    network::look(&view, &mut checkup);
    pressure::look(&view, &mut checkup);
    if view.is_present {
        process::look(&view, &mut checkup);
    }
    let known = MitigationEffects::read(root);
    for finding in &mut checkup.findings {
        finding.here = known.of(finding).cloned();
    }
    checkup.surroundings = surroundings::paragraph(&view);
    checkup.unreadable.extend(missing(&view, checkup.surroundings.is_empty()));
    // Stable, so that equally bad ones stay in the order of the areas.
    checkup.findings.sort_by_key(|finding| finding.severity);
    checkup
}

/// Where whole groups of settings are read. A capture without them must not look quiet.
const AREAS: [(&str, &str); 2] = [
    ("/proc/sys/kernel", "settings of the kernel"),
    ("/sys/kernel/mm", "settings of huge pages and merged memory"),
];

/// Returns what could not be looked at because all of it is missing. The paragraph on a guest speaks
/// of its frequencies itself.
fn missing(view: &View<'_>, is_alone: bool) -> Vec<String> {
    let mut missing: Vec<String> = AREAS
        .iter()
        .filter(|(path, _)| !view.root.exists(path))
        .map(|(path, what)| format!("{what}: {path} does not exist here"))
        .collect();
    let of_cpu = |cpu: CpuId| format!("/sys/devices/system/cpu/cpu{}/cpufreq", cpu.0);
    let has_driver = view.root.exists("/sys/devices/system/cpu/cpufreq/policy0")
        || view.topology.online.first().is_some_and(|cpu| view.root.exists(of_cpu(cpu)));
    if is_alone && !has_driver {
        missing.push(
            "governor, turbo and frequency limits: no frequency driver is visible here".to_owned(),
        );
    }
    missing
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
        here: None,
        fix: Fix::Advice(todo.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeMachine;

    /// Findings that a captured machine never has: what this process may do, and what happens now.
    #[test]
    fn what_is_of_this_process_and_this_moment_is_found_too() {
        let tree = FakeMachine::default()
            .tree()
            .file("/proc/self/environ", "OMP_NUM_THREADS=64\0")
            .file("/proc/self/status", "Uid:\t1000\t1000\nCpus_allowed_list:\t0-3\n")
            .file(
                "/proc/self/limits",
                "Max realtime priority 0 0\nMax nice priority 0 0\nMax locked memory 65536 65536 bytes\n",
            )
            .file("/proc/loadavg", "3.90 1 1 1/9 9\n")
            .file("/proc/pressure/cpu", "some avg10=0.00 avg60=7.00 avg300=0.00 total=1\n")
            .file("/proc/pressure/io", "some avg10=0.00 avg60=7.00 avg300=0.00 total=1\n")
            .file("/proc/pressure/memory", "some avg10=0.00 avg60=7.00 avg300=0.00 total=1\n");
        let root = SysRoot::new(tree.path());
        let topology = Topology::read(&root).unwrap();
        let cpus = "3".parse().unwrap();
        let view = View { root: &root, topology: &topology, cpus, is_present: true };
        let mut checkup = Checkup::default();
        process::look(&view, &mut checkup);
        pressure::look(&view, &mut checkup);
        let mut ids: Vec<&str> = checkup.findings.iter().map(|one| one.id.as_str()).collect();
        ids.sort_unstable();
        let expected = ["cpu-pressure", "io-pressure", "load", "memlock", "memory-pressure"];
        assert_eq!(ids, [&expected[..], &["nice", "rtprio", "threads"]].concat());
    }
}
