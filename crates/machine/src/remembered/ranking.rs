//! Which CPUs lose less time to interruptions, as `becalm noise probe` found it.
//!
//! The ranking is a small file that outlives the probe. It is about one boot of one machine with one
//! kernel: whatever differs makes it stale, because interrupts and kernel threads may be elsewhere by
//! now.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use becalm_model::wire::{CPU_NOISE_SCHEMA, CpuNoiseDocument, check_readable};
use becalm_model::{CpuId, whole};

use super::{Identity, read, save};
use crate::sysroot::SysRoot;

const NAME: &str = "cpu-noise.json";

/// The CPUs in tiers, by the time that they lose to interruptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoiseRanking {
    cpus: BTreeMap<CpuId, Rank>,
}

/// The place of one CPU in a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// 0 for the quietest CPUs; CPUs of one tier cannot be distinguished.
    pub tier: usize,
    /// Time lost, in millionths.
    pub lost_ppm: u64,
}

impl NoiseRanking {
    /// Puts a ranking together, for tests and for who has just measured it.
    pub fn new(cpus: impl IntoIterator<Item = (CpuId, Rank)>) -> Self {
        Self { cpus: cpus.into_iter().collect() }
    }

    /// Returns the tier of a CPU. One that was not probed counts as quiet: nothing is known against
    /// it.
    pub fn tier(&self, cpu: CpuId) -> usize {
        self.cpus.get(&cpu).map_or(0, |rank| rank.tier)
    }

    /// Returns the place of a CPU that was probed.
    pub fn rank(&self, cpu: CpuId) -> Option<Rank> {
        self.cpus.get(&cpu).copied()
    }

    /// Reads the ranking that was measured last in this boot; `None` without one.
    pub fn read(root: &SysRoot) -> Option<Self> {
        let this = Identity::read(root);
        let valid = read(root, NAME).filter(|document: &CpuNoiseDocument| {
            let is_known = check_readable(&document.schema, &[CPU_NOISE_SCHEMA]).is_ok();
            is_known && is_about(document, &this)
        });
        let latest = valid.max_by_key(|document| document.measured_at)?;
        Some(Self::of(&latest))
    }

    fn of(document: &CpuNoiseDocument) -> Self {
        let ppm = |share: f64| whole((share.clamp(0.0, 1.0) * 1e6).round());
        Self::new(
            document.cpus.iter().map(|cpu| {
                (CpuId(cpu.cpu), Rank { tier: cpu.tier, lost_ppm: ppm(cpu.lost_share) })
            }),
        )
    }

    /// Saves a ranking for this boot of this machine and returns where. The fields of `document` that
    /// say which machine and boot it is about are filled in.
    pub fn save(root: &SysRoot, document: CpuNoiseDocument) -> io::Result<PathBuf> {
        let Identity { boot_id, kernel, cpu_model } = Identity::read(root);
        let schema = CPU_NOISE_SCHEMA.to_owned();
        let document = CpuNoiseDocument { schema, boot_id, kernel, cpu_model, ..document };
        save(root, NAME, &serde_json::to_string_pretty(&document)?)
    }
}

fn is_about(document: &CpuNoiseDocument, this: &Identity) -> bool {
    let theirs = (&document.boot_id, &document.kernel, &document.cpu_model);
    // Without a boot id nobody can tell whether it is stale.
    !this.boot_id.is_empty() && theirs == (&this.boot_id, &this.kernel, &this.cpu_model)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use becalm_model::wire::RankedCpu;
    use becalm_testkit::FakeTree;

    fn machine() -> FakeTree {
        FakeTree::new()
            .file("/proc/sys/kernel/random/boot_id", "this-boot\n")
            .file("/proc/sys/kernel/osrelease", "6.12.0\n")
            .file("/proc/cpuinfo", "processor: 0\nmodel name: Fast CPU\n")
    }

    fn ranking() -> CpuNoiseDocument {
        let cpu =
            |cpu, tier, lost_share| RankedCpu { cpu, tier, lost_share, ..RankedCpu::default() };
        CpuNoiseDocument { cpus: vec![cpu(2, 0, 1e-4), cpu(0, 1, 0.02)], ..Default::default() }
    }

    #[test]
    fn a_saved_ranking_is_read_in_the_same_boot() {
        let tree = machine();
        let root = SysRoot::new(tree.path());
        assert_eq!(NoiseRanking::read(&root), None);
        let place = NoiseRanking::save(&root, ranking()).unwrap();
        assert_eq!(place, Path::new("/var/lib/becalm/cpu-noise.json"));
        let read = NoiseRanking::read(&root).unwrap();
        assert_eq!([0, 1, 2].map(|cpu| read.tier(CpuId(cpu))), [1, 0, 0]);
        assert_eq!(read.rank(CpuId(0)).unwrap().lost_ppm, 20_000);
        assert_eq!(read.rank(CpuId(1)), None);
    }

    #[test]
    fn what_is_stale_is_as_good_as_none() {
        for (path, text) in [
            ("/proc/sys/kernel/random/boot_id", "another-boot\n"),
            ("/proc/sys/kernel/random/boot_id", ""),
            ("/proc/sys/kernel/osrelease", "6.13.0\n"),
            ("/proc/cpuinfo", "model name: Another CPU\n"),
            ("/var/lib/becalm/cpu-noise.json", "{"),
        ] {
            let tree = machine();
            let root = SysRoot::new(tree.path());
            NoiseRanking::save(&root, ranking()).unwrap();
            let tree = tree.file(path, text);
            assert_eq!(NoiseRanking::read(&SysRoot::new(tree.path())), None, "{path}: {text}");
        }
    }

    #[test]
    fn a_ranking_of_a_newer_version_is_left_alone() {
        let tree = machine();
        let root = SysRoot::new(tree.path());
        NoiseRanking::save(&root, ranking()).unwrap();
        let text = root.read("/var/lib/becalm/cpu-noise.json").value().unwrap();
        let tree = tree.file(
            "/var/lib/becalm/cpu-noise.json",
            text.replace("becalm/cpu-noise/1", "becalm/cpu-noise/2"),
        );
        assert_eq!(NoiseRanking::read(&SysRoot::new(tree.path())), None);
    }
}
