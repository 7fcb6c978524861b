//! CPU set and scheduling class of the calling thread.

use std::io;

use becalm_model::{CpuId, CpuSet, MAX_CPU};

const WORDS: usize = (MAX_CPU as usize + 1) / 64;

/// A CPU set as the kernel takes it, large enough for any kernel.
#[derive(Clone)]
pub(crate) struct CpuMask([u64; WORDS]);

impl CpuMask {
    const BYTES: usize = WORDS * 8;

    pub(crate) fn new(set: &CpuSet) -> Self {
        let mut words = [0; WORDS];
        for cpu in set.iter() {
            // A larger number cannot be parsed into a set; were it built by hand, the empty or
            // smaller mask would still be refused or narrower, never a CPU that was not asked for.
            if let Some(word) = words.get_mut(cpu.0 as usize / 64) {
                *word |= 1 << (cpu.0 % 64);
            }
        }
        Self(words)
    }

    fn to_set(&self) -> CpuSet {
        let cpus = 0..=MAX_CPU;
        cpus.filter(|cpu| self.0[*cpu as usize / 64] >> (cpu % 64) & 1 == 1).map(CpuId).collect()
    }

    /// Puts the calling thread on these CPUs; 0, or -1 with `errno` set. Allocates nothing.
    pub(super) fn apply_raw(&self) -> libc::c_long {
        const ITSELF: libc::pid_t = 0;
        // SAFETY: the pointer and the length describe this array, which the kernel only reads.
        unsafe { libc::syscall(libc::SYS_sched_setaffinity, ITSELF, Self::BYTES, self.0.as_ptr()) }
    }
}

/// Puts the calling thread, and threads and processes that it starts later, on these CPUs.
pub(crate) fn set_own_affinity(set: &CpuSet) -> io::Result<()> {
    if CpuMask::new(set).apply_raw() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the CPUs that the calling thread may use.
pub(crate) fn own_affinity() -> io::Result<CpuSet> {
    const ITSELF: libc::pid_t = 0;
    let mut mask = CpuMask([0; WORDS]);
    // SAFETY: the pointer and the length describe this array; the kernel writes at most that much.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, ITSELF, CpuMask::BYTES, mask.0.as_mut_ptr())
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(mask.to_set()) }
}

/// Returns the scheduling class of the calling thread, with `SCHED_RESET_ON_FORK` where it has that.
fn own_policy() -> io::Result<libc::c_int> {
    const ITSELF: libc::pid_t = 0;
    // The raw call: musl's wrapper refuses. SAFETY: plain numbers.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, ITSELF) };
    libc::c_int::try_from(policy)
        .ok()
        .filter(|policy| *policy >= 0)
        .ok_or_else(io::Error::last_os_error)
}

/// Returns the niceness of the calling thread. -1 may be an error too, which is not to be expected for itself.
fn own_nice() -> i32 {
    // SAFETY: plain numbers.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

/// Says whether the calling thread has the normal scheduling class and no niceness.
pub(crate) fn is_ordinary() -> io::Result<bool> {
    Ok(own_policy()? & !libc::SCHED_RESET_ON_FORK == libc::SCHED_OTHER && own_nice() == 0)
}

/// The scheduling of the calling thread as what it starts inherits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inherited {
    /// `SCHED_OTHER` and its like.
    pub(crate) policy: libc::c_int,
    /// Real-time priority.
    pub(crate) priority: libc::c_int,
    /// Niceness.
    pub(crate) nice: i32,
}

impl Inherited {
    pub(crate) fn read() -> io::Result<Self> {
        const ITSELF: libc::pid_t = 0;
        let mut priority: libc::c_int = 0;
        // The raw call: musl's wrapper refuses. SAFETY: `priority` is the one field of `struct sched_param` as the
        // kernel knows it.
        if unsafe { libc::syscall(libc::SYS_sched_getparam, ITSELF, &raw mut priority) } < 0 {
            return Err(io::Error::last_os_error());
        }
        let (policy, nice) = (own_policy()?, own_nice());
        if policy & libc::SCHED_RESET_ON_FORK == 0 {
            return Ok(Self { policy, priority, nice });
        }
        let policy = match policy & !libc::SCHED_RESET_ON_FORK {
            libc::SCHED_FIFO | libc::SCHED_RR => libc::SCHED_OTHER,
            other => other,
        };
        Ok(Self { policy, priority: 0, nice: nice.max(0) })
    }
}

/// Says whether what the calling process starts has its addresses at random places, for all that it knows
/// (`ADDR_NO_RANDOMIZE`, personality(2)).
pub(crate) fn inherits_aslr() -> bool {
    const ASK: libc::c_ulong = 0xffff_ffff;
    // SAFETY: with this number nothing is changed.
    unsafe { libc::personality(ASK) & libc::ADDR_NO_RANDOMIZE == 0 }
}

/// Gives the calling thread `SCHED_FIFO` with this priority; what it starts later gets the normal class.
pub(crate) fn set_own_fifo(priority: u8) -> io::Result<()> {
    set_own_class(libc::SCHED_FIFO, priority)
}

/// Gives the calling thread the normal class back. The flag stays, because dropping it needs
/// privilege and keeping it only makes children as ordinary as they are.
pub(crate) fn leave_own_fifo() -> io::Result<()> {
    set_own_class(libc::SCHED_OTHER, 0)
}

/// Lets the calling thread, which is of the normal class, wake up when it asked to: its timers no longer wait to fire
/// together with others (up to 50 us, `PR_SET_TIMERSLACK`), and with a slice this short it goes at once before a
/// thread that computes (Linux 6.12; `sched_runtime` of `sched_setattr`). Where the kernel knows neither it only
/// wakes up later.
pub(crate) fn wake_up_on_time() {
    const ITSELF: libc::pid_t = 0;
    /// The shortest that the kernel takes, in nanoseconds.
    const SLICE: u64 = 100_000;
    // SAFETY: plain numbers.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
    let attributes = libc::sched_attr {
        // The fields that every kernel with this call knows (`SCHED_ATTR_SIZE_VER0`).
        size: 48,
        sched_policy: libc::SCHED_OTHER.unsigned_abs(),
        // A thread that has the flag could not drop it without privilege.
        sched_flags: u64::from(libc::SCHED_FLAG_RESET_ON_FORK.unsigned_abs()),
        sched_nice: own_nice(),
        sched_priority: 0,
        sched_runtime: SLICE,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel reads as many bytes as `size` says, which the structure has.
    let _ = unsafe { libc::syscall(libc::SYS_sched_setattr, ITSELF, &raw const attributes, 0_u32) };
}

fn set_own_class(policy: libc::c_int, priority: u8) -> io::Result<()> {
    const ITSELF: libc::pid_t = 0;
    let parameter = libc::c_int::from(priority);
    // The raw call: musl's wrapper refuses. SAFETY: `parameter` is the one field of
    // `struct sched_param` as the kernel knows it, and is only read.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            ITSELF,
            policy | libc::SCHED_RESET_ON_FORK,
            &raw const parameter,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_survives_being_made_a_mask() {
        let set: CpuSet = "0,3,63-65,8191".parse().unwrap();
        assert_eq!(CpuMask::new(&set).to_set(), set);
    }
}
