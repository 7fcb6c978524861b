//! Memory that is mapped, touched and locked.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr::NonNull;

use crate::{checked, owned};

/// Keeps every page of this process in memory: those there are and those to come.
pub fn lock_all() -> io::Result<()> {
    // SAFETY: takes plain numbers and touches no memory of ours.
    checked(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) }).map(drop)
}

/// Takes a swap area out of use, which moves back into memory what is in it.
pub fn swap_off(path: &str) -> io::Result<()> {
    let path = CString::new(path)?;
    // SAFETY: the path is a C string that outlives the call.
    checked(unsafe { libc::swapoff(path.as_ptr()) }).map(drop)
}

/// Takes a swap area into use, with a priority or with the one that the kernel chooses.
pub fn swap_on(path: &str, priority: Option<u16>) -> io::Result<()> {
    /// `SWAP_FLAG_PREFER` and `SWAP_FLAG_PRIO_MASK` of `linux/swap.h`.
    const PREFER: u16 = 0x8000;
    const PRIORITIES: u16 = 0x7fff;
    let path = CString::new(path)?;
    let flags = priority.map_or(0, |priority| PREFER | (priority & PRIORITIES));
    // SAFETY: the path is a C string that outlives the call.
    checked(unsafe { libc::swapon(path.as_ptr(), libc::c_int::from(flags)) }).map(drop)
}

/// Makes a file in memory without a name in any folder; no program that is executed keeps it open. What it holds is
/// gone when nobody has it open any more.
pub fn file_in_memory(name: &CStr) -> io::Result<File> {
    // SAFETY: the name is a C string that outlives the call.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    owned(fd).map(File::from)
}

/// Gives the memory of the first `bytes` of such a file back; they read as zeros from then on.
pub fn give_back_start(file: &File, bytes: u64) -> io::Result<()> {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let bytes = libc::off_t::try_from(bytes).map_err(io::Error::other)?;
    // SAFETY: takes plain numbers; the descriptor is open in the caller.
    checked(unsafe { libc::fallocate(file.as_raw_fd(), mode, 0, bytes) }).map(drop)
}

/// Returns the size of a page in bytes.
pub fn page_size() -> usize {
    // SAFETY: sysconf takes a plain number and touches no memory of ours.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|bytes| *bytes > 0).unwrap_or(4096)
}

/// A mapping at a place of the kernel's choice, readable and writable. Given back when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    /// Maps fresh memory, or a file from its start.
    pub(crate) fn new(
        bytes: usize,
        flags: libc::c_int,
        file: Option<BorrowedFd<'_>>,
    ) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let file = file.map_or(-1, |file| file.as_raw_fd());
        // SAFETY: a mapping at an address of the kernel's choice replaces nothing.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, file, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, bytes })
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `new` made, and nothing refers to it any more. Unmapping a
        // whole mapping does not fail.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.bytes);
        }
    }
}

/// Fresh pages of zeros, of which the kernel finds each at the first access. Given back when dropped.
#[derive(Debug)]
pub struct Pages(Mapping);

impl Pages {
    /// Maps `bytes` bytes, more than none.
    pub fn map(bytes: usize) -> io::Result<Self> {
        Mapping::new(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, None).map(Self)
    }

    /// Returns the memory.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is readable, writable, zeroed by the kernel, ours alone, as long as it says, and
        // lives as long as `self`, which is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.0.start().as_ptr(), self.0.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_pages_are_zeros_that_can_be_written() {
        let mut pages = Pages::map(3 * page_size()).unwrap();
        let bytes = pages.bytes();
        assert!(bytes.iter().all(|byte| *byte == 0));
        bytes.fill(7);
        assert_eq!(pages.bytes()[2 * page_size()], 7);
    }

    #[test]
    fn no_bytes_cannot_be_mapped() {
        assert!(Pages::map(0).is_err());
    }
}
