//! Counters of one process and its children, as far as a runner needs them: open on the own process, read.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{OwnedFd, RawFd};

use super::{ANY_CPU, FIRST_SIZE, NO_GROUP, PerfAttr, flag, open_raw};
use crate::owned;
use crate::wait::Pid;

const FORMAT_TOTAL_TIME_ENABLED: u64 = 1;
const FORMAT_TOTAL_TIME_RUNNING: u64 = 1 << 1;

impl PerfAttr {
    /// Makes a counter that starts at the next `execve` and includes every later child.
    pub fn counter(kind: u32, config: u64, exclude_kernel: bool) -> Self {
        let mut flags = flag::DISABLED | flag::INHERIT | flag::EXCLUDE_HV | flag::ENABLE_ON_EXEC;
        if exclude_kernel {
            flags |= flag::EXCLUDE_KERNEL;
        }
        Self {
            kind,
            size: FIRST_SIZE,
            config,
            read_format: FORMAT_TOTAL_TIME_ENABLED | FORMAT_TOTAL_TIME_RUNNING,
            flags: flag::placed(flags),
            ..Self::default()
        }
    }

    /// Returns the same event as a counter that counts nothing, ever: it stays disabled and no
    /// child inherits it.
    #[must_use]
    pub fn idle(&self) -> Self {
        let keep = flag::placed(flag::DISABLED | flag::EXCLUDE_HV | flag::EXCLUDE_KERNEL);
        Self { flags: self.flags & keep, ..self.clone() }
    }
}

/// Opens a counter on the calling process and returns its descriptor, or -1 with `errno` set. Allocates nothing.
pub(crate) fn open_on_itself_raw(attr: &PerfAttr) -> RawFd {
    const ITSELF: Pid = 0;
    RawFd::try_from(open_raw(attr, ITSELF, ANY_CPU, NO_GROUP)).unwrap_or(-1)
}

/// Opens a counter on the calling process, to learn whether the kernel allows and has it.
pub fn open(attr: &PerfAttr) -> io::Result<OwnedFd> {
    owned(open_on_itself_raw(attr))
}

/// What a counter says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterValue {
    /// Events counted while the counter was on a processor.
    pub value: u64,
    /// Nanoseconds for which the counted tasks ran.
    pub enabled: u64,
    /// Nanoseconds of these for which the counter had hardware to count with.
    pub running: u64,
}

/// Reads a counter and closes it.
pub fn read(counter: OwnedFd) -> io::Result<CounterValue> {
    let mut bytes = [0; 24];
    File::from(counter).read_exact(&mut bytes)?;
    let mut words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word));
    let mut next = || words.next().unwrap_or(0);
    Ok(CounterValue { value: next(), enabled: next(), running: next() })
}
