//! What was taken from one run, in nanoseconds and by number; names come later.

use std::collections::BTreeMap;

use super::event::{Function, LayerKey, Tid};
use super::timeline::Timeline;

/// Who took time, as the kernel numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who {
    /// Another task had the CPU; for a worker of the kernel with the function it worked on.
    Task {
        /// Its number.
        tid: Tid,
        /// What it worked on.
        work: Option<Function>,
    },
    /// Something ran on top of the task, with the timer function that ran in it.
    Layer {
        /// What.
        layer: LayerKey,
        /// The timer that expired in it.
        timer: Option<Function>,
    },
    /// A non-maskable interrupt.
    NonMaskable,
    /// A page fault of the subject, with or without I/O.
    Fault {
        /// Whether it waited for I/O.
        major: bool,
    },
    /// Another thread of the same subject.
    OwnThreads,
    /// The CPU was idle and the subject had just become ready.
    WakeUp,
    /// The CPU was idle and the subject had been ready all the time.
    HeldBack,
    /// Stopped by a signal.
    Stopped,
    /// Waiting in the kernel, not to be interrupted.
    Blocked,
    /// Waiting of its own accord.
    Asleep,
    /// No sign of life from the CPU.
    Gap,
    /// Events are missing.
    Unknown,
}

/// How much one of them took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Amount {
    /// Nanoseconds altogether.
    pub(super) nanos: u64,
    /// How many times.
    pub(super) times: u64,
    /// Nanoseconds of the longest time.
    pub(super) longest: u64,
    /// The time that is still going on, and its length so far.
    episode: (u64, u64),
}

impl Amount {
    /// Adds nanoseconds that belong to an episode: those of one episode are one time.
    fn add(&mut self, nanos: u64, episode: u64) {
        self.nanos += nanos;
        if self.times > 0 && self.episode.0 == episode {
            self.episode.1 += nanos;
        } else {
            self.times += 1;
            self.episode = (episode, nanos);
        }
        self.longest = self.longest.max(self.episode.1);
    }
}

/// Where the time of one subject process and its children went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Account {
    /// The process that becalm started.
    pub(super) root: Tid,
    /// When it executed the subject, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub(super) started: u64,
    /// When its last thread ended.
    pub(super) ended: u64,
    /// Threads and children, itself included.
    pub(super) threads: u32,
    /// Processes, itself included.
    pub(super) processes: u32,
    /// Nanoseconds in which they executed their own instructions and system calls.
    pub(super) own: u64,
    /// Nanoseconds since birth for which they had a CPU, whatever ran on top of them.
    pub(super) on_cpu: u64,
    /// Nanoseconds of these in which interrupts and softirqs ran on top of them.
    pub(super) interrupted: u64,
    /// Everything that is not their own.
    pub(super) taken: BTreeMap<Who, Amount>,
    /// Who ran when on which CPU meanwhile.
    pub(super) timeline: Timeline,
}

impl Account {
    /// Writes down that `who` took some nanoseconds.
    pub(super) fn charge(&mut self, who: Who, nanos: u64, episode: u64) {
        if nanos > 0 {
            self.taken.entry(who).or_default().add(nanos, episode);
        }
    }

    /// Returns the nanoseconds that `who` took.
    #[cfg(test)]
    pub(super) fn nanos(&self, who: Who) -> u64 {
        self.taken.get(&who).map_or(0, |amount| amount.nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_one_episode_are_one_time() {
        let mut account = Account::default();
        for (nanos, episode) in [(5, 1), (6, 1), (0, 2), (7, 3)] {
            account.charge(Who::WakeUp, nanos, episode);
        }
        let amount = account.taken[&Who::WakeUp];
        assert_eq!((amount.nanos, amount.times, amount.longest), (18, 2, 11));
    }
}
