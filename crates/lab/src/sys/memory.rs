//! Memory that is mapped, touched and locked.

use std::io;
use std::ptr::NonNull;

use super::checked;

/// Keeps every page of this process in memory: those there are and those to come.
pub(crate) fn lock_all() -> io::Result<()> {
    // SAFETY: takes plain numbers and touches no memory of ours.
    checked(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) })
}

/// Returns the size of a page in bytes.
pub(crate) fn page_size() -> usize {
    // SAFETY: sysconf takes a plain number and touches no memory of ours.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|bytes| *bytes > 0).unwrap_or(4096)
}

/// Fresh pages of zeros, of which the kernel finds each at the first access. Given back when dropped.
#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

impl Pages {
    /// Maps `bytes` bytes, more than none.
    pub(crate) fn map(bytes: usize) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: an anonymous mapping at an address of the kernel's choice replaces nothing.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, bytes })
    }

    /// Returns the memory.
    pub(crate) fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is readable, writable, zeroed by the kernel, ours alone, `bytes` long, and
        // lives as long as `self`, which is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, and nothing refers to it any more. Unmapping a
        // whole mapping does not fail.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_pages_are_zeros_that_can_be_written() {
        let mut pages = Pages::map(3 * page_size()).unwrap();
        let bytes = pages.as_mut();
        assert!(bytes.iter().all(|byte| *byte == 0));
        bytes.fill(7);
        assert_eq!(pages.as_mut()[2 * page_size()], 7);
    }

    #[test]
    fn no_bytes_cannot_be_mapped() {
        assert!(Pages::map(0).is_err());
    }
}
