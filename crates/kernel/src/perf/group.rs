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

/// Reads the three counters of a group.
pub fn read(leader: BorrowedFd<'_>) -> io::Result<[u64; 3]> {
    let mut words = [0_u64; 4];
    let size = std::mem::size_of_val(&words);
    // SAFETY: the buffer is valid for writes of `size` bytes and outlives the call.
    let read = unsafe { libc::read(leader.as_raw_fd(), words.as_mut_ptr().cast(), size) };
    match usize::try_from(read) {
        // The number of counters comes first.
        Ok(read) if read == size && words[0] == 3 => Ok([words[1], words[2], words[3]]),
        Ok(_) => Err(io::Error::other("the group of counters is not complete")),
        Err(_) => Err(io::Error::last_os_error()),
    }
}
