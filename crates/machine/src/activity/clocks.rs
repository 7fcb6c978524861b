//! The clocks inside a CPU that tell at which frequency it really ran.
//!
//! While a CPU runs anything, APERF counts at its actual and MPERF at its nominal frequency, which is that
//! of the time stamp counter; both stand while it is idle (Intel SDM volume 3, 15.2; AMD APM volume 2,
//! 17.3.2). Between two readings
//!
//! `frequency = dAPERF / dMPERF * dTSC / dt`
//!
//! is the mean over the time in which the CPU ran, to within a per cent where MPERF and TSC differ a
//! little (Intel client processors since Skylake).

use std::fmt;
use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use becalm_model::{CpuId, CpuSet};

use super::msr::{self, Event};
use crate::sysroot::SysRoot;
use becalm_kernel::clock;
use becalm_kernel::perf::group;

/// At most this many CPUs are asked, because each but our own is interrupted for it.
const CPUS: usize = 4;

/// Numbers of the registers (`arch/x86/include/asm/msr-index.h`).
const TSC: u64 = 0x10;
const MPERF: u64 = 0xe7;
const APERF: u64 = 0xe8;

/// The clocks of some CPUs, summed; they wrap around.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clocks {
    /// When they were read, by `CLOCK_MONOTONIC`.
    pub at: Duration,
    /// Counts at the actual frequency, while the CPU runs something.
    pub aperf: u64,
    /// Counts at the nominal frequency, while the CPU runs something.
    pub mperf: u64,
    /// Counts at the nominal frequency, always.
    pub tsc: u64,
    /// How many CPUs are in the sums.
    pub cpus: u32,
}

impl Clocks {
    /// Returns the mean frequency in hertz at which the CPUs ran since an earlier reading; `None` when
    /// they did not run, or counted so little that rounding decides.
    pub fn frequency_since(&self, earlier: &Self) -> Option<f64> {
        /// Counts that are worth a ratio: less than a microsecond of any CPU.
        const FEWEST: u64 = 1000;
        let [aperf, mperf, tsc] =
            [(self.aperf, earlier.aperf), (self.mperf, earlier.mperf), (self.tsc, earlier.tsc)]
                .map(|(now, before)| now.wrapping_sub(before));
        let seconds = self.at.checked_sub(earlier.at)?.as_secs_f64() * f64::from(self.cpus);
        if mperf < FEWEST || seconds <= 0.0 || self.cpus != earlier.cpus {
            return None;
        }
        let hertz = aperf as f64 / mperf as f64 * (tsc as f64 / seconds);
        // A register that a hypervisor only pretends to have gives anything.
        (1e7..1e11).contains(&hertz).then_some(hertz)
    }

    fn with(self, [aperf, mperf, tsc]: [u64; 3]) -> Self {
        Self {
            at: self.at,
            aperf: self.aperf.wrapping_add(aperf),
            mperf: self.mperf.wrapping_add(mperf),
            tsc: self.tsc.wrapping_add(tsc),
            cpus: self.cpus + 1,
        }
    }
}

/// Reads the clocks of a few CPUs again and again.
#[derive(Debug)]
pub(super) struct ClockReader {
    cpus: Vec<Cpu>,
}

/// The open files of one CPU.
#[derive(Debug)]
enum Cpu {
    /// A group of counters: APERF, MPERF, TSC.
    Counters { leader: OwnedFd, _members: [OwnedFd; 2] },
    /// The registers themselves.
    Registers(File),
}

impl fmt::Display for ClockReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.cpus.first() {
            Some(Cpu::Registers(_)) => "/dev/cpu/N/msr",
            _ => "the counters aperf and mperf",
        })
    }
}

impl ClockReader {
    /// Opens the clocks of a few of `cpus`, spread evenly; an error is a sentence fragment.
    pub(super) fn open(root: &SysRoot, cpus: &CpuSet) -> Result<Self, String> {
        let step = cpus.len().div_ceil(CPUS).max(1);
        let chosen: Vec<CpuId> = cpus.iter().step_by(step).collect();
        let counters = |cpu: &CpuId| open_counters(root, *cpu);
        let opened = chosen.iter().map(counters).collect::<Result<Vec<_>, _>>().or_else(|why| {
            let registers = chosen.iter().map(|cpu| open_registers(root, *cpu));
            registers.collect::<Result<Vec<_>, _>>().map_err(|or| format!("{why}, and {or}"))
        });
        let reader = Self { cpus: opened? };
        // A hypervisor may offer the registers and refuse to read them.
        match reader.read() {
            Some(clocks) if clocks.cpus > 0 => Ok(reader),
            _ => Err(format!("{reader} cannot be read")),
        }
    }

