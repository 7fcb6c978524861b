//! Whether the subjects' allocator gives memory back to the kernel, and which pages it asks for.
//!
//! glibc's gives the end of its heap back as soon as enough of it is free, and takes large blocks from the
//! kernel each time: the pages fault in again, and on many threads each time every CPU's TLB is told. When
//! that happens depends on the order of allocations. Its own settings keep what was once taken.
//! <https://sourceware.org/glibc/manual/latest/html_node/Memory-Allocation-Tunables.html>

use std::ffi::{OsStr, OsString};

/// The variable with glibc's settings. Other C libraries, and allocators that a program brings along, take
/// no notice of it; nor does a program with more privileges than its caller.
pub const MALLOC_VARIABLE: &str = "GLIBC_TUNABLES";

/// Returns the value of [`MALLOC_VARIABLE`] by which freed memory is kept. What the variable holds already
/// comes last, and so counts.
pub fn kept_memory(before: Option<&OsStr>) -> OsString {
    let own = format!("glibc.malloc.trim_threshold={}:glibc.malloc.mmap_max=0", usize::MAX);
    before_others(own, before)
}

/// Returns the value of [`MALLOC_VARIABLE`] by which memory is asked for in huge pages (glibc 2.35), where the
/// machine gives them to those who ask.
pub fn huge_memory(before: Option<&OsStr>) -> OsString {
    before_others("glibc.malloc.hugetlb=1".to_owned(), before)
}

fn before_others(own: String, before: Option<&OsStr>) -> OsString {
    let mut value = OsString::from(own);
    if let Some(before) = before.filter(|text| !text.is_empty()) {
        value.push(":");
        value.push(before);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_before_counts() {
        let own = format!("glibc.malloc.trim_threshold={}:glibc.malloc.mmap_max=0", usize::MAX);
        assert_eq!(kept_memory(None), *own);
        assert_eq!(kept_memory(Some(OsStr::new(""))), *own);
        assert_eq!(huge_memory(Some(OsStr::new("a=b"))), *"glibc.malloc.hugetlb=1:a=b");
        let before = OsStr::new("glibc.malloc.mmap_max=7");
        assert_eq!(kept_memory(Some(before)), *format!("{own}:glibc.malloc.mmap_max=7"));
    }
}
