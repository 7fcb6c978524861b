//! Memory that is reserved as huge pages (`vm.nr_hugepages`), which only who asks for them gets.

use std::collections::BTreeMap;

use becalm_model::{Checkup, Severity};

use super::{View, advice};
use crate::facts::memory;

const NODES: &str = "/sys/devices/system/node";

/// So much of the memory unused is worth more than a word: one in so many parts.
const MUCH: u64 = 4;

/// Huge pages of one size, in KiB.
#[derive(Default)]
struct Reserved {
    all: u64,
    free: u64,
    /// The nodes that have some and none free, and those that have some free.
    empty: Vec<u32>,
    filled: Vec<u32>,
}

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    const WHY: &str = "Only programs that ask for them get them; the page cache does not.";
    let total = memory(view.root, "MemTotal").unwrap_or(u64::MAX);
    for (size, reserved) in reserved(view) {
        let here = |node: &&u32| {
            let nodes = &view.topology.nodes;
            nodes
                .iter()
                .any(|one| one.id == **node && !one.cpus.intersection(&view.cpus).is_empty())
        };
        let Reserved { all, free, empty, filled } = &reserved;
        let pages = format!("huge pages of {}", mebibytes(size));
        let mut what = format!(
            "{} are reserved as {pages}, {} of them are free.",
            mebibytes(*all),
            mebibytes(*free)
        );
        let mut todo = "`sysctl vm.nr_hugepages=N` frees those that are not needed".to_owned();
        let lacking = empty.iter().find(here).filter(|_| !filled.is_empty());
        if let Some(node) = lacking {
            what = format!("{what} Node {node}, which a measurement would get, has no free one.");
            todo = format!(
                "for a subject that asks for them: `echo N > {NODES}/node{node}/hugepages/hugepages-{size}kB/nr_hugepages`"
            );
        }
        let severity = if *free > total / MUCH { Severity::Noise } else { Severity::Note };
        checkup.findings.push(advice("huge-pages", severity, what, WHY, "", &todo));
    }
}

/// Returns what is reserved, by the size of a page.
fn reserved(view: &View<'_>) -> BTreeMap<u64, Reserved> {
    let mut sizes: BTreeMap<u64, Reserved> = BTreeMap::new();
    for node in &view.topology.nodes {
        let folder = format!("{NODES}/node{}/hugepages", node.id);
        for name in view.root.list_dir(&folder).value().unwrap_or_default() {
            let size = name.strip_prefix("hugepages-").and_then(|size| size.strip_suffix("kB"));
            let Some(size) = size.and_then(|size| size.parse::<u64>().ok()) else { continue };
            let bytes = |file: &str| {
                view.root.parse::<u64>(format!("{folder}/{name}/{file}"))?.checked_mul(size)
            };
            let (Some(all), Some(free)) = (bytes("nr_hugepages"), bytes("free_hugepages")) else {
                continue;
            };
            if all == 0 {
                continue;
            }
            let reserved = sizes.entry(size).or_default();
            reserved.all = reserved.all.saturating_add(all);
            reserved.free = reserved.free.saturating_add(free);
            if free == 0 { &mut reserved.empty } else { &mut reserved.filled }.push(node.id);
        }
    }
    sizes
}

fn mebibytes(kibibytes: u64) -> String {
    format!("{} MiB", kibibytes / 1024)
}
