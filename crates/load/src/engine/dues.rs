//! The requests of a thread that keeps the time itself: each is taken up once it is due.
//!
//! A pacer that has to share the CPU of the thread that sends cannot watch the clock meanwhile, and costs that thread two
//! changes of the running thread and three system calls for each request. So with one CPU the thread that sends looks at the
//! clock: whenever a connection has nothing more to do, and when a timer wakes it. If it is busy beyond the next due time,
//! no timer is needed.

use std::io;
use std::iter::{Enumerate, Peekable};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use becalm_kernel::timer::FileTimer;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::clock::Clock;
use super::desk::Desk;
use super::gaps::Handed;
use super::pacer::Due;
use crate::schedule::Schedule;

/// What is due to a thread, and when.
#[derive(Debug)]
pub(super) struct Dues {
    schedule: Peekable<Enumerate<Schedule>>,
    handed: Handed,
}

impl Dues {
    pub(super) fn new(schedule: Schedule) -> Self {
        Self { schedule: schedule.enumerate().peekable(), handed: Handed::default() }
    }

    /// Returns when the next request is due; `None` if there is none.
    pub(super) fn next_time(&mut self) -> Option<u64> {
        self.schedule.peek().map(|(_, time)| *time)
    }

    /// Takes up the next request if it is due.
    pub(super) fn take(&mut self, now: u64) -> Option<Due> {
        let (number, time) = self.schedule.next_if(|(_, time)| *time <= now)?;
        self.handed.next(time, now);
        Some(Due { number: number as u64, time })
    }

    /// Takes up nothing more.
    pub(super) fn stop(&mut self) {
        self.schedule = Schedule::of_times(Vec::new()).enumerate().peekable();
    }

    pub(super) fn handed(&self) -> &Handed {
        &self.handed
    }
}

/// Takes up the requests of a desk that keeps the time, until none comes any more.
pub(super) async fn keep_time(
    desk: &Rc<Desk>,
    clock: Clock,
    is_stopped: &AtomicBool,
) -> io::Result<()> {
    /// No wait is so long that somebody notices that it cannot be ended.
    const AT_ONCE: u64 = 20_000_000;
    // It is deprecated for the sake of types whose descriptor may change; the one of this timer does not.
    #[expect(deprecated, reason = "its successor is unsafe")]
    let timer = AsyncFd::with_interest(FileTimer::new()?, Interest::READABLE)?;
    while let Some(due) = desk.take_up() {
        if is_stopped.load(Ordering::Relaxed) {
            desk.stop_taking();
            break;
        }
        timer.get_ref().set_to(clock.monotonic(due.min(clock.now() + AT_ONCE)))?;
        // Setting it again takes back that it has expired, so nothing has to be read.
        timer.readable().await?.clear_ready();
    }
    Ok(())
}
