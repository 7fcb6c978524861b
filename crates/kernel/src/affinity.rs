//! The CPUs that a thread may use.

use std::io;

use crate::checked;

/// The id by which system calls know the calling thread.
pub const CALLER: u32 = 0;

/// As many CPUs as any kernel supports.
const CPUS: usize = 8192;

const WORDS: usize = CPUS / 64;

/// A set of CPUs as the kernel takes it, large enough for any kernel.
#[derive(Clone)]
pub struct CpuMask([u64; WORDS]);

impl FromIterator<u32> for CpuMask {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        let mut words = [0; WORDS];
        for cpu in cpus {
            // A larger number cannot be parsed into a set; were it built by hand, the empty or
            // smaller mask would still be refused or narrower, never a CPU that was not asked for.
            if let Some(word) = words.get_mut(cpu as usize / 64) {
                *word |= 1 << (cpu % 64);
            }
        }
        Self(words)
    }
}

impl CpuMask {
    const BYTES: usize = WORDS * 8;

    /// Returns the numbers of its CPUs, in rising order.
    pub fn cpus(&self) -> impl Iterator<Item = u32> {
        let words = self.0.iter().zip(0_u32..);
        words.flat_map(|(word, index)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
        })
    }

    /// Puts the calling thread on these CPUs; 0, or -1 with `errno` set. Allocates nothing.
    pub(crate) fn apply_raw(&self) -> libc::c_long {
        self.apply_to_raw(CALLER)
    }

    fn apply_to_raw(&self, tid: u32) -> libc::c_long {
        // SAFETY: the pointer and the length describe this array, which the kernel only reads.
        unsafe { libc::syscall(libc::SYS_sched_setaffinity, tid, Self::BYTES, self.0.as_ptr()) }
    }
}

/// Puts a thread, and the threads and processes that it starts later, on these CPUs.
pub fn set_affinity(tid: u32, mask: &CpuMask) -> io::Result<()> {
    checked(mask.apply_to_raw(tid)).map(drop)
}

/// Returns the CPUs that a thread may use.
pub fn affinity(tid: u32) -> io::Result<CpuMask> {
    let mut mask = CpuMask([0; WORDS]);
    // SAFETY: the pointer and the length describe this array; the kernel writes at most that much.
    checked(unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, tid, CpuMask::BYTES, mask.0.as_mut_ptr())
    })?;
    Ok(mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_survives_being_made_a_mask() {
        let cpus = [0, 3, 63, 64, 65, 8191];
        assert!(CpuMask::from_iter(cpus).cpus().eq(cpus));
        assert_eq!(CpuMask::from_iter([8192]).cpus().count(), 0);
    }
}
