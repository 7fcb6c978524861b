//! Whether CPUs that share a cache with those of the subjects are busy: what runs there displaces what the subjects
//! keep in it.

use becalm_machine::{Activity, ActivityReader, SysRoot};
use becalm_model::{CpuSet, PlacementLimit, whole};

/// CPU time of the neighbours from which they matter, as a share of the time of one CPU.
const BUSY: f64 = 0.25;

/// Seconds from which busy time, which comes in steps of the tick (10 ms), says how busy they were.
const LEAST: f64 = 0.5;

/// CPUs at one level of cache, since a moment.
#[derive(Debug)]
pub(super) struct Neighbours {
    level: u32,
    cpus: CpuSet,
    opened: Activity,
}

impl Neighbours {
    /// Starts to watch the CPUs that share a cache of this level with the subjects'; nothing if
    /// there are none.
    pub(super) fn watch(root: &SysRoot, level: u32, cpus: CpuSet) -> Option<Self> {
        let opened = (!cpus.is_empty()).then(|| read(root, &cpus))?;
        Some(Self { level, cpus, opened })
    }

    /// Says so where they were busy since.
    pub(super) fn limit(&self, root: &SysRoot) -> Option<PlacementLimit> {
        let now = read(root, &self.cpus);
        let time = now.at.saturating_sub(self.opened.at).as_secs_f64();
        if time < LEAST {
            return None;
        }
        let share = (now.busy? - self.opened.busy?) / time;
        (share >= BUSY).then(|| PlacementLimit::BusyNeighbours {
            level: self.level,
            cpus: self.cpus.clone(),
            busy_percent: whole(share * 100.0),
        })
    }
}

fn read(root: &SysRoot, cpus: &CpuSet) -> Activity {
    ActivityReader::open(root, cpus).read()
}
