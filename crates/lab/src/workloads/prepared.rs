//! A workload that has everything it needs, so that only the work itself remains to be timed.

use std::fmt;
use std::io;

/// What is done before each iteration without being timed.
type Rest = Box<dyn FnMut() -> io::Result<()>>;
/// The iteration, which returns a checksum.
type Work = Box<dyn FnMut() -> io::Result<u64>>;

/// A workload ready to be run as often as wanted, by the thread that prepared it.
pub(crate) struct Prepared {
    rest: Option<Rest>,
    work: Work,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

impl Prepared {
    /// Work that may fail.
    pub(super) fn new(work: impl FnMut() -> io::Result<u64> + 'static) -> Self {
        Self { rest: None, work: Box::new(work) }
    }

    /// Work that cannot fail.
    pub(super) fn computing(mut work: impl FnMut() -> u64 + 'static) -> Self {
        Self::new(move || Ok(work()))
    }

    /// The same work after something that is not timed.
    pub(super) fn after(self, rest: impl FnMut() -> io::Result<()> + 'static) -> Self {
        Self { rest: Some(Box::new(rest)), ..self }
    }

    /// Does what comes before an iteration and is not timed.
    pub(crate) fn rest(&mut self) -> io::Result<()> {
        self.rest.as_mut().map_or(Ok(()), |rest| rest())
    }

    /// Does the work of one iteration and returns its checksum.
    pub(crate) fn work(&mut self) -> io::Result<u64> {
        (self.work)()
    }
}
