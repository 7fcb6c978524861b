//! Which caches there are, and which CPUs share each.

use std::collections::BTreeMap;

use becalm_model::{CpuId, CpuSet};

use super::{Cache, CacheContent};
use crate::cpumask::read_first;
use crate::sysroot::SysRoot;

const CPUS: &str = "/sys/devices/system/cpu";

type Caches = BTreeMap<(u32, CpuSet, CacheContent), Option<u64>>;

/// Reads every cache once, by level and lowest CPU.
///
/// Two caches of one level and content are the same when the same CPUs share them. The kernel's
/// `id` is no help: on hybrid machines a P-core's and an E-core's cache can have the same.
pub(super) fn read(root: &SysRoot, online: &CpuSet) -> Vec<Cache> {
    let mut caches = Caches::new();
    for cpu in online.iter() {
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        let indices = root.list_dir(&folder).value().unwrap_or_default();
        let indices: Vec<_> = indices.iter().filter(|name| name.starts_with("index")).collect();
        if indices.is_empty() {
            read_sparc(root, cpu, &mut caches);
        }
        for index in indices {
            read_one(root, online, cpu, &format!("{folder}/{index}"), &mut caches);
        }
    }
    caches
        .into_iter()
        .map(|((level, cpus, content), size)| Cache { level, content, size, cpus })
        .collect()
}

fn read_one(root: &SysRoot, online: &CpuSet, cpu: CpuId, folder: &str, caches: &mut Caches) {
    let text = |name: &str| root.read(format!("{folder}/{name}")).value();
    let Some(level) = text("level").and_then(|text| text.parse().ok()) else { return };
    let content = match text("type").as_deref() {
        Some("Data") => CacheContent::Data,
        Some("Instruction") => CacheContent::Instruction,
        Some("Unified") | None => CacheContent::Unified,
        Some(_) => return,
    };
    // The kernel writes both from one set; `lscpu` and `lstopo` trust the mask too.
    let shared = read_first(root, folder, &["shared_cpu_map", "shared_cpu_list"]);
    let shared = shared.unwrap_or_default();
    // Itanium firmware leaves the set of some caches empty: they belong to the core.
    let shared = if shared.is_empty() {
        let names = ["core_cpus_list", "thread_siblings_list", "core_cpus", "thread_siblings"];
        read_first(root, &format!("{CPUS}/cpu{cpu}/topology"), &names).unwrap_or_default()
    } else {
        shared
    };
    let mut shared = shared.intersection(online);
    shared.insert(cpu);
    let size = text("size").and_then(|text| parse_size(&text));
    caches.entry((level, shared, content)).or_insert(size);
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
        let caches = read(&SysRoot::new(tree.path()), &online.parse().unwrap());
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
