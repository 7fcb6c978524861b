//! Who gets transparent huge pages.

use crate::SysRoot;
use crate::tune::chosen;

/// Returns the kernel's word for who does: `always`, `madvise` or `never`; `None` where there are none, or that cannot be
/// read.
pub fn huge_pages(root: &SysRoot) -> Option<String> {
    let text = root.read("/sys/kernel/mm/transparent_hugepage/enabled").value()?;
    Some(chosen(&text).to_owned())
}
