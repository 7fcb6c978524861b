//! Whether the addresses of a process are random (`ADDR_NO_RANDOMIZE`, personality(2)).

/// With this number nothing is changed.
const ASK: libc::c_ulong = 0xffff_ffff;

/// Says whether what the calling process starts has its addresses at random places, for all that it knows.
pub fn inherits_aslr() -> bool {
    // SAFETY: plain numbers.
    unsafe { libc::personality(ASK) & libc::ADDR_NO_RANDOMIZE == 0 }
}

/// Gives the calling process fixed addresses from its next `execve` on, and reads the setting back: a sandbox may
/// accept the call and not do it. 0 or more, or -1 with `errno` set. Allocates nothing.
pub(crate) fn disable_aslr_raw() -> libc::c_int {
    // SAFETY: plain numbers, and the calling thread's own `errno`.
    unsafe {
        let before = libc::personality(ASK);
        if before < 0 {
            return before;
        }
        let wanted = before | libc::ADDR_NO_RANDOMIZE;
        let done = libc::personality(libc::c_ulong::from(wanted.cast_unsigned()));
        if done >= 0 && libc::personality(ASK) & libc::ADDR_NO_RANDOMIZE == 0 {
            *libc::__errno_location() = libc::EPERM;
            return -1;
        }
        done
    }
}
