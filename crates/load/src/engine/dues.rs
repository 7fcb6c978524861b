//! The requests of a thread that keeps the time itself: each is taken up once it is due.
//!
//! A pacer that has to share the CPU of the thread that sends cannot watch the clock meanwhile, and costs that thread two
//! changes of the running thread and three system calls for each request. So with one CPU the thread that sends looks at the
//! clock: whenever a connection has nothing more to do, and when a timer wakes it. If it is busy beyond the next due time,
//! no timer is needed.

use std::iter::{Enumerate, Peekable};

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
