//! How often firmware took the CPUs, by Intel's counter of system management interrupts (Nehalem and later: Intel SDM
//! volume 4, `MSR_SMI_COUNT`). Each takes all CPUs at once, for some 10 us to milliseconds, and no counter of the kernel
//! sees it. AMD and Arm count none.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use becalm_kernel::perf::group;
use becalm_model::CpuId;

use super::msr::{self, Event};
use crate::sysroot::SysRoot;

/// The number of the register.
const SMI_COUNT: u64 = 0x34;

/// Reads the counter of one CPU, which stands for all.
#[derive(Debug)]
pub struct SmiReader(Source);

#[derive(Debug)]
enum Source {
    /// The event of the PMU, which counts from when it was opened.
    Counter(OwnedFd),
    /// The register, which counts from the start of the machine.
    Register(File),
}

impl SmiReader {
    /// Opens the counter; `None` where there is none that this process may read, or where that takes longer than
    /// `budget`, because another CPU is interrupted for it.
    pub fn open(root: &SysRoot, cpu: CpuId, budget: Duration) -> Option<Self> {
        let counter = Event::find(root, "smi")
            .and_then(|event| group::open(event.kind, event.config, cpu.0, None).ok())
            .map(Source::Counter);
        let register = || msr::open(root, cpu).ok().map(Source::Register);
        let reader = Self(counter.or_else(register)?);
        let mut usual = Duration::MAX;
        for _ in 0..8 {
            let start = Instant::now();
            reader.read()?;
            usual = usual.min(start.elapsed());
        }
        (usual <= budget).then_some(reader)
    }

    /// Returns how many there were so far; only differences mean something.
    pub fn read(&self) -> Option<u64> {
        match &self.0 {
            // 32 bits of it count.
            Source::Register(file) => msr::read(file, SMI_COUNT).map(|count| count & 0xffff_ffff),
            Source::Counter(counter) => group::read(counter.as_fd()).ok().map(|[count]| count),
        }
    }
}
