//! The allocator of static builds, mimalloc; others have that of their C library, which needs no word.

/// Makes what is freed the system's at once, for the rest of the process. Otherwise mimalloc keeps it for a second, because
/// who frees memory mostly wants some again. For a process that reads much in short bursts and lives long: it has half as
/// much then, for a few system calls more.
pub fn return_freed_at_once() {
    #[cfg(target_env = "musl")]
    {
        /// `mi_option_purge_delay`, whose number is the same in all versions: milliseconds; 0 is at once.
        const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
        // SAFETY: options are numbers that any thread may set at any time, and this is one of them.
        unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 0) };
    }
}
