//! On which NUMA nodes the cached pages of a file lie: `mincore(2)` says which pages there are, `move_pages(2)` where.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;

use crate::checked;
use crate::memory::{Mapping, page_size};

/// Looks at so many pages of a file at most, from its start to its end, and counts on which nodes they lie. What is
/// not cached counts nowhere. The kernel hides what is cached of a file that the caller could not write; then the
/// pages that are looked at are read, if they are not there.
///
/// # Errors
///
/// If the file cannot be mapped or the kernel does not say: before Linux 5.14 (`MADV_POPULATE_READ`, which unlike
/// a load survives that somebody makes the file shorter), or without NUMA.
pub fn nodes_of_cached(file: &File, pages: usize) -> io::Result<BTreeMap<u32, usize>> {
    let size = page_size();
    let Ok(bytes) = usize::try_from(file.metadata()?.len()) else {
        return Err(io::ErrorKind::FileTooLarge.into());
    };
    if bytes == 0 || pages == 0 {
        return Ok(BTreeMap::new());
    }
    // Private: the kernel maps the cached pages themselves as long as nobody writes.
    let mapping = Mapping::new(bytes, libc::MAP_PRIVATE, Some(file.as_fd()))?;
    let all = bytes.div_ceil(size);
    let step = all.div_ceil(pages).max(1);
    let mut looked_at: Vec<*mut libc::c_void> = Vec::new();
    for page in (0..all).step_by(step) {
        let start: *mut libc::c_void = mapping.start().as_ptr().wrapping_add(page * size).cast();
        let mut is_cached = 0_u8;
        // SAFETY: the page is one of the mapping, and there is room for its one byte.
        checked(unsafe { libc::mincore(start, size, &raw mut is_cached) })?;
        if is_cached & 1 == 0 {
            continue;
        }
        // SAFETY: the page is one of the mapping, whose memory nobody refers to; the kernel only fills in its
        // table of pages.
        if unsafe { libc::madvise(start, size, libc::MADV_POPULATE_READ) } == 0 {
            looked_at.push(start);
        } else if io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
            return Err(io::ErrorKind::Unsupported.into());
        }
    }
    nodes_of(&looked_at)
}

/// Counts on which nodes mapped pages of this process lie.
fn nodes_of(pages: &[*mut libc::c_void]) -> io::Result<BTreeMap<u32, usize>> {
    let mut places: Vec<libc::c_int> = vec![-1; pages.len()];
    // SAFETY: the call reads and writes `pages.len()` elements, which both arrays have. Without an array of nodes to move to the kernel moves
    // nothing, and only writes where the pages are.
    checked(unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            pages.len(),
            pages.as_ptr(),
            std::ptr::null::<libc::c_int>(),
            places.as_mut_ptr(),
            0,
        )
    })?;
    let mut counts = BTreeMap::new();
    // Negative ones are errors of single pages.
    for node in places.into_iter().filter_map(|place| u32::try_from(place).ok()) {
        *counts.entry(node).or_insert(0) += 1;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::print_stdout, reason = "what is skipped is counted by this line")]
    fn the_program_that_runs_is_cached_on_some_node() {
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        match nodes_of_cached(&file, 8) {
            Ok(counts) => assert!((1..=8).contains(&counts.values().sum::<usize>()), "{counts:?}"),
            // A kernel without NUMA, or too old a one.
            Err(error) => println!("skipped: {error}"),
        }
    }

    #[test]
    fn an_empty_file_lies_nowhere() {
        let file = File::open("/dev/null").unwrap();
        assert_eq!(nodes_of_cached(&file, 8).unwrap(), BTreeMap::new());
    }
}
