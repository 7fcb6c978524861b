//! Whether a process gets transparent huge pages (`PR_SET_THP_DISABLE`, prctl(2)).
//!
//! The setting belongs to the memory of a process and passes to the programs that it executes.
//! <https://docs.kernel.org/admin-guide/mm/transhuge.html#process-thp-controls>

use std::io;

use crate::checked;

/// `PR_THP_DISABLE_EXCEPT_ADVISED` of `linux/prctl.h` (Linux 6.18).
const EXCEPT_ADVISED: libc::c_ulong = 1 << 1;

/// What a process gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HugePages {
    /// None.
    Never,
    /// Where it asks for them (`MADV_HUGEPAGE`).
    Advised,
    /// As the machine has it.
    Allowed,
}

/// What the calling process had. It has that again when this is dropped.
#[derive(Debug)]
pub(crate) struct Before(libc::c_ulong);

impl HugePages {
    /// Lets the calling process have these, and what it executes.
    pub(crate) fn pass_on(self) -> io::Result<Before> {
        // SAFETY: plain numbers.
        let before = checked(unsafe {
            libc::prctl(libc::PR_GET_THP_DISABLE, NOTHING, NOTHING, NOTHING, NOTHING)
        })?;
        checked(set_raw(match self {
            Self::Never => 1,
            Self::Advised => 1 | EXCEPT_ADVISED,
            Self::Allowed => 0,
        }))?;
        Ok(Before(libc::c_ulong::try_from(before).unwrap_or(0)))
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        let _ = set_raw(self.0);
    }
}

const NOTHING: libc::c_ulong = 0;

/// Sets what `PR_GET_THP_DISABLE` tells: the lowest bit, and flags above it.
fn set_raw(told: libc::c_ulong) -> libc::c_int {
    // SAFETY: plain numbers.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, told & 1, told & !1, NOTHING, NOTHING) }
}
