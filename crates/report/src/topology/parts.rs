//! The parts of a machine inside each other: by their sets of CPUs, as `lstopo` does it.

use std::collections::BTreeSet;

use becalm_model::wire::TopologyDocument;

use super::size;

/// A part of the machine and what lies in it. Parts with the same CPUs are one, with all their
/// titles from the outermost to the innermost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) titles: Vec<Title>,
    pub(super) cpus: BTreeSet<u32>,
    pub(super) parts: Vec<Part>,
    /// Index of the core that this is.
    pub(super) core: Option<usize>,
}

/// What a part is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Title {
    pub(super) text: String,
    pub(super) rank: Rank,
}

/// What a part is, the outermost first where two have the same CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Machine,
    Drawer,
    Book,
    Package,
    Node,
    Die,
    Cluster,
    /// A cache that several cores may share; the outer levels first.
    Cache {
        outward: u32,
    },
    /// A first-level cache.
    FirstLevel,
    Core,
}

impl Rank {
    /// The outermost cache: what comes before has a number of its own.
    pub(super) const CACHE: Self = Self::Cache { outward: 0 };
}

/// Returns the machine with everything in it.
pub(super) fn machine(document: &TopologyDocument) -> Part {
    let mut all = Vec::new();
    let mut add = |rank, text: String, cpus: &[u32], core| {
        if !cpus.is_empty() {
            all.push(Part {
                titles: vec![Title { text, rank }],
                cpus: cpus.iter().copied().collect(),
                parts: Vec::new(),
                core,
            });
        }
    };
    let groups = [
        (Rank::Drawer, "Drawer", &document.drawers),
        (Rank::Book, "Book", &document.books),
        (Rank::Package, "Package", &document.packages),
        (Rank::Die, "Die", &document.dies),
        (Rank::Cluster, "Cluster", &document.clusters),
    ];
    for (rank, word, groups) in groups {
        for (index, group) in groups.iter().enumerate() {
            let number = if group.id < 0 { format!("#{index}") } else { group.id.to_string() };
            add(rank, format!("{word} {number}"), &group.cpus, None);
        }
    }
    for node in document.nodes.iter().filter(|node| !node.assumed) {
        let memory = node.memory.map_or(String::new(), |bytes| format!(", {}", size(bytes)));
        add(Rank::Node, format!("NUMA node {}{memory}", node.id), &node.cpus, None);
    }
    for cache in &document.caches {
        let rank = match cache.level {
            1 => Rank::FirstLevel,
            level => Rank::Cache { outward: u32::MAX - level },
        };
        let bytes = cache.size.map_or(String::new(), |bytes| format!(" {}", size(bytes)));
        add(rank, format!("{}{bytes}", cache.name), &cache.cpus, None);
    }
    for (index, core) in document.cores.iter().enumerate() {
        let kind = document.kinds.get(core.kind).map_or("core", |kind| kind.name.as_str());
        add(Rank::Core, kind.to_owned(), &core.cpus, Some(index));
    }
    // Larger parts first, so that everything is put into what holds it.
    all.sort_by_key(|part| (usize::MAX - part.cpus.len(), part.titles[0].rank));
    let mut machine = Part {
        titles: vec![Title { text: "Machine".into(), rank: Rank::Machine }],
        cpus: document.online.iter().copied().collect(),
        parts: Vec::new(),
        core: None,
    };
    for part in all {
        insert(&mut machine, part);
    }
    sort(&mut machine);
    machine
}

/// Puts a part into the innermost one that holds it. A part that lies across others, as tables of
/// faulty firmware have them, is left out of the picture.
fn insert(into: &mut Part, part: Part) {
    if let Some(holder) = into.parts.iter_mut().find(|one| one.cpus.is_superset(&part.cpus)) {
        if holder.cpus == part.cpus {
            holder.titles.extend(part.titles);
            holder.core = holder.core.or(part.core);
        } else {
            insert(holder, part);
        }
    } else if into.parts.iter().all(|one| one.cpus.is_disjoint(&part.cpus)) {
        into.parts.push(part);
    }
}

fn sort(part: &mut Part) {
    part.parts.sort_by_key(|one| one.cpus.first().copied());
    part.parts.iter_mut().for_each(sort);
}
