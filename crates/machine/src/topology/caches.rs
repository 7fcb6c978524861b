//! Which caches there are, and which CPUs share each.

use std::collections::BTreeMap;

use becalm_model::{CpuId, CpuSet};

use super::lists::Lists;
use super::{Cache, CacheContent};
use crate::sysroot::SysRoot;

const CPUS: &str = "/sys/devices/system/cpu";

type Caches = BTreeMap<(u32, CpuSet, CacheContent), Option<u64>>;

/// Reads every cache once, by level and lowest CPU.
///
/// Two caches of one level and content are the same when the same CPUs share them. The kernel's
/// `id` is no help: on hybrid machines a P-core's and an E-core's cache can have the same.
///
/// A CPU whose own file cannot be read has the cache that others say to share with it, else one that
/// is of its core alone.
pub(super) fn read(lists: &Lists<'_>, online: &CpuSet) -> Vec<Cache> {
    let mut caches = Caches::new();
    let mut untold = Vec::new();
    for cpu in online.iter() {
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        let indices = lists.names(&folder);
        let indices: Vec<_> = indices.iter().filter(|name| name.starts_with("index")).collect();
        if indices.is_empty() {
            read_sparc(lists.root, cpu, &mut caches);
        }
        for index in indices {
            let Some((level, content, size)) = kind(lists.root, &format!("{folder}/{index}"))
            else {
                continue;
            };
            match sharing(lists, cpu, &format!("{folder}/{index}")) {
                Some(shared) => {
                    let mut shared = shared.intersection(online);
                    shared.insert(cpu);
                    let known = caches.entry((level, shared, content)).or_insert(size);
                    *known = known.or(size);
                }
                None => untold.push((cpu, level, content, size)),
            }
        }
    }
    for (cpu, level, content, size) in untold {
        let is_it = |(other, cpus, what): &(u32, CpuSet, CacheContent)| {
            *other == level && *what == content && cpus.contains(cpu)
        };
        if !caches.keys().any(is_it) {
            let mut core = of_core(lists, cpu).intersection(online);
            core.insert(cpu);
            caches.insert((level, core, content), size);
        }
    }
    caches
        .into_iter()
        .map(|((level, cpus, content), size)| Cache { level, content, size, cpus })
        .collect()
}

/// Returns level, content and size of a cache.
fn kind(root: &SysRoot, folder: &str) -> Option<(u32, CacheContent, Option<u64>)> {
    let text = |name: &str| root.read(format!("{folder}/{name}")).value();
    let level = text("level")?.parse().ok()?;
    let content = match text("type").as_deref() {
        Some("Data") => CacheContent::Data,
        Some("Instruction") => CacheContent::Instruction,
        Some("Unified") | None => CacheContent::Unified,
        Some(_) => return None,
    };
    Some((level, content, text("size").and_then(|text| parse_size(&text))))
}

/// Returns the CPUs that share the cache of a CPU; `None` where its files do not tell.
fn sharing(lists: &Lists<'_>, cpu: CpuId, folder: &str) -> Option<CpuSet> {
    // The kernel writes both from one set; `lscpu` and `lstopo` trust the mask too.
    let names = ["shared_cpu_map", "shared_cpu_list"];
    match lists.first(folder, &names, &CpuSet::new()) {
        // Itanium firmware leaves the set of some caches empty, and old kernels have none: they belong
        // to the core.
        Some(shared) if shared.is_empty() => Some(of_core(lists, cpu)),
        None if !names.iter().any(|name| lists.root.exists(format!("{folder}/{name}"))) => {
            Some(of_core(lists, cpu))
        }
        shared => shared,
    }
}

fn of_core(lists: &Lists<'_>, cpu: CpuId) -> CpuSet {
    let names = ["core_cpus_list", "thread_siblings_list", "core_cpus", "thread_siblings"];
    let folder = format!("{CPUS}/cpu{cpu}/topology");
    lists.first(&folder, &names, &CpuSet::from_iter([cpu])).unwrap_or_default()
}

/// Reads the caches of SPARC, which have a file for each size in bytes and none for who shares them.
fn read_sparc(root: &SysRoot, cpu: CpuId, caches: &mut Caches) {
    for (file, level, content) in [
        ("l1_icache_size", 1, CacheContent::Instruction),
        ("l1_dcache_size", 1, CacheContent::Data),
        ("l2_cache_size", 2, CacheContent::Unified),
    ] {
        let size = root.read(format!("{CPUS}/cpu{cpu}/{file}")).value();
        if let Some(size) = size.and_then(|text| text.trim().parse().ok()) {
            caches.insert((level, CpuSet::from_iter([cpu]), content), Some(size));
        }
    }
}

/// Reads a cache size such as `48K` into bytes.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, scale) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1024),
        b'M' => (&text[..text.len() - 1], 1024 * 1024),
        _ => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[track_caller]
    fn check(tree: &FakeTree, online: &str, expected: &[&str]) {
        let root = SysRoot::new(tree.path());
        let caches = read(&Lists::new(&root), &online.parse().unwrap());
        let shown: Vec<String> = caches
            .iter()
            .map(|one| format!("L{} {:?} {:?} {}", one.level, one.content, one.size, one.cpus))
            .collect();
        assert_eq!(shown, expected);
    }

    fn cache(tree: FakeTree, place: &str, level: &str, kind: &str, map: &str) -> FakeTree {
        let folder = format!("/sys/devices/system/cpu/{place}");
        tree.file(format!("{folder}/level"), level)
            .file(format!("{folder}/type"), kind)
            .file(format!("{folder}/size"), "1M\n")
            .file(format!("{folder}/id"), "8\n")
            .file(format!("{folder}/shared_cpu_map"), map)
    }

    #[test]
    fn two_caches_with_one_id_are_two_when_other_cpus_share_them() {
        let tree = cache(FakeTree::new(), "cpu1/cache/index0", "2\n", "Unified\n", "3\n");
        let tree = cache(tree, "cpu9/cache/index0", "2\n", "Unified\n", "200\n");
        let size = "Some(1048576)";
        check(
            &tree,
            "0-1,9",
            &[&format!("L2 Unified {size} 0-1"), &format!("L2 Unified {size} 9")],
        );
    }

    #[test]
    fn a_cache_that_nobody_shares_belongs_to_its_core() {
        let tree = cache(FakeTree::new(), "cpu4/cache/index3", "3\n", "Unified\n", "00\n")
            .file("/sys/devices/system/cpu/cpu4/topology/thread_siblings", "30\n");
        check(&tree, "4-5", &["L3 Unified Some(1048576) 4-5"]);
    }

    #[test]
    fn sparc_states_sizes_alone() {
        let tree = FakeTree::new()
            .file("/sys/devices/system/cpu/cpu3/l1_icache_size", "16384\n")
            .file("/sys/devices/system/cpu/cpu3/l2_cache_size", "131072\n");
        check(&tree, "3", &["L1 Instruction Some(16384) 3", "L2 Unified Some(131072) 3"]);
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("48K\n"), Some(48 * 1024));
        assert_eq!(parse_size("16M"), Some(16 << 20));
        assert_eq!(parse_size("512"), Some(512));
        assert_eq!(parse_size(""), None);
        assert_eq!(parse_size("99999999999999999999K"), None);
    }
}
