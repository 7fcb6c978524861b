//! Emptying the page cache, for measurements with cold files.

use std::io;

use becalm_kernel::file;

use crate::SysRoot;
use crate::steward::Steward;

/// Writes dirty pages back and drops clean page cache, dentries and inodes, which needs root.
///
/// Source: kernel documentation `admin-guide/sysctl/vm.rst`, `drop_caches`: only clean pages are
/// dropped, so a sync comes first.
pub fn drop_page_cache(root: &SysRoot) -> io::Result<()> {
    if let Some(mut steward) = Steward::of(root) {
        return steward.drop_page_cache();
    }
    file::sync();
    root.write("/proc/sys/vm/drop_caches", "3")
}
