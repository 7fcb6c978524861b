//! Captures of real machines beside what `lstopo` or `lscpu` says about them.
//!
//! `BECALM_MACHINE_TREES` names a folder with one folder for each machine, `NAME`, and beside it
//! `NAME.lstopo.txt` (from `lstopo -`) or `NAME.expected.txt` (from `lscpu` and `lscpu -p`). Every
//! such pair is compared, whatever its name. Without the folder the test is skipped.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;

use becalm_machine::{SysRoot, Topology};
use becalm_model::wire::{TopologyDocument, Words};
use becalm_testkit::skipped;

#[test]
fn every_capture_is_built_as_others_say() {
    let Some(folder) = std::env::var_os("BECALM_MACHINE_TREES") else {
        skipped("BECALM_MACHINE_TREES names no folder of captured machines");
        return;
    };
    let mut compared = 0;
    let mut differences = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        for (ending, compare) in ANSWERS {
            let Some(name) = name.strip_suffix(ending) else { continue };
            let answer = std::fs::read_to_string(&path).unwrap();
            let tree = path.with_file_name(name);
            compared += 1;
            let ours = document(&tree);
            let found = compare(&answer, &ours, &tree);
            differences.extend(found.into_iter().map(|one| format!("{name}: {one}")));
        }
    }
    if compared == 0 {
        skipped(&format!("{} holds no answers of lstopo or lscpu", Path::new(&folder).display()));
    }
    assert_eq!(differences, Vec::<String>::new());
}

type Compare = fn(&str, &TopologyDocument, &Path) -> Vec<String>;
const ANSWERS: [(&str, Compare); 2] = [(".lstopo.txt", lstopo), (".expected.txt", lscpu)];

fn document(tree: &Path) -> TopologyDocument {
    let topology = Topology::read(&SysRoot::new(tree)).unwrap();
    topology.document(None, &[], &Words::NONE)
}

/// Says where two values differ.
fn differ(what: &str, theirs: &dyn Display, ours: &dyn Display) -> Option<String> {
    let (theirs, ours) = (theirs.to_string(), ours.to_string());
    (theirs != ours).then(|| format!("{what}: they say {theirs}, we say {ours}"))
}

fn caches(ours: &TopologyDocument, name: &str) -> usize {
    ours.caches.iter().filter(|cache| cache.name == name).count()
}

/// Compares the counts of `depth N: COUNT TYPE`, the CPUs and the kinds of CPUs.
fn lstopo(answer: &str, ours: &TopologyDocument, tree: &Path) -> Vec<String> {
    let count = |kind: &str| {
        answer.lines().filter(|line| line.contains("epth ")).find_map(|line| {
            let mut words = line.split_once(':')?.1.split_whitespace();
            let number = words.next()?.parse::<usize>().ok()?;
            (words.next()? == kind).then_some(number)
        })
    };
    let mut found = Vec::new();
    let mut compare = |kind: &str, ours: usize| {
        // It leaves out a level that the kernel says nothing about.
        found.extend(count(kind).and_then(|theirs| differ(kind, &theirs, &ours)));
    };
    // It leaves out what may not be used.
    let allowed: BTreeSet<u32> = ours.allowed.iter().copied().collect();
    let usable = |cpus: &[u32]| cpus.iter().any(|cpu| allowed.contains(cpu));
    compare("Package", ours.packages.iter().filter(|one| usable(&one.cpus)).count());
    if allowed.len() == ours.online.len() {
        compare("NUMANode", ours.nodes.len());
    }
    let names = [("L1dCache", "L1d"), ("L1iCache", "L1i"), ("L2Cache", "L2"), ("L3Cache", "L3")];
    for (theirs, name) in names {
        let own = ours.caches.iter().filter(|cache| cache.name == name && usable(&cache.cpus));
        compare(theirs, own.count());
    }
    // It undoes what the kernel says of AMD's families 21 and 22, whose cores come in pairs that share
    // the front end and the floating point unit; we keep the pairs, as `lscpu` does.
    let cpuinfo = std::fs::read_to_string(tree.join("proc/cpuinfo")).unwrap_or_default();
    let in_pairs = |line: &str| {
        line.starts_with("cpu family") && [": 21", ": 22"].iter().any(|end| line.ends_with(end))
    };
    if !cpuinfo.lines().any(in_pairs) {
        compare("Core", ours.cores.iter().filter(|core| usable(&core.cpus)).count());
    }
    let theirs: BTreeSet<u32> = answer
        .lines()
        .filter_map(|line| line.trim().strip_prefix("PU L#")?.split_once("(P#")?.1.split_once(')'))
        .filter_map(|(number, _)| number.parse().ok())
        .collect();
    found.extend(differ("CPUs", &format!("{theirs:?}"), &format!("{allowed:?}")));
    let kinds: BTreeSet<Vec<u32>> = answer
        .lines()
        .filter_map(|line| line.strip_prefix("CPU kind")?.split_once("cpuset "))
        .map(|(_, mask)| mask_cpus(mask))
        .collect();
    if kinds.len() > 1 {
        let own: BTreeSet<Vec<u32>> = ours.kinds.iter().map(|kind| kind.cpus.clone()).collect();
        found.extend(differ("kinds", &format!("{kinds:?}"), &format!("{own:?}")));
    }
    found
}

