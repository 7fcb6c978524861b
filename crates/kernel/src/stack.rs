//! The stack of a child that shares our memory.

use std::cell::OnceCell;
use std::ffi::c_void;
use std::io;

use crate::checked;
use crate::memory::Mapping;

/// A page range below the stack that faults instead of overwriting our memory; 64 KiB is a multiple of every page
/// size in use.
const GUARD: usize = 64 * 1024;
const STACK: usize = 128 * 1024;

/// Maps a stack and makes its lower part the guard.
fn make() -> io::Result<Mapping> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
    let stack = Mapping::new(GUARD + STACK, flags, None)?;
    // SAFETY: the guard lies in our own mapping, to which nothing refers yet.
    checked(unsafe { libc::mprotect(stack.start().as_ptr().cast(), GUARD, libc::PROT_NONE) })?;
    Ok(stack)
}

/// Returns the upper end of this thread's stack for children, which is made once. A caller starts one child at a
/// time, and returns only after that has left the stack.
pub(crate) fn top() -> io::Result<*mut c_void> {
    thread_local! {
        static CHILD_STACK: OnceCell<Mapping> = const { OnceCell::new() };
    }
    CHILD_STACK.with(|cell| {
        if cell.get().is_none() {
            let _ = cell.set(make()?);
        }
        let stack = cell.get().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        // SAFETY: one past the end of the mapping, which is still inside the same allocation.
        Ok(unsafe { stack.start().as_ptr().byte_add(stack.len()) }.cast())
    })
}
