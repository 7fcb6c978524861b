//! Machines as `lstopo` and as becalm see them: every cache, die, node, core and PCI device with its CPUs.
//!
//! `lstopo-no-graphics` (of Debian's `hwloc`) reads a folder with `proc` and `sys` as becalm does. Compared are a machine
//! of our own and every folder of `BECALM_MACHINE_TREES`. Without the program the test is skipped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use becalm_machine::{CacheContent, SysRoot, Topology};
use becalm_model::CpuSet;
use becalm_testkit::{FakeMachine, FakeTree, skipped};

#[test]
fn lstopo_says_the_same_of_every_machine() {
    let own = own();
    let mut trees = vec![own.path().to_owned()];
    match std::env::var_os("BECALM_MACHINE_TREES") {
        Some(folder) => trees.extend(folders(Path::new(&folder))),
        None => skipped("BECALM_MACHINE_TREES names no folder of captured machines"),
    }
    let mut differences = Vec::new();
    for tree in trees {
        let Some(theirs) = lstopo(&tree) else {
            return skipped("lstopo-no-graphics is not installed");
        };
        let name = tree.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ours = ours(&tree);
        for (who, some, others) in [("they", &theirs, &ours), ("we", &ours, &theirs)] {
            let alone = some.difference(others);
            differences.extend(alone.map(|fact| format!("{name}: {who} alone say {fact}")));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.join("sys").is_dir()).collect()
}

/// Two packages, memory without CPUs near each, devices near the one, the other, or neither.
fn own() -> FakeTree {
    let node = "/sys/devices/system/node";
    let machine =
        FakeMachine { packages: 2, cores: 4, threads: 2, l3s: 2, ..FakeMachine::default() };
    let mut tree = machine
        .tree()
        .file("/proc/mounts", "")
        .file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\n")
        .file(format!("{node}/online"), "0-2\n")
        .file(format!("{node}/node2/cpulist"), "\n")
        .file(format!("{node}/node2/cpumap"), "0000\n")
        .file(format!("{node}/node2/meminfo"), "Node 2 MemTotal: 1048576 kB\n")
        .link(format!("{node}/node2/access0/initiators/node1"), "../../../node1");
    let masks = [("0", "0f0f"), ("1", "f0f0")];
    for (number, mask) in masks {
        tree = tree.file(format!("{node}/node{number}/cpumap"), format!("{mask}\n")).file(
            format!("{node}/node{number}/meminfo"),
            format!("Node {number} MemTotal: 1048576 kB\n"),
        );
    }
    for cpu in 0..16 {
        // What lstopo reads are masks.
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
        let (core, package) = (0x101 << (cpu % 8), if cpu % 8 < 4 { 0x0f0f } else { 0xf0f0 });
        let l3 = 0x303 << (cpu % 8 / 2 * 2);
        tree = tree
            .file(format!("{folder}/topology/thread_siblings"), format!("{core:04x}\n"))
            .file(format!("{folder}/topology/core_siblings"), format!("{package:04x}\n"));
        for (index, mask) in [core, core, l3].iter().enumerate() {
            let file = format!("{folder}/cache/index{index}/shared_cpu_map");
            tree = tree.file(file, format!("{mask:04x}\n"));
            // The kernel writes nothing but K.
            if index == 2 {
                tree = tree.file(format!("{folder}/cache/index2/size"), "16384K\n");
            }
        }
    }
    for (address, class, number, mask) in [
        ("0000:01:00.0", "0x010802", "0", "0f0f"),
        ("0000:02:00.0", "0x020000", "1", "f0f0"),
        ("0000:03:00.0", "0x030200", "-1", "ffff"),
        ("0000:04:00.0", "0x0c0330", "0", "0f0f"),
    ] {
        let bus = &address[..7];
        let folder = format!("/sys/devices/pci{bus}/{address}");
        let configuration = [0u8; 256];
        tree = tree
            .file(format!("{folder}/class"), format!("{class}\n"))
            .file(format!("{folder}/vendor"), "0x8086\n")
            .file(format!("{folder}/device"), "0x1234\n")
            .file(format!("{folder}/numa_node"), format!("{number}\n"))
            .file(format!("{folder}/local_cpus"), format!("{mask}\n"))
            .file(format!("{folder}/config"), configuration)
            .link(
                format!("/sys/bus/pci/devices/{address}"),
                format!("../../../devices/pci{bus}/{address}"),
            );
    }
    tree
}

/// Returns what becalm says, a line for each part of the machine.
fn ours(tree: &Path) -> BTreeSet<String> {
    let root = SysRoot::new(tree);
    let mut topology = Topology::read(&root).unwrap();
    topology.read_devices(&root);
    let mut all = BTreeSet::new();
    let mut add = |what: String, cpus: &CpuSet| all.insert(format!("{what} with CPUs {cpus}"));
    for cache in &topology.caches {
        let letter = match cache.content {
            CacheContent::Instruction => "i",
            CacheContent::Data | CacheContent::Unified => "",
        };
        add(format!("L{}{letter} of {}", cache.level, cache.size.unwrap_or(0)), &cache.cpus);
    }
    for package in &topology.packages {
        add("package".to_owned(), &package.cpus);
    }
    for die in &topology.dies {
        add("die".to_owned(), &die.cpus);
    }
    for node in &topology.nodes {
        let near = if node.near.is_empty() { &topology.online } else { &node.near };
        add(format!("node {}", node.id), near);
    }
    if topology.nodes.is_empty() {
        // Where the kernel knows no nodes both make one.
        add("node 0".to_owned(), &topology.online);
    }
    if !has_modules(tree) {
        for core in &topology.cores {
            add("core".to_owned(), &core.cpus);
        }
    }
    for device in &topology.devices {
        add(device.address.clone(), device.cpus.as_ref().unwrap_or(&topology.online));
    }
    all
}

/// `lstopo` undoes what the kernel says of AMD's families 21 and 22, whose cores come in pairs; we keep the pairs.
fn has_modules(tree: &Path) -> bool {
    let text = std::fs::read_to_string(tree.join("proc/cpuinfo")).unwrap_or_default();
    let family = text.lines().find(|line| line.starts_with("cpu family")).unwrap_or_default();
    [": 21", ": 22"].iter().any(|end| family.ends_with(end))
}

/// Returns what `lstopo` says, in the same words; `None` where it is not installed.
fn lstopo(tree: &Path) -> Option<BTreeSet<String>> {
    let mut command = Command::new("lstopo-no-graphics");
    command.env("HWLOC_HIDE_ERRORS", "2").args(["--disallowed", "--of", "xml", "--input"]);
    let output = command.arg(tree).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut all = BTreeSet::new();
    // The CPUs of what is open: an I/O object has none and lies in one that has.
    let mut open: Vec<CpuSet> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line == "</object>" {
            open.pop();
        }
        let Some(object) = line.strip_prefix("<object ") else { continue };
        let field = |name: &str| {
            let (_, rest) = object.split_once(&format!("{name}=\""))?;
            rest.split('"').next()
        };
        let cpus = field(" cpuset").map(mask).or_else(|| open.last().cloned()).unwrap_or_default();
        if let Some(what) = part(field, has_modules(tree)) {
            all.insert(format!("{what} with CPUs {cpus}"));
        }
        if !line.ends_with("/>") {
            open.push(cpus);
        }
    }
    Some(all)
}

