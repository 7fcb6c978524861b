//! What lies behind a NUMA node besides its CPUs: caches in front of its memory, its tier, how fast it is.
//!
//! <https://docs.kernel.org/admin-guide/mm/numaperf.html> for caches and speed (Linux 5.2); memory tiers are those of
//! `Documentation/ABI/testing/sysfs-kernel-mm-memory-tiers` (Linux 6.1).

use becalm_model::CpuSet;

use super::lists::Lists;
use super::{MemoryKind, Node, SideCache};

const NODES: &str = "/sys/devices/system/node";
pub(crate) const TIERS: &str = "/sys/devices/virtual/memory_tiering";
pub(crate) const DAX: &str = "/sys/bus/dax/devices";

/// Adds to all nodes what is known of their memory.
pub(super) fn add(lists: &Lists<'_>, nodes: &mut [Node]) {
    let tiers = tiers(lists);
    let kinds = kinds(lists);
    for node in &mut *nodes {
        node.side_caches = side_caches(lists, node.id);
        let tier = tiers.iter().find(|(_, nodes)| nodes.iter().any(|one| one.0 == node.id));
        node.tier = tier.map(|(tier, _)| *tier);
        let kind = kinds.iter().find(|(id, _)| *id == node.id);
        node.kind = kind.map(|(_, kind)| *kind);
        let speed = format!("{NODES}/node{}/access0/initiators/read_bandwidth", node.id);
        // Zero where firmware does not state it.
        node.read_bandwidth = lists.root.parse(speed).filter(|speed| *speed > 0);
    }
    for index in 0..nodes.len() {
        let near = near(lists, nodes, index);
        nodes[index].near = near;
    }
}

fn side_caches(lists: &Lists<'_>, node: u32) -> Vec<SideCache> {
    let folder = format!("{NODES}/node{node}/memory_side_cache");
    let mut caches: Vec<SideCache> = lists
        .names(&folder)
        .iter()
        .filter_map(|name| {
            let level = name.strip_prefix("index")?.parse().ok()?;
            Some(SideCache { level, size: lists.number(&format!("{folder}/{name}/size")) })
        })
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

/// Returns the number of each tier, smaller for faster ones, and its nodes.
fn tiers(lists: &Lists<'_>) -> Vec<(u32, CpuSet)> {
    let tiers = lists.names(TIERS);
    let number = |name: &String| name.strip_prefix("memory_tier")?.parse().ok();
    tiers
        .iter()
        // Nodes are written as CPUs are.
        .filter_map(|name| Some((number(name)?, lists.read(&format!("{TIERS}/{name}/nodelist"))?)))
        .collect()
}

/// Returns the nodes whose memory came from a device: what it is, the path of that device tells.
fn kinds(lists: &Lists<'_>) -> Vec<(u32, MemoryKind)> {
    let kind = |name: &String| {
        let path = format!("{DAX}/{name}");
        let link = lists.root.link(&path)?;
        let is_below = |what: &str| link.iter().any(|one| one.to_string_lossy().starts_with(what));
        let kind = match () {
            () if is_below("cxl") || is_below("dax_region") => MemoryKind::Cxl,
            () if is_below("ndbus") => MemoryKind::Persistent,
            () => return None,
        };
        Some((u32::try_from(lists.number(&format!("{path}/target_node"))?).ok()?, kind))
    };
    lists.names(DAX).iter().filter_map(kind).collect()
}

/// Returns the CPUs nearest to a node without any: those of its initiators, which firmware names, else those of the
/// nodes at the smallest distance.
fn near(lists: &Lists<'_>, nodes: &[Node], index: usize) -> CpuSet {
    let node = &nodes[index];
    if !node.cpus.is_empty() {
        return node.cpus.clone();
    }
    let cpus = |ids: &dyn Fn(usize, &Node) -> bool| {
        let chosen = nodes.iter().enumerate().filter(|(index, node)| ids(*index, node));
        chosen.fold(CpuSet::new(), |all, (_, node)| all.union(&node.cpus))
    };
    let initiators = lists.names(&format!("{NODES}/node{}/access0/initiators", node.id));
    let named = cpus(&|_, other| initiators.contains(&format!("node{}", other.id)));
    if !named.is_empty() {
        return named;
    }
    let with_cpus = node.distances.iter().zip(nodes).filter(|(_, other)| !other.cpus.is_empty());
    let Some(least) = with_cpus.map(|(distance, _)| *distance).min() else { return named };
    cpus(&|index, _| node.distances.get(index) == Some(&least))
}

#[cfg(test)]
mod tests {
    use crate::{MemoryKind, SideCache, SysRoot, Topology};
    use becalm_testkit::FakeMachine;

    const NODE: &str = "/sys/devices/system/node";

    #[test]
    fn memory_without_cpus_has_a_kind_a_tier_and_near_cpus() {
        let machine = FakeMachine { packages: 2, cores: 2, ..FakeMachine::default() };
        let tree = machine
            .tree()
            .file(format!("{NODE}/node2/cpulist"), "\n")
            .file(format!("{NODE}/node2/access0/initiators/node1/x"), "")
            .file(format!("{NODE}/node2/access0/initiators/read_bandwidth"), "28000\n")
            .file(format!("{NODE}/node3/cpulist"), "\n")
            .file(format!("{NODE}/node0/memory_side_cache/index1/size"), "17179869184\n")
            .file("/sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "0-1,3\n")
            .file("/sys/devices/virtual/memory_tiering/memory_tier22/nodelist", "2\n")
            .file(
                "/sys/devices/platform/ACPI0017:00/root0/region0/dax_region0/dax0.0/target_node",
                "2\n",
            )
            .link(
                "/sys/bus/dax/devices/dax0.0",
                "../../../devices/platform/ACPI0017:00/root0/region0/dax_region0/dax0.0",
            );
        let tree = ["10 21 14 24", "21 10 24 14", "14 24 10 26", "24 14 26 10"]
            .iter()
            .enumerate()
            .fold(tree, |tree, (node, row)| {
                tree.file(format!("{NODE}/node{node}/distance"), format!("{row}\n"))
            });
        let topology = Topology::read(&SysRoot::new(tree.path())).unwrap();
        let nodes = &topology.nodes;
        assert_eq!(nodes[0].side_caches, [SideCache { level: 1, size: Some(16 << 30) }]);
        let tiers: Vec<_> = nodes.iter().map(|node| node.tier).collect();
        assert_eq!(tiers, [Some(4), Some(4), Some(22), Some(4)]);
        assert_eq!((nodes[2].kind, nodes[2].read_bandwidth), (Some(MemoryKind::Cxl), Some(28000)));
        let near: Vec<String> = nodes.iter().map(|node| node.near.to_string()).collect();
        // Node 2 by its initiators, node 3 by distance.
        assert_eq!(near, ["0-1", "2-3", "2-3", "2-3"]);
        assert_eq!(topology.limits, []);
        let damaged = tree.file(format!("{NODE}/node0/memory_side_cache/index1/size"), "big\n");
        let topology = Topology::read(&SysRoot::new(damaged.path())).unwrap();
        assert_eq!(topology.nodes[0].side_caches, [SideCache { level: 1, size: None }]);
        assert!(format!("{:?}", topology.limits).contains("which is not a number"));
    }
}
