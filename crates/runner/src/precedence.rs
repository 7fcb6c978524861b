//! becalm's own place among the tasks of the machine while it measures.
//!
//! The end of a run is seen when becalm has woken up. Where other programs compete for becalm's own
//! CPU, a normal task is woken late, by tens of milliseconds, and all of that stands in the wall time
//! of the run. In a real-time class becalm wakes up at once; it sleeps nearly always, so nobody misses
//! the CPU. What it starts gets the normal class (`SCHED_RESET_ON_FORK`, sched(7)).

use std::io;

use becalm_kernel::sched;

/// A real-time class for the calling thread, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Precedence(());

impl Precedence {
    /// Takes the class, above a subject of this priority where that is allowed; both may share a CPU.
    /// `None` where somebody has chosen a class or a niceness for becalm: that stays.
    ///
    /// # Errors
    ///
    /// The kernel does not allow the class.
    pub(crate) fn take(subject: u8) -> io::Result<Option<Self>> {
        if !sched::is_ordinary()? {
            return Ok(None);
        }
        // A limit on the priority may leave room for the subject's alone.
        sched::set_own_fifo(subject.saturating_add(1).min(HIGHEST))
            .or_else(|_| sched::set_own_fifo(subject))?;
        Ok(Some(Self(())))
    }
}

/// Highest real-time priority.
const HIGHEST: u8 = 99;

impl Drop for Precedence {
    fn drop(&mut self) {
        // Leaving a real-time class is always allowed.
        let _ = sched::leave_own_fifo();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::print_stdout, reason = "a skipped test says so")]
    fn becalm_comes_first_while_it_measures_and_what_it_starts_does_not() {
        // In a thread of its own, because the class of a test thread would leak.
        let thread = std::thread::spawn(|| {
            let ordinary = || sched::is_ordinary().unwrap();
            if !ordinary() {
                return Err("this test runs with a class or a niceness of its own".to_owned());
            }
            let taken = Precedence::take(1).map_err(|error| format!("SCHED_FIFO: {error}"))?;
            let precedence = taken.expect("nobody has chosen a class");
            assert!(!ordinary());
            assert!(std::thread::spawn(move || sched::is_ordinary().unwrap()).join().unwrap());
            assert!(Precedence::take(1).unwrap().is_none(), "a class that is there stays");
            drop(precedence);
            assert!(ordinary());
            Ok(())
        });
        if let Err(why) = thread.join().unwrap() {
            println!("skipped: becalm_comes_first: {why}");
        }
    }
}
