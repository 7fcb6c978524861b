//! Events that are written down one by one: what a trace is made of.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use super::{EVERY_TASK, NO_GROUP, PerfAttr, TYPE_SOFTWARE, WHOLE_SIZE, flag, open_raw};
use crate::{checked, owned};

/// `PERF_SAMPLE_TID`.
const SAMPLE_TID: u64 = 1 << 1;
/// `PERF_SAMPLE_TIME`.
const SAMPLE_TIME: u64 = 1 << 2;
/// `PERF_SAMPLE_RAW`: the tracepoint's own data.
const SAMPLE_RAW: u64 = 1 << 10;
/// `PERF_SAMPLE_IDENTIFIER`: whose sample it is, at a fixed place.
const SAMPLE_IDENTIFIER: u64 = 1 << 16;

/// `PERF_COUNT_SW_DUMMY`: counts nothing, and has births and deaths of tasks written down.
const DUMMY: u64 = 9;

// `_IO('$', n)` and `_IOR('$', 7, u64)` of <linux/perf_event.h>, for the generic encoding of ioctls.
const IOC_ENABLE: libc::Ioctl = 0x2400;
const IOC_DISABLE: libc::Ioctl = 0x2401;
const IOC_SET_OUTPUT: libc::Ioctl = 0x2405;
#[expect(clippy::cast_possible_wrap, reason = "musl takes the same bits as a signed number")]
#[cfg(target_env = "musl")]
const IOC_ID: libc::Ioctl = 0x8008_2407_u32 as libc::Ioctl;
#[cfg(not(target_env = "musl"))]
const IOC_ID: libc::Ioctl = 0x8008_2407;

impl PerfAttr {
    /// Makes an event of which each occurrence is written down.
    fn event(kind: u32, config: u64, flags: u64) -> Self {
        let flags =
            flags | flag::DISABLED | flag::WATERMARK | flag::SAMPLE_ID_ALL | flag::USE_CLOCKID;
        Self {
            kind,
            size: WHOLE_SIZE,
            config,
            sample_period: 1,
            sample_type: SAMPLE_IDENTIFIER | SAMPLE_TID | SAMPLE_TIME,
            flags: flag::placed(flags),
            // Nobody is woken until the buffer is full: that is an interrupt on the measured CPU.
            wakeup_watermark: u32::MAX,
            clockid: libc::CLOCK_MONOTONIC_RAW,
            ..Self::default()
        }
    }
}

/// Opens an event for everything that happens on one CPU, not counting yet. The data of a tracepoint
/// come with it.
pub fn open(kind: u32, config: u64, cpu: u32) -> io::Result<OwnedFd> {
    let mut attr = PerfAttr::event(kind, config, 0);
    if kind != TYPE_SOFTWARE {
        attr.sample_type |= SAMPLE_RAW;
    }
    open_on(&attr, cpu)
}

/// Opens what has the births, names and deaths of tasks on one CPU written down.
pub fn open_tasks(cpu: u32) -> io::Result<OwnedFd> {
    open_on(&PerfAttr::event(TYPE_SOFTWARE, DUMMY, flag::TASK | flag::COMM), cpu)
}

fn open_on(attr: &PerfAttr, cpu: u32) -> io::Result<OwnedFd> {
    let cpu = libc::c_int::try_from(cpu).map_err(|_| io::ErrorKind::InvalidInput)?;
    owned(open_raw(attr, EVERY_TASK, cpu, NO_GROUP))
}

/// Has an event write to the buffer of another one of the same CPU.
pub fn redirect(event: &OwnedFd, to: &OwnedFd) -> io::Result<()> {
    // SAFETY: both descriptors are open, and this request takes a number.
    checked(unsafe { libc::ioctl(event.as_raw_fd(), IOC_SET_OUTPUT, to.as_raw_fd()) }).map(drop)
}

/// Starts or stops an event.
pub fn set_running(event: &OwnedFd, running: bool) -> io::Result<()> {
    let request = if running { IOC_ENABLE } else { IOC_DISABLE };
    // SAFETY: the descriptor is open, and these requests take a number, 0 for this event alone.
    checked(unsafe { libc::ioctl(event.as_raw_fd(), request, 0) }).map(drop)
}

/// Returns the number that the samples of an event carry.
pub fn id(event: &OwnedFd) -> io::Result<u64> {
    let mut id = 0_u64;
    // SAFETY: the descriptor is open, and `id` is a valid place for the number that is written.
    checked(unsafe { libc::ioctl(event.as_raw_fd(), IOC_ID, &raw mut id) })?;
    Ok(id)
}
