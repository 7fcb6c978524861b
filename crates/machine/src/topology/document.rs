//! A topology as the document that leaves the process.

use becalm_model::wire::{
    TOPOLOGY_SCHEMA, TopologyCache, TopologyChoice, TopologyCore, TopologyCpu, TopologyDevice,
    TopologyDocument, TopologyGroup, TopologyKind, TopologyNode, TopologySideCache, Worded, Words,
    worded,
};
use becalm_model::{CpuId, CpuSet};

use super::{Cache, CacheContent, Cpu, Device, DeviceKind, Group, MemoryKind, Topology};
use crate::choice::Choice;

impl Topology {
    /// Returns the document of this topology. `choices` are those for a number of threads, or for
    /// as many as fit; `cpu_quota` is how many CPUs' worth of time the control groups allow.
    pub fn document(
        &self,
        cpu_quota: Option<f64>,
        choices: &[(Option<usize>, Choice)],
        words: &Words,
    ) -> TopologyDocument {
        TopologyDocument {
            schema: TOPOLOGY_SCHEMA.to_owned(),
            online: numbers(&self.online),
            offline: numbers(&self.offline),
            possible: numbers(&self.possible),
            allowed: numbers(&self.allowed),
            isolated: numbers(&self.isolated),
            nohz_full: numbers(&self.nohz_full),
            cpu_quota,
            cpus: self.cpus.iter().map(|cpu| self.cpu_document(cpu)).collect(),
            cores: self.core_documents(),
            cores_are_guessed: self.cores_are_guessed,
            packages: groups(&self.packages),
            dies: groups(&self.dies),
            clusters: groups(&self.clusters),
            books: groups(&self.books),
            drawers: groups(&self.drawers),
            nodes: self.node_documents(),
            caches: self.caches.iter().map(cache).collect(),
            kinds: self
                .kinds
                .iter()
                .map(|kind| TopologyKind { name: kind.name.clone(), cpus: numbers(&kind.cpus) })
                .collect(),
            devices: self.devices.iter().map(device).collect(),
            choices: choices
                .iter()
                .map(|(threads, choice)| TopologyChoice {
                    threads: *threads,
                    subject: numbers(&choice.subject),
                    housekeeping: numbers(&choice.housekeeping),
                    reason: Worded::of(&choice.reason, words.affinity),
                    limits: worded(&choice.limits, words.limit),
                })
                .collect(),
            limits: self
                .limits
                .iter()
                .map(|limit| Worded::of(&limit.clone().into(), words.limit))
                .collect(),
        }
    }

    fn cpu_document(&self, cpu: &Cpu) -> TopologyCpu {
        let within = |groups: &[Group]| groups.iter().position(|one| one.cpus.contains(cpu.id));
        TopologyCpu {
            id: cpu.id.0,
            core: cpu.core,
            package: cpu.package,
            die: within(&self.dies),
            cluster: within(&self.clusters),
            // The one node that stands for a machine without nodes.
            node: if self.nodes.is_empty() { Some(0) } else { cpu.node },
            kind: cpu.kind,
            siblings: numbers(&self.siblings_of(cpu.id)),
            allowed: self.allowed.contains(cpu.id),
            capacity: cpu.capacity,
            max_khz: cpu.max_khz,
            preference: cpu.preference,
        }
    }

    fn core_documents(&self) -> Vec<TopologyCore> {
        let core = |cpus: &CpuSet| {
            let first = cpus.first().and_then(|first: CpuId| self.cpu(first));
            TopologyCore {
                id: first.and_then(|cpu| cpu.core_id),
                cpus: numbers(cpus),
                package: first.map_or(0, |cpu| cpu.package),
                kind: first.map_or(0, |cpu| cpu.kind),
            }
        };
        self.cores.iter().map(|one| core(&one.cpus)).collect()
    }

    fn node_documents(&self) -> Vec<TopologyNode> {
        if self.nodes.is_empty() {
            let cpus = numbers(&self.online);
            return vec![TopologyNode { cpus, assumed: true, ..TopologyNode::default() }];
        }
        let node = |node: &super::Node| TopologyNode {
            id: node.id,
            cpus: numbers(&node.cpus),
            memory: node.memory,
            assumed: false,
            near: if node.cpus.is_empty() { numbers(&node.near) } else { Vec::new() },
            kind: node.kind.map(|kind| match kind {
                MemoryKind::Cxl => "cxl".to_owned(),
                MemoryKind::Persistent => "persistent".to_owned(),
            }),
            tier: node.tier,
            side_caches: node
                .side_caches
                .iter()
                .map(|cache| TopologySideCache { level: cache.level, size: cache.size })
                .collect(),
            read_bandwidth: node.read_bandwidth,
        };
        self.nodes.iter().map(node).collect()
    }
}

fn numbers(set: &CpuSet) -> Vec<u32> {
    set.iter().map(|cpu| cpu.0).collect()
}

fn groups(groups: &[Group]) -> Vec<TopologyGroup> {
    groups.iter().map(|one| TopologyGroup { id: one.id, cpus: numbers(&one.cpus) }).collect()
}

fn cache(cache: &Cache) -> TopologyCache {
    let (letter, content) = match cache.content {
        CacheContent::Data => ("d", "data"),
        CacheContent::Instruction => ("i", "instruction"),
        CacheContent::Unified => ("", "unified"),
    };
    TopologyCache {
        name: format!("L{}{letter}", cache.level),
        level: cache.level,
        content: content.to_owned(),
        size: cache.size,
        cpus: numbers(&cache.cpus),
    }
}

fn device(device: &Device) -> TopologyDevice {
    let kind = match device.kind {
        DeviceKind::Network => "network",
        DeviceKind::Storage => "storage",
        DeviceKind::Display => "display",
        DeviceKind::Accelerator => "accelerator",
        DeviceKind::Memory => "memory",
    };
    TopologyDevice {
        address: device.address.clone(),
        kind: kind.to_owned(),
        names: device.names.clone(),
        node: device.node,
        cpus: device.cpus.as_ref().map(numbers),
    }
}
