//! Performance counters, as far as a runner needs them: open on the own process, read.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// `PERF_TYPE_HARDWARE`.
pub(crate) const TYPE_HARDWARE: u32 = 0;
/// `PERF_TYPE_SOFTWARE`.
pub(crate) const TYPE_SOFTWARE: u32 = 1;

const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const FORMAT_TOTAL_TIME_ENABLED: u64 = 1;
const FORMAT_TOTAL_TIME_RUNNING: u64 = 1 << 1;
const FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;

/// The first published layout of `struct perf_event_attr` (64 bytes), which every kernel accepts.
#[repr(C)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PerfAttr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

impl PerfAttr {
    /// Makes a counter that starts at the next `execve` and includes every later child.
    pub(crate) fn new(kind: u32, config: u64, exclude_kernel: bool) -> Self {
        let mut flags = DISABLED | INHERIT | EXCLUDE_HV | ENABLE_ON_EXEC;
        if exclude_kernel {
            flags |= EXCLUDE_KERNEL;
        }
        Self {
            kind,
            size: 64,
            config,
            sample_period: 0,
            sample_type: 0,
            read_format: FORMAT_TOTAL_TIME_ENABLED | FORMAT_TOTAL_TIME_RUNNING,
            // The kernel declares these as bit fields, which big-endian compilers fill from the top.
            flags: if cfg!(target_endian = "big") { flags.reverse_bits() } else { flags },
            wakeup_events: 0,
            breakpoint_type: 0,
            config1: 0,
        }
    }
}

impl PerfAttr {
    /// Returns the same event as a counter that counts nothing, ever: it stays disabled and no
    /// child inherits it.
    pub(crate) fn idle(&self) -> Self {
        let keep = DISABLED | EXCLUDE_HV | EXCLUDE_KERNEL;
        let keep = if cfg!(target_endian = "big") { keep.reverse_bits() } else { keep };
        Self { flags: self.flags & keep, ..self.clone() }
    }
}

/// Opens a counter on the calling process and returns its descriptor, or -1 with `errno` set.
///
/// Makes one system call and allocates nothing, because the child calls it before `execve`.
pub(super) fn open_raw(attr: &PerfAttr) -> RawFd {
    const ITSELF: libc::pid_t = 0;
    const ANY_CPU: libc::c_int = -1;
    const NO_GROUP: libc::c_int = -1;
    // SAFETY: `attr` is a valid perf_event_attr of the size that it states; the kernel only reads
    // it (it writes `size` back on E2BIG alone, which the first published size never meets).
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attr),
            ITSELF,
            ANY_CPU,
            NO_GROUP,
            FLAG_FD_CLOEXEC,
        )
    };
    RawFd::try_from(fd).unwrap_or(-1)
}

/// Opens a counter on the calling process, to learn whether the kernel allows and has it.
pub(crate) fn open(attr: &PerfAttr) -> io::Result<OwnedFd> {
    let fd = open_raw(attr);
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just returned this descriptor, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// What a counter says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Events counted while the counter was on a processor.
    pub(crate) value: u64,
    /// Nanoseconds for which the counted tasks ran.
    pub(crate) enabled: u64,
    /// Nanoseconds of these for which the counter had hardware to count with.
    pub(crate) running: u64,
}

/// Reads a counter and closes it.
pub(crate) fn read(counter: OwnedFd) -> io::Result<Reading> {
    let mut bytes = [0; 24];
    File::from(counter).read_exact(&mut bytes)?;
    let mut words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word));
    let mut next = || words.next().unwrap_or(0);
    Ok(Reading { value: next(), enabled: next(), running: next() })
}