    /// Reads all clocks; `None` when one cannot be read.
    pub(super) fn read(&self) -> Option<Clocks> {
        let start = Clocks { at: clock::monotonic_now(), ..Clocks::default() };
        self.cpus.iter().try_fold(start, |sum, cpu| Some(sum.with(cpu.read()?)))
    }

    /// Measures what a reading costs: the shortest of some.
    pub(super) fn cost(&self) -> Duration {
        let times = (0..8).map(|_| {
            let start = clock::monotonic_now();
            self.read();
            clock::monotonic_now().saturating_sub(start)
        });
        times.min().unwrap_or_default()
    }
}

impl Cpu {
    fn read(&self) -> Option<[u64; 3]> {
        match self {
            Self::Counters { leader, .. } => group::read(leader.as_fd()).ok(),
            Self::Registers(file) => {
                Some([msr::read(file, APERF)?, msr::read(file, MPERF)?, msr::read(file, TSC)?])
            }
        }
    }
}

fn open_counters(root: &SysRoot, cpu: CpuId) -> Result<Cpu, String> {
    if !root.is_live() {
        return Err("another machine's PMU cannot be read".to_owned());
    }
    let event = |name: &str| Event::find(root, name);
    let (Some(aperf), Some(mperf), Some(tsc)) = (event("aperf"), event("mperf"), event("tsc"))
    else {
        return Err("the kernel's PMU msr has no aperf and mperf here".to_owned());
    };
    let refused = |error: std::io::Error| {
        format!("aperf and mperf cannot be counted on CPU {cpu}: {error} (root can count them)")
    };
    let leader = group::open(aperf.kind, aperf.config, cpu.0, None).map_err(refused)?;
    let member = |event: Event| group::open(event.kind, event.config, cpu.0, Some(leader.as_fd()));
    let members = [member(mperf).map_err(refused)?, member(tsc).map_err(refused)?];
    Ok(Cpu::Counters { leader, _members: members })
}

fn open_registers(root: &SysRoot, cpu: CpuId) -> Result<Cpu, String> {
    msr::open(root, cpu).map(Cpu::Registers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two CPUs with a time stamp counter of 2 GHz, one second later.
    fn later(aperf: u64, mperf: u64) -> Clocks {
        Clocks { at: Duration::from_secs(6), aperf, mperf, tsc: 4_000_000_100, cpus: 2 }
    }

    const EARLIER: Clocks =
        Clocks { at: Duration::from_secs(5), aperf: 50, mperf: 70, tsc: 100, cpus: 2 };

    #[track_caller]
    fn check(aperf: u64, mperf: u64, expected: Option<f64>) {
        let found = later(50 + aperf, 70 + mperf).frequency_since(&EARLIER);
        assert_eq!(found.map(f64::round), expected);
    }

    #[test]
    fn the_frequency_is_that_of_the_time_in_which_the_cpus_ran() {
        check(2_000_000_000, 2_000_000_000, Some(2e9));
        // Idle half the time, and half as fast again as stated when not.
        check(1_500_000_000, 1_000_000_000, Some(3e9));
    }

    #[test]
    fn cpus_that_did_not_run_have_no_frequency() {
        check(0, 0, None);
        check(900, 900, None);
    }

    #[test]
    fn clocks_that_cannot_be_true_give_nothing() {
        check(0, 2_000_000_000, None);
        check(u64::MAX / 2, 2000, None);
        assert_eq!(EARLIER.frequency_since(&later(50, 70)), None);
    }

    #[test]
    fn clocks_may_wrap_around() {
        let earlier = Clocks { aperf: u64::MAX - 9, mperf: u64::MAX - 9, ..EARLIER };
        let now = later(1_999_999_990, 1_999_999_990);
        assert_eq!(now.frequency_since(&earlier).map(f64::round), Some(2e9));
    }
}
