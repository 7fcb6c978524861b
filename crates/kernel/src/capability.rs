//! The parts of root's rights that a process can hold one by one (`capabilities(7)`).

use std::io;

use crate::checked;

/// A part of root's rights. None of these leads past the permissions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Capability {
    /// `CAP_IPC_LOCK`: memory that is never swapped out, without a limit.
    LockMemory = 14,
    /// `CAP_SYS_NICE`: any scheduling class, niceness and CPUs.
    Schedule = 23,
    /// `CAP_PERFMON`, since Linux 5.8: counters and tracepoints, the kernel's included.
    Observe = 38,
}

/// `_LINUX_CAPABILITY_VERSION_3`: 64 capabilities in two words each.
const VERSION: u32 = 0x2008_0522;

/// The header of the calls: version, and 0 for this thread.
const THIS_THREAD: [u32; 2] = [VERSION, 0];

/// The sets of a thread as the kernel takes them: effective, permitted, inheritable; first the lower 32, then the others.
type Sets = [u32; 6];

/// Lets the permitted capabilities outlive the next change of the user.
pub(crate) fn survive_a_change_of_user() -> io::Result<()> {
    // SAFETY: plain numbers.
    checked(unsafe { libc::prctl(libc::PR_SET_KEEPCAPS, 1, 0, 0, 0) }).map(drop)
}

/// Gives up every capability of the calling thread but those of `kept` that it is permitted.
pub(crate) fn keep_only(kept: &[Capability]) -> io::Result<()> {
    let permitted = read()?;
    let mut sets: Sets = [0; 6];
    for capability in kept {
        let (word, bit) = place(*capability);
        for set in [word, word + PERMITTED] {
            sets[set] |= bit & permitted[word + PERMITTED];
        }
    }
    // SAFETY: the kernel reads a header of two words and, for this version, two times three words.
    checked(unsafe { libc::syscall(libc::SYS_capset, THIS_THREAD.as_ptr(), sets.as_ptr()) })?;
    // What a program would get by these is gone with the inheritable ones, and with older kernels it never was.
    // SAFETY: plain numbers.
    let _ = unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
    Ok(())
}

/// Says whether the calling thread may use a capability now.
pub fn is_effective(capability: Capability) -> bool {
    let (word, bit) = place(capability);
    read().is_ok_and(|sets| sets[word] & bit != 0)
}

/// From a word of the effective set to that of the permitted one.
const PERMITTED: usize = 1;

/// Where a capability is in the effective set.
fn place(capability: Capability) -> (usize, u32) {
    const WORDS_OF_A_HALF: usize = 3;
    let number = capability as u32;
    ((number / 32) as usize * WORDS_OF_A_HALF, 1 << (number % 32))
}

fn read() -> io::Result<Sets> {
    let mut sets: Sets = [0; 6];
    // SAFETY: the kernel reads a header of two words and writes, for this version, two times three words.
    let got = unsafe { libc::syscall(libc::SYS_capget, THIS_THREAD.as_ptr(), sets.as_mut_ptr()) };
    checked(got).map(|_| sets)
}
