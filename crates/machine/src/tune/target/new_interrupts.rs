//! Interrupts that were requested while new ones went to fewer CPUs.
//!
//! A device that is plugged in, or brought up again, meanwhile gets the narrowed default for good, also
//! once the default is back (`irq_setup_affinity` in kernel/irq/manage.c). Those interrupts are found by
//! their numbers, which were not there before, and by their CPUs. One whose driver wants just these CPUs
//! has them from its driver.

use std::io;

use becalm_kernel::errno;
use becalm_model::{CpuSet, NewInterrupts};

use crate::{Reading, SysRoot};

const FOLDER: &str = "/proc/irq";

/// Returns the CPUs that they were confined to, or absent if there are no such interrupts.
pub(super) fn read(root: &SysRoot, new: &NewInterrupts) -> Reading {
    match confined(root, new) {
        Ok(confined) if confined.is_empty() => Reading::Absent,
        Ok(_) => Reading::Value(new.confined_to.to_string()),
        Err(reason) => Reading::Unreadable { reason },
    }
}

/// Lets them go to the CPUs of `list`. Those that the kernel keeps to itself stay where they are.
pub(super) fn write(root: &SysRoot, new: &NewInterrupts, list: &str) -> io::Result<()> {
    for path in confined(root, new).map_err(io::Error::other)? {
        match root.write(&path, list) {
            Err(error) if !is_the_kernels(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the files that say where they go.
fn confined(root: &SysRoot, new: &NewInterrupts) -> Result<Vec<String>, String> {
    let names = root.list_dir(FOLDER).if_there(FOLDER)?.unwrap_or_default();
    let is_new = |name: &&String| name.parse().is_ok_and(|number| !new.known.contains(&number));
    let is_confined = |name: &&String| {
        let cpus: Option<CpuSet> = root
            .read(format!("{FOLDER}/{name}/smp_affinity_list"))
            .value()
            .and_then(|text| text.parse().ok());
        cpus.as_ref() == Some(&new.confined_to) && !wants(root, name, &new.confined_to)
    };
    let found = names.iter().filter(is_new).filter(is_confined);
    Ok(found.map(|name| format!("{FOLDER}/{name}/smp_affinity_list")).collect())
}

/// Says whether the driver asked for exactly these CPUs.
fn wants(root: &SysRoot, name: &str, cpus: &CpuSet) -> bool {
    let hint = root.read(format!("{FOLDER}/{name}/affinity_hint")).value();
    hint.and_then(|hint| crate::cpumask::parse_mask(&hint)).as_ref() == Some(cpus)
}

fn is_the_kernels(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(errno::EIO | errno::EPERM))
        // Freed since.
        || error.kind() == io::ErrorKind::NotFound
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn new() -> NewInterrupts {
        NewInterrupts { known: [0, 9].into(), confined_to: "0-1".parse().unwrap() }
    }

    fn tree() -> FakeTree {
        FakeTree::new()
            .file("/proc/irq/default_smp_affinity", "3\n")
            .file("/proc/irq/9/smp_affinity_list", "0-1\n")
            .file("/proc/irq/24/smp_affinity_list", "2-3\n")
    }

    #[test]
    fn only_new_interrupts_on_exactly_those_cpus_are_widened() {
        let tree = tree()
            .file("/proc/irq/25/smp_affinity_list", "0-1\n")
            .file("/proc/irq/25/affinity_hint", "0\n")
            .file("/proc/irq/26/smp_affinity_list", "0-1\n")
            .file("/proc/irq/26/affinity_hint", "3\n");
        let root = SysRoot::new(tree.path());
        assert_eq!(read(&root, &new()), Reading::Value("0-1".to_owned()));
        write(&root, &new(), "0-3").unwrap();
        let cpus = |number: u32| root.read(format!("{FOLDER}/{number}/smp_affinity_list")).value();
        assert_eq!(
            [9, 24, 25, 26].map(|number| cpus(number).unwrap()),
            ["0-1", "2-3", "0-3", "0-1"]
        );
        assert_eq!(read(&root, &new()), Reading::Absent);
    }

    #[test]
    fn without_new_interrupts_there_is_nothing_to_put_back() {
        let tree = tree();
        assert_eq!(read(&SysRoot::new(tree.path()), &new()), Reading::Absent);
        let empty = FakeTree::new();
        assert_eq!(read(&SysRoot::new(empty.path()), &new()), Reading::Absent);
    }
}
