//! The parts of a machine inside each other: by their sets of CPUs, as `lstopo` does it.

use std::collections::BTreeSet;

use becalm_model::wire::TopologyDocument;

use super::{devices, node_title, size};

/// A part of the machine and what lies in it. Parts with the same CPUs are one, with all their
/// titles from the outermost to the innermost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) titles: Vec<Title>,
    pub(super) cpus: BTreeSet<u32>,
    pub(super) parts: Vec<Part>,
    /// Index of the core that this is.
    pub(super) core: Option<usize>,
    /// What lies here without CPUs of its own.
    pub(super) beside: Vec<Beside>,
}

/// Memory or devices, which lie near CPUs and have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Beside {
    /// A NUMA node, by its title.
    Node(String),
    /// PCI devices.
    Devices(devices::Group),
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
                beside: Vec::new(),
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
        add(Rank::Node, node_title(document, node), &node.cpus, None);
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
        beside: Vec::new(),
    };
    for part in all {
        insert(&mut machine, part);
    }
    for node in document.nodes.iter().filter(|node| node.cpus.is_empty()) {
        let title = node_title(document, node);
        innermost(&mut machine, &node.near).beside.push(Beside::Node(title));
    }
    for group in devices::groups(document) {
        let holder = innermost(&mut machine, &group.cpus);
        holder.beside.push(Beside::Devices(group));
    }
    sort(&mut machine);
    machine
}

/// Returns the innermost part that holds all of `cpus`, and is not part of a core; the machine if
/// they are unknown.
fn innermost<'a>(part: &'a mut Part, cpus: &[u32]) -> &'a mut Part {
    let holds = |one: &Part| {
        let is_larger = one.titles.iter().any(|title| title.rank < Rank::CACHE);
        is_larger && !cpus.is_empty() && cpus.iter().all(|cpu| one.cpus.contains(cpu))
    };
    match part.parts.iter().position(holds) {
        Some(index) => innermost(&mut part.parts[index], cpus),
        None => part,
    }
}

/// Puts a part into the innermost one that holds it. A part that lies across others, as tables of
/// faulty firmware have them, is not drawn.
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

/// Returns how many parts at the front are cores that are alike, one where the first is none.
pub(super) fn alike_at_front(parts: &[Part]) -> usize {
    let Some(first) = parts.first() else { return 0 };
    parts.iter().take_while(|one| alike(first, one)).count().max(1)
}

/// Says whether two cores can be shown as one.
fn alike(one: &Part, other: &Part) -> bool {
    one.core.is_some()
        && other.core.is_some()
        && one.cpus.len() == other.cpus.len()
        && [one, other].iter().all(|core| core.titles.iter().all(|title| Rank::CACHE <= title.rank))
        && one.inner_titles() == other.inner_titles()
}

impl Part {
    /// Returns the titles of some ranks.
    pub(super) fn titles_where(&self, shown: impl Fn(Rank) -> bool) -> Vec<String> {
        let titles = self.titles.iter().filter(|title| shown(title.rank));
        titles.map(|title| title.text.clone()).collect()
    }

    /// Returns the caches of a core and its kind, without those of the first level, which all have.
    pub(super) fn inner_titles(&self) -> Vec<String> {
        self.titles_where(|rank| Rank::CACHE <= rank && rank != Rank::FirstLevel)
    }
}
