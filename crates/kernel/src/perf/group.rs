//! Counters of one CPU that are read together.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

use super::{EVERY_TASK, FIRST_SIZE, NO_GROUP, PerfAttr, open_raw};
use crate::owned;

/// Opens a counter of everything that runs on `cpu`, in the group of `leader` if there is one, whose
/// counters are all read together.
pub fn open(
    kind: u32,
    config: u64,
    cpu: u32,
    leader: Option<BorrowedFd<'_>>,
) -> io::Result<OwnedFd> {
    const FORMAT_GROUP: u64 = 1 << 3;
    let attr = PerfAttr {
        kind,
        size: FIRST_SIZE,
        config,
        read_format: FORMAT_GROUP,
        ..PerfAttr::default()
    };
    let cpu = libc::c_int::try_from(cpu).map_err(io::Error::other)?;
    let leader = leader.map_or(NO_GROUP, |leader| leader.as_raw_fd());
    owned(open_raw(&attr, EVERY_TASK, cpu, leader))
}

/// Most counters of a group that can be read.
const MOST: usize = 7;

/// Reads the `N` counters of a group.
pub fn read<const N: usize>(leader: BorrowedFd<'_>) -> io::Result<[u64; N]> {
    let mut words = [0_u64; MOST + 1];
    let size = std::mem::size_of_val(&words);
    // SAFETY: the buffer is valid for writes of `size` bytes and outlives the call.
    let read = unsafe { libc::read(leader.as_raw_fd(), words.as_mut_ptr().cast(), size) };
    let read = usize::try_from(read).map_err(|_| io::Error::last_os_error())?;
    // The number of counters comes first.
    let incomplete = || io::Error::other("the group of counters is not complete");
    let is_whole = read == (N + 1) * size_of::<u64>() && words[0] == N as u64;
    let counters = words.get(1..=N).filter(|_| is_whole).ok_or_else(incomplete)?;
    counters.try_into().map_err(|_| incomplete())
}
