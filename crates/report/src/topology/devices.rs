//! PCI devices grouped by what they are and where they are.

use becalm_model::wire::{TopologyDevice, TopologyDocument};

use super::{cpu_word, list};

/// Devices of one kind at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// `network`, `storage` ...
    pub(super) kind: String,
    /// Index of their node, where it is known.
    node: Option<usize>,
    /// The CPUs that are near; empty if they are unknown.
    pub(super) cpus: Vec<u32>,
    /// Each device with a name: `eth0 (0000:01:00.0)`. Then those without: `4 without a name (0000:02:00.0 ...)`.
    pub(super) entries: Vec<String>,
}

/// Returns the devices in groups, in the order of places: known ones first.
pub(super) fn groups(document: &TopologyDocument) -> Vec<Group> {
    let mut sorted: Vec<&TopologyDevice> = document.devices.iter().collect();
    let place = |one: &TopologyDevice| {
        let node = one.node.map_or(usize::MAX, |node| node);
        (node, one.cpus.is_none(), one.cpus.clone(), one.kind.clone())
    };
    sorted.sort_by_key(|one| place(one));
    let together = sorted.chunk_by(|one, other| place(one) == place(other));
    together.map(group).collect()
}

fn group(devices: &[&TopologyDevice]) -> Group {
    let named = devices.iter().filter(|one| !one.names.is_empty());
    let mut entries: Vec<String> =
        named.map(|one| format!("{} ({})", one.names.join(", "), one.address)).collect();
    let bare: Vec<&str> =
        devices.iter().filter(|one| one.names.is_empty()).map(|one| one.address.as_str()).collect();
    match bare[..] {
        [] => {}
        [one] => entries.push(one.to_owned()),
        // The functions of a network card can be hundreds.
        [first, .., last] => entries.push(format!("{} from {first} to {last}", bare.len())),
    }
    let first = devices[0];
    Group {
        kind: first.kind.clone(),
        node: first.node,
        cpus: first.cpus.clone().unwrap_or_default(),
        entries,
    }
}

impl Group {
    /// Returns the group as a line of a list.
    pub(super) fn line(&self, document: &TopologyDocument) -> String {
        let place = self.place(document).map_or(String::new(), |place| format!("{place}: "));
        format!("{place}{} {}", self.kind, self.entries.join(", "))
    }

    /// Returns where they are; `None` on a machine where every place is the same.
    fn place(&self, document: &TopologyDocument) -> Option<String> {
        let cpus = (!self.cpus.is_empty())
            .then(|| format!("near {} {}", cpu_word(self.cpus.len()), list(&self.cpus)));
        match (self.node.and_then(|node| document.nodes.get(node)), cpus) {
            _ if document.nodes.len() < 2 && self.cpus.len() == document.online.len() => None,
            (None, None) if document.nodes.len() < 2 => None,
            (None, None) => Some("NUMA node unknown".to_owned()),
            (None, Some(cpus)) => Some(cpus),
            (Some(node), Some(cpus)) if node.cpus != self.cpus => {
                Some(format!("NUMA node {}, {cpus}", node.id))
            }
            (Some(node), _) => Some(format!("NUMA node {}", node.id)),
        }
    }
}
