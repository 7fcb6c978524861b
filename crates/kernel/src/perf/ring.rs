//! The memory through which the kernel hands over the events of a CPU.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::{Mapping, page_size};

/// The buffer that the kernel writes the events of one CPU to.
#[derive(Debug)]
pub struct Ring {
    memory: Mapping,
    /// Size of the first page, which the kernel and the reader keep their places in.
    page: usize,
    /// Size of the data, a power of two.
    size: usize,
}

// SAFETY: the mapping belongs to this value alone, and the memory that it shares with the kernel is
// read and written as the kernel's protocol for one reader says, whichever thread that is.
unsafe impl Send for Ring {}

/// Where `struct perf_event_mmap_page` keeps up to where the kernel has written.
const DATA_HEAD: usize = 1024;
/// Where it keeps up to where the reader has read.
const DATA_TAIL: usize = 1032;

impl Ring {
    /// Maps a buffer of at least `bytes` bytes for an event.
    pub fn map(event: &OwnedFd, bytes: usize) -> io::Result<Self> {
        let page = page_size();
        let size = bytes.max(page).next_power_of_two();
        let memory = Mapping::new(page + size, libc::MAP_SHARED, Some(event.as_fd()))?;
        Ok(Self { memory, page, size })
    }

    /// Appends to `out` what the kernel has written since the last call, and gives the room back.
    pub fn drain(&mut self, out: &mut Vec<u8>) {
        // Acquire: what was written before the head moved has to be seen. `man perf_event_open` asks
        // for a read barrier here.
        let head = self.word(DATA_HEAD).load(Ordering::Acquire);
        let tail = self.word(DATA_TAIL).load(Ordering::Relaxed);
        let mask = self.size as u64 - 1;
        #[expect(clippy::cast_possible_truncation, reason = "masked by a size that is a usize")]
        let (from, length) =
            ((tail & mask) as usize, head.wrapping_sub(tail).min(self.size as u64) as usize);
        let first = length.min(self.size - from);
        for (from, length) in [(from, first), (0, length - first)] {
            // SAFETY: `from + length` is at most the size of the data, which lie behind the first page
            // and live as long as `self`. The kernel does not write between tail and head, so nobody
            // changes these bytes while they are copied.
            let bytes = unsafe {
                std::slice::from_raw_parts(
                    self.memory.start().as_ptr().add(self.page + from),
                    length,
                )
            };
            out.extend_from_slice(bytes);
        }
        // Release: the bytes have been copied before the kernel may write over them.
        self.word(DATA_TAIL).store(head, Ordering::Release);
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: both offsets lie in the first page, which is mapped as long as `self` lives and
        // aligned, and the kernel too reads and writes these words whole.
        unsafe { AtomicU64::from_ptr(self.memory.start().as_ptr().add(offset).cast()) }
    }
}
