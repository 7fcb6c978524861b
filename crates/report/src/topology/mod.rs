//! How a machine is built, as text and as a picture.

mod devices;
mod layout;
mod parts;
mod svg;
mod text;

use becalm_model::CpuId;
use becalm_model::CpuSet;
use becalm_model::wire::{TopologyDocument, TopologyNode};

pub use svg::topology_svg;
pub use text::topology_text;

/// Writes CPU numbers as a list such as `0-3,8`.
fn list(cpus: &[u32]) -> String {
    cpus.iter().copied().map(CpuId).collect::<CpuSet>().to_string()
}

fn cpu_word(number: usize) -> &'static str {
    if number == 1 { "CPU" } else { "CPUs" }
}

/// Writes what a NUMA node is, in one line.
fn node_title(document: &TopologyDocument, node: &TopologyNode) -> String {
    let mut title = format!("NUMA node {}", node.id);
    let mut add = |text: String| {
        title.push_str(", ");
        title.push_str(&text);
    };
    match (node.memory.map(size), node.kind.as_deref()) {
        (Some(size), Some(kind)) => add(format!("{size} {}", memory_word(kind))),
        (Some(size), None) => add(size),
        (None, Some(kind)) => add(memory_word(kind).to_owned()),
        (None, None) => {}
    }
    for cache in &node.side_caches {
        let bytes = cache.size.map_or("unknown size".to_owned(), size);
        add(format!("memory-side cache of {bytes}"));
    }
    if document.nodes.iter().any(|other| other.tier != node.tier)
        && let Some(tier) = node.tier
    {
        add(format!("tier {tier}"));
    }
    if node.cpus.is_empty() {
        if let Some(bandwidth) = node.read_bandwidth {
            add(format!("{} a second", size(bandwidth << 20)));
        }
        add("no online CPU".to_owned());
        if !node.near.is_empty() {
            add(format!("nearest: {} {}", cpu_word(node.near.len()), list(&node.near)));
        }
    }
    title
}

fn memory_word(kind: &str) -> &str {
    match kind {
        "cxl" => "of CXL memory",
        "persistent" => "of persistent memory",
        other => other,
    }
}

/// Writes a size in binary units, with decimals only if they matter: `1.25 MiB`.
fn size(bytes: u64) -> String {
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let Some(&(scale, unit)) = units.iter().find(|(scale, _)| bytes >= *scale) else {
        return format!("{bytes} B");
    };
    let value = bytes as f64 / scale as f64;
    let decimals = usize::from(scale < 1 << 30) * 2;
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let shown = [512, 48 << 10, 1280 << 10, 24 << 20, 33_000_000_000].map(size);
        assert_eq!(shown, ["512 B", "48 KiB", "1.25 MiB", "24 MiB", "31 GiB"]);
    }
}
