//! The threads of the subjects: who runs, who waits for a CPU and who for something else.

use super::Ledger;
use crate::trace::account::Who;
use crate::trace::event::{Comm, Left, Tid};

#[derive(Debug)]
pub(super) struct Thread {
    pub(super) root: Tid,
    pub(super) state: State,
    /// Since when it is in this state.
    pub(super) since: u64,
    /// Where it runs or waits.
    pub(super) cpu: usize,
    /// Nanoseconds of the page fault that it is in.
    pub(super) fault: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Running,
    /// Waits for a CPU. Whoever was woken has waited for something before.
    Ready {
        woken: bool,
    },
    Asleep,
    Blocked,
    Stopped,
    /// Somebody else has its CPU, and why it left was lost.
    Unseen,
}

impl Ledger {
    pub(super) fn leave_cpu(&mut self, cpu: usize, now: u64, tid: Tid, left: Left) {
        let slot = &mut self.cpus[cpu];
        slot.current = None;
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        thread.since = now;
        thread.cpu = cpu;
        thread.state = match left {
            Left::Ready => State::Ready { woken: false },
            Left::Blocked => State::Blocked,
            Left::Stopped => State::Stopped,
            Left::Asleep | Left::Dead => State::Asleep,
        };
        if left == Left::Ready {
            slot.waiting.push(tid);
        }
    }

    /// Takes a task off a CPU that has another one by now, though its leaving was lost.
    pub(super) fn lose_sight(&mut self, cpu: usize, now: u64, tid: Tid) {
        self.cpus[cpu].current = None;
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        // It may have been seen to come to another CPU since.
        if thread.state == State::Running && thread.cpu == cpu {
            thread.state = State::Unseen;
            thread.since = now;
        }
    }

    pub(super) fn enter_cpu(&mut self, cpu: usize, now: u64, tid: Tid, comm: Comm) {
        self.stop_waiting(tid, now);
        self.end_pause(tid, now);
        if let Some(thread) = self.threads.get_mut(&tid) {
            let before = (thread.state == State::Running).then_some(thread.cpu);
            thread.state = State::Running;
            thread.since = now;
            thread.cpu = cpu;
            // Where its leaving was lost it would be charged with two CPUs.
            if let Some(before) = before.filter(|&before| before != cpu)
                && self.cpus[before].current == Some(tid)
            {
                self.cpus[before].current = None;
                self.cpus[before].is_lost = true;
            }
        }
        self.episodes += 2;
        let slot = &mut self.cpus[cpu];
        slot.current = Some(tid);
        slot.is_lost = false;
        slot.comm = comm;
        slot.stay = self.episodes;
    }

    /// Takes a thread off the list of those that wait for a CPU.
    pub(super) fn stop_waiting(&mut self, tid: Tid, now: u64) {
        let Some(thread) = self.threads.get(&tid) else { return };
        if let State::Ready { .. } = thread.state {
            let cpu = thread.cpu;
            self.advance(cpu, now);
            self.cpus[cpu].waiting.retain(|&waiting| waiting != tid);
        }
    }

    /// Charges a thread with the time that it waited for something other than a CPU.
    pub(super) fn end_pause(&mut self, tid: Tid, now: u64) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let nanos = now.saturating_sub(thread.since);
        let who = match thread.state {
            State::Running | State::Ready { .. } => return,
            State::Blocked => match &mut thread.fault {
                // The disk is a part of the fault.
                Some(fault) => {
                    *fault += nanos;
                    return;
                }
                None => Who::Blocked,
            },
            State::Asleep => Who::Asleep,
            State::Stopped => Who::Stopped,
            State::Unseen => Who::Unknown,
        };
        let root = thread.root;
        let episode = self.episode();
        if let Some(open) = self.open.get_mut(&root) {
            open.account.charge(who, nanos, episode);
        }
    }

    pub(super) fn wake(&mut self, tid: Tid, target: u32, now: u64) {
        let Some(thread) = self.threads.get(&tid) else { return };
        match thread.state {
            // It had not left yet.
            State::Running => {}
            State::Ready { .. } => self.migrate(tid, target, now),
            State::Asleep | State::Blocked | State::Stopped | State::Unseen => {
                self.end_pause(tid, now);
                self.wait_on(tid, target, now, State::Ready { woken: true });
            }
        }
    }

    pub(super) fn migrate(&mut self, tid: Tid, target: u32, now: u64) {
        let Some(thread) = self.threads.get(&tid) else { return };
        let state = thread.state;
        if let State::Ready { .. } = state {
            self.stop_waiting(tid, now);
            self.wait_on(tid, target, now, state);
        }
    }

    fn wait_on(&mut self, tid: Tid, target: u32, now: u64, state: State) {
        let target = target as usize;
        if target >= self.cpus.len() {
            return;
        }
        self.advance(target, now);
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.state = state;
            thread.since = now;
            thread.cpu = target;
            self.cpus[target].waiting.push(tid);
        }
    }
}
