//! What `perf_event_open(2)` counts and writes down: [`counter`] of a process, [`group`] of a CPU, [`event`] of a
//! trace.

pub mod counter;
pub mod event;
pub mod group;
pub mod ring;

use std::os::fd::RawFd;

use crate::wait::Pid;

/// `PERF_TYPE_HARDWARE`.
pub const TYPE_HARDWARE: u32 = 0;
/// `PERF_TYPE_SOFTWARE`.
pub const TYPE_SOFTWARE: u32 = 1;

/// `struct perf_event_attr` up to Linux 4.1 (`PERF_ATTR_SIZE_VER4`), the first with a choice of clocks. An event says
/// by `size` how much of it the kernel is to read.
#[repr(C)]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PerfAttr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    breakpoint_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clockid: i32,
    sample_regs_intr: u64,
}

/// The first published layout, which every kernel accepts (`PERF_ATTR_SIZE_VER0`).
const FIRST_SIZE: u32 = 64;
/// The whole of [`PerfAttr`].
const WHOLE_SIZE: u32 = 104;
const _: () = assert!(size_of::<PerfAttr>() == WHOLE_SIZE as usize);

/// Flags of an event.
mod flag {
    pub(super) const DISABLED: u64 = 1;
    pub(super) const INHERIT: u64 = 1 << 1;
    pub(super) const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub(super) const EXCLUDE_HV: u64 = 1 << 6;
    pub(super) const COMM: u64 = 1 << 9;
    pub(super) const ENABLE_ON_EXEC: u64 = 1 << 12;
    pub(super) const TASK: u64 = 1 << 13;
    pub(super) const WATERMARK: u64 = 1 << 14;
    pub(super) const SAMPLE_ID_ALL: u64 = 1 << 18;
    pub(super) const USE_CLOCKID: u64 = 1 << 25;

    /// The kernel declares these as bit fields, which big-endian compilers fill from the top.
    pub(super) fn placed(flags: u64) -> u64 {
        if cfg!(target_endian = "big") { flags.reverse_bits() } else { flags }
    }
}

/// Instead of a number of a process: all of them.
const EVERY_TASK: Pid = -1;
/// Instead of a number of a CPU: all of them.
const ANY_CPU: libc::c_int = -1;
/// Instead of the descriptor of another event.
const NO_GROUP: RawFd = -1;

/// Opens an event and returns its descriptor, or -1 with `errno` set.
///
/// Makes one system call and allocates nothing, because a child calls it before `execve`.
fn open_raw(attr: &PerfAttr, task: Pid, cpu: libc::c_int, group: RawFd) -> libc::c_long {
    const FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;
    // SAFETY: `attr` is a valid perf_event_attr, and at least as large as it states. The kernel reads it, and writes
    // `size` back where it knows less than that (E2BIG), which no kernel does with the first size, nor since 4.1 with
    // the whole.
    unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attr),
            task,
            cpu,
            group,
            FLAG_FD_CLOEXEC,
        )
    }
}
