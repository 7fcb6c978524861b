//! The file locks that the kernel lists in `/proc/locks`, which says who holds a file also to who may not open it.
//! In a container it lists those of the container's own processes. See `proc_locks(5)`.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

use becalm_kernel::file;

use crate::SysRoot;

/// Says whether somebody is seen to hold a lock (flock(2)) on a file.
pub(super) fn is_held(root: &SysRoot, of: &Metadata) -> bool {
    let locks = root.read("/proc/locks").value().unwrap_or_default();
    is_listed(&locks, of.dev(), of.ino())
}

/// Looks for a file in lines such as `1: FLOCK  ADVISORY  WRITE 77 00:19:4711 0 EOF`, where the sixth word is the
/// device, in hexadecimal digits, and the number of the file.
fn is_listed(locks: &str, device: u64, inode: u64) -> bool {
    let place = format!("{:02x}:{:02x}:{inode}", file::major(device), file::minor(device));
    locks.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.get(1) == Some(&"FLOCK") && words.get(5) == Some(&place.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_known_by_its_file() {
        let locks = "1: POSIX  ADVISORY  WRITE 12 00:1a:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 900 00:1a:4711 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 901 00:1a:78 0 EOF\n";
        let device = file::makedev(0, 0x1a);
        assert!(is_listed(locks, device, 4711));
        assert!(!is_listed(locks, device, 77) && !is_listed(locks, device, 47));
        assert!(!is_listed(locks, file::makedev(8, 1), 4711));
    }
}
