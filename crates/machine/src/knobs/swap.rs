//! Swap is switched off, and on again with the priority that it had.
//!
//! Only on request: what is swapped out has to come back into memory, which takes a while and needs the room, and
//! without swap the kernel kills a program sooner. Nothing is done where memory is short, and where not all of it
//! could be put back exactly: the kernel does not say whether a swap area discards what it frees, so one that
//! `/etc/fstab` asks that of is left on; so is a file that somebody else than root could replace meanwhile.

use becalm_model::{Nature, Target};

use super::{Knob, Planner, Profile};
use crate::facts::memory;
use crate::tune::{Area, OFF, swap_areas};
use crate::{Reading, SysRoot};

pub(super) const SWAP: Knob = Knob {
    name: "swap",
    summary: "swap off",
    reason: "swapped-out memory is read back from disk in the middle of a run",
    profile: Profile::OnRequest,
    plan,
};

/// One part of so many of all memory stays free beside what comes back.
const SPARE: u64 = 10;

fn plan(planner: &mut Planner<'_>) {
    let root = planner.situation.root;
    let mut areas = match swap_areas(root) {
        Reading::Value(areas) if areas.is_empty() => return planner.is_quiet("no swap is on"),
        Reading::Value(areas) => areas,
        Reading::Absent => return planner.not_here("this kernel has no swap"),
        other => {
            return planner.refuse(format!("/proc/swaps {}", other.why_not().unwrap_or_default()));
        }
    };
    if let Some(why) = too_little_memory(root, &areas).or_else(|| not_restorable(root, &areas)) {
        return planner.refuse(why);
    }
    // The kernel numbers areas without a priority of their own downwards as they are switched on, and moves the
    // others up when one goes: the last one first, so that the first one is back first.
    areas.sort_by_key(|area| area.priority);
    for area in areas {
        let (target, old) = (Target::Swap(area.path), area.priority.to_string());
        // The kernel refuses where memory has become short since.
        planner.add(planner.change(target, &old, Some(OFF)).with(Nature::MayBeRefused));
    }
}

/// Says why what is swapped out may not fit into memory; sizes in KiB.
fn too_little_memory(root: &SysRoot, areas: &[Area]) -> Option<String> {
    let used = areas.iter().fold(0u64, |sum, area| sum.saturating_add(area.used));
    let (Some(total), Some(available)) = (memory(root, "MemTotal"), memory(root, "MemAvailable"))
    else {
        return Some("the available memory cannot be read from /proc/meminfo".to_owned());
    };
    (used.saturating_add(total / SPARE) > available).then(|| {
        format!(
            "memory is short: {} MiB are swapped out and {} MiB are available, of which a tenth of all memory \
             has to stay free",
            used >> 10,
            available >> 10
        )
    })
}

/// Says what keeps one of the areas from being put back as it was.
fn not_restorable(root: &SysRoot, areas: &[Area]) -> Option<String> {
    let table = match root.read("/etc/fstab") {
        Reading::Absent => String::new(),
        Reading::Value(table) => table,
        other => return other.of("/etc/fstab").err(),
    };
    let discards = |line: &&str| {
        let mut words = line.split_whitespace().skip(2);
        words.next() == Some("swap") && words.next().is_some_and(|word| word.contains("discard"))
    };
    if let Some(line) = table.lines().find(discards) {
        let name = line.split_whitespace().next().unwrap_or_default();
        return Some(format!(
            "/etc/fstab allows swap on {name} to discard what it frees, and the kernel does not \
             show whether it does"
        ));
    }
    let lost = areas.iter().find(|area| !root.is_kept_by_root(&area.path))?;
    Some(format!(
        "{} is gone, or users other than root could replace it while it is off",
        lost.path
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;
    use crate::knobs::{Planned, Situation, TuningRequest};
    use becalm_model::CpuSet;
    use becalm_testkit::{FakeMachine, FakeTree};

    const SWAPS: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
        /dev/vda2                               partition\t2097148\t\t1024\t\t-2\n\
        /swap\\040file                          file\t\t1048572\t\t0\t\t5\n\
        /dev/zram0                              partition\t1048572\t\t0\t\t-3\n";

    fn machine() -> FakeTree {
        FakeMachine::default()
            .tree()
            .file("/proc/swaps", SWAPS)
            .file("/proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB\n")
            .file("/dev/vda2", "")
            .file("/dev/zram0", "")
            .file("/swap file", "")
    }

    fn planned(tree: &FakeTree) -> Planned {
        let root = SysRoot::new(tree.path());
        let topology = Topology::read(&root).unwrap();
        let request = TuningRequest::default();
        SWAP.planned(&Situation::of(&root, &topology, CpuSet::new(), &request))
    }

    #[test]
    fn every_area_goes_off_the_last_one_first() {
        let changes = planned(&machine()).changes;
        let shown: Vec<String> = changes
            .iter()
            .map(|one| format!("{} {} -> {:?}", one.target, one.old, one.new))
            .collect();
        assert_eq!(
            shown,
            [
                "swap on /dev/zram0 -3 -> Some(\"off\")",
                "swap on /dev/vda2 -2 -> Some(\"off\")",
                "swap on /swap file 5 -> Some(\"off\")",
            ]
        );
    }

    #[test]
    fn nothing_goes_off_that_could_not_come_back() {
        #[track_caller]
        fn check(tree: &FakeTree, expected: &str) {
            let planned = planned(tree);
            assert!(planned.changes.is_empty(), "{planned:?}");
            assert!(planned.notes[0].text.contains(expected), "{planned:?}");
        }
        let short = "MemTotal: 8000000 kB\nMemAvailable: 800000 kB\n";
        check(&machine().file("/proc/meminfo", short), "memory is short: 1 MiB are swapped out");
        check(&machine().without("/proc/meminfo"), "cannot be read from /proc/meminfo");
        check(&machine().without("/swap file"), "/swap file is gone");
        check(&machine().file("/proc/swaps", "Filename\nrubbish\n"), "/proc/swaps cannot be read");
        check(&machine().unreadable("/proc/swaps"), "/proc/swaps cannot be read");
        check(&machine().file("/proc/swaps", "Filename\n"), "no swap is on");
        check(&machine().without("/proc/swaps"), "this kernel has no swap");
        let table = "UUID=1 none swap sw,discard 0 0\n";
        check(&machine().file("/etc/fstab", table), "swap on UUID=1 to discard");
    }
}
