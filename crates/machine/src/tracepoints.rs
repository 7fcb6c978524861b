//! The tracepoints of this kernel, read by whoever may read them.

use crate::SysRoot;
use crate::steward::Steward;
use crate::tracefs::{self, Described, NoTracefs};

/// Returns how this kernel describes the tracepoints that becalm uses.
pub fn tracepoints(root: &SysRoot) -> Described {
    match Steward::of(root) {
        Some(mut steward) => steward
            .tracepoints()
            .unwrap_or_else(|error| Err(NoTracefs::Nowhere { why: error.to_string() })),
        None => tracefs::descriptions(root),
    }
}
