//! How many files this process may have open.

use std::io;

use crate::checked;

/// A number of files as the kernel counts them.
pub type Count = libc::rlim_t;

/// The limit that holds and the highest that this process may set.
#[derive(Debug, Clone, Copy)]
pub struct FileLimit(libc::rlimit);

impl FileLimit {
    /// Reads the limit.
    pub fn read() -> io::Result<Self> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is a valid place for one rlimit; the call touches nothing else.
        checked(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
        Ok(Self(limit))
    }

    /// Makes it the limit.
    pub fn set(self) -> io::Result<()> {
        // SAFETY: a valid rlimit, which is only read.
        checked(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const self.0) }).map(drop)
    }

    /// Returns how many files may be open.
    pub fn files(self) -> Count {
        self.0.rlim_cur
    }

    /// Returns a limit that is higher by this many files, as far as this process may raise it.
    #[must_use]
    pub fn raised_by(self, files: Count) -> Self {
        let wanted = self.0.rlim_cur.saturating_add(files);
        Self(libc::rlimit { rlim_cur: self.0.rlim_max.min(wanted), ..self.0 })
    }
}
