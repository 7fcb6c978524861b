//! Writing dirty pages back.

/// Waits until every file system has written its dirty pages.
pub(crate) fn sync() {
    // SAFETY: `sync` takes nothing, returns nothing and cannot fail.
    unsafe { libc::sync() }
}