/// Reads a mask such as `0x00000003,0x0000ffff`.
fn mask_cpus(text: &str) -> Vec<u32> {
    let words = text.trim().rsplit(',').zip(0u32..);
    words
        .flat_map(|(word, index)| {
            let bits = u32::from_str_radix(word.trim_start_matches("0x"), 16).unwrap_or(0);
            (0..32).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| index * 32 + bit)
        })
        .collect()
}

/// Compares the summary and the tables of `lscpu`.
fn lscpu(answer: &str, ours: &TopologyDocument, _: &Path) -> Vec<String> {
    let values = |key: &str| -> Vec<&str> {
        let lines = answer.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(found, _)| *found == key).map(|(_, value)| value.trim()).collect()
    };
    let sum_of_products = || {
        let (cores, sockets) = (values("Core(s) per socket"), values("Socket(s)"));
        let number = |text: &&str| text.parse::<usize>().unwrap_or(0);
        cores.iter().zip(&sockets).map(|(a, b)| number(a) * number(b)).sum::<usize>()
    };
    let tables = tables(answer);
    let mut found = Vec::new();
    if let Some(logical) = tables.first() {
        let cpus = logical.column("CPU").collect::<BTreeSet<_>>().len();
        found.extend(differ("CPUs", &cpus, &ours.cpus.len()));
        let models: BTreeSet<&str> = values("Model name").into_iter().collect();
        if models.len() > 1 {
            found.extend(differ("cores", &sum_of_products(), &ours.cores.len()));
            found.extend(differ("kinds", &models.len(), &ours.kinds.len()));
        } else {
            let cores = logical.column("Core").collect::<BTreeSet<_>>().len();
            found.extend(differ("cores", &cores, &ours.cores.len()));
            let sockets: BTreeSet<&str> = logical.column("Socket").collect();
            if !sockets.contains("") {
                found.extend(differ("packages", &sockets.len(), &ours.packages.len()));
            }
        }
    }
    if let Some(nodes) = values("NUMA node(s)").first() {
        found.extend(differ("nodes", &nodes, &ours.nodes.len()));
    }
    for name in ["L1d", "L1i", "L2", "L3"] {
        let instances = values(&format!("{name} cache"));
        let instances = instances.first().and_then(|text| text.split_once('('));
        if let Some((count, _)) = instances.and_then(|(_, rest)| rest.split_once(' ')) {
            found.extend(differ(name, &count, &caches(ours, name)));
        }
    }
    found
}

struct Table<'a> {
    titles: Vec<&'a str>,
    rows: Vec<Vec<&'a str>>,
}

impl<'a> Table<'a> {
    fn column(&self, title: &str) -> impl Iterator<Item = &'a str> {
        let index = self.titles.iter().position(|one| *one == title);
        self.rows.iter().filter_map(move |row| Some(row.get(index?).copied().unwrap_or("")))
    }
}

fn tables(answer: &str) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    for line in answer.lines() {
        if let Some(titles) = line.strip_prefix("# CPU,") {
            let titles = std::iter::once("CPU").chain(titles.split(',')).collect();
            tables.push(Table { titles, rows: Vec::new() });
        } else if let Some(table) = tables.last_mut()
            && line.starts_with(|c: char| c.is_ascii_digit())
        {
            table.rows.push(line.split(',').collect());
        }
    }
    tables
}
