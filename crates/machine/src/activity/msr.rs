//! Registers of a CPU that count: as events of the kernel's PMU `msr`, which root or `kernel.perf_event_paranoid` of 0
//! may count on a whole CPU, and as `/dev/cpu/N/msr` where that driver is loaded.

use std::fs::File;
use std::os::unix::fs::FileExt;

use becalm_model::CpuId;

use crate::sysroot::SysRoot;

/// The kernel's PMU of these registers.
const PMU: &str = "/sys/bus/event_source/devices/msr";

/// An event of the PMU as `perf_event_open` takes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) kind: u32,
    pub(super) config: u64,
}

impl Event {
    /// Finds an event by its name; `None` where the processor or the machine has none.
    pub(super) fn find(root: &SysRoot, name: &str) -> Option<Self> {
        // Counters are those of the machine that this process runs on.
        if !root.is_live() {
            return None;
        }
        let kind = root.parse(format!("{PMU}/type"))?;
        let text = root.read(format!("{PMU}/events/{name}")).value()?;
        let digits = text.strip_prefix("event=")?;
        let config = match digits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => digits.parse().ok()?,
        };
        Some(Self { kind, config })
    }
}

/// Opens the registers of a CPU; an error is a sentence fragment.
pub(super) fn open(root: &SysRoot, cpu: CpuId) -> Result<File, String> {
    let path = format!("/dev/cpu/{cpu}/msr");
    root.open(&path).of(path)
}

/// Reads a register; `None` where the CPU has none of this number.
pub(super) fn read(file: &File, number: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, number).ok()?;
    Some(u64::from_ne_bytes(bytes))
}
