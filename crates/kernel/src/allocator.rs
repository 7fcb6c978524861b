//! The allocator: mimalloc in static builds, and that of the C library in others.

/// Makes what is freed the system's at once, for the rest of the process. Otherwise mimalloc keeps it for a second, because
/// who frees memory mostly wants some again, and glibc for ever, in as many arenas as there were threads. For a process
/// that reads much in short bursts and lives long: it has half as much then, for a few system calls more.
pub fn return_freed_at_once() {
    #[cfg(target_env = "musl")]
    {
        /// `mi_option_purge_delay`, whose number is the same in all versions: milliseconds; 0 is at once.
        const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
        // SAFETY: options are numbers that any thread may set at any time, and this is one of them.
        unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 0) };
    }
    #[cfg(target_env = "gnu")]
    {
        /// Threads rarely allocate at the same time.
        const ARENAS: i32 = 2;
        /// Bytes that are kept at the end of the heap; a larger block is a mapping of its own.
        const KEPT: i32 = 1 << 20;
        let options = [
            (libc::M_ARENA_MAX, ARENAS),
            (libc::M_TRIM_THRESHOLD, KEPT),
            (libc::M_MMAP_THRESHOLD, KEPT),
        ];
        for (option, value) in options {
            // SAFETY: options are numbers, and the allocator takes its lock to set one.
            unsafe { libc::mallopt(option, value) };
        }
    }
}