/// Returns what an object is in our words, if it is something that is compared.
fn part<'a>(field: impl Fn(&str) -> Option<&'a str>, has_modules: bool) -> Option<String> {
    let size = || field("cache_size").unwrap_or("0");
    let number = || field("os_index").unwrap_or("?");
    match field("type")? {
        "Package" => Some("package".to_owned()),
        "Die" => Some("die".to_owned()),
        "Core" if !has_modules => Some("core".to_owned()),
        "NUMANode" => Some(format!("node {}", number())),
        "PCIDev" => {
            let class = &field("pci_type")?[..4];
            let is_shown = ["01", "02", "03", "0b", "12"].iter().any(|one| class.starts_with(one))
                || ["0c04", "0c06", "0502"].contains(&class);
            is_shown.then(|| field("pci_busid").map(str::to_owned))?
        }
        kind => {
            let level = kind.strip_suffix("Cache")?.strip_prefix('L')?;
            Some(format!("L{level} of {}", size()))
        }
    }
}

/// Reads `0xf,,0x1`: words of 32 bits, the most significant first, nothing for zero.
fn mask(text: &str) -> CpuSet {
    let words = text.rsplit(',').zip(0u32..);
    words
        .flat_map(|(word, index)| {
            let bits = u32::from_str_radix(word.trim_start_matches("0x"), 16).unwrap_or(0);
            (0..32).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| index * 32 + bit)
        })
        .map(becalm_model::CpuId)
        .collect()
}
