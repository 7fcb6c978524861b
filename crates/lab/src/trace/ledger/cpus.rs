//! The time of a CPU, written down from event to event, and who is charged with it.

use super::layers::Frame;
use super::threads::State;
use super::{Ledger, Mode};
use crate::trace::account::{Account, Who};
use crate::trace::event::{Comm, Tid};

#[derive(Debug, Default)]
pub(super) struct Cpu {
    /// Up to when its time is written down.
    pub(super) at: u64,
    /// Who has it; `None` until an event tells.
    pub(super) current: Option<Tid>,
    /// Whether that is so because events were lost.
    pub(super) is_lost: bool,
    pub(super) comm: Comm,
    /// What runs on top of the task, the topmost last.
    pub(super) frames: Vec<Frame>,
    /// Threads of the subjects that are ready and wait here.
    pub(super) waiting: Vec<Tid>,
    /// Tells one stay of a task on this CPU from the next.
    pub(super) stay: u64,
    /// In [`Mode::Watch`].
    pub(super) watched: Account,
}

impl Ledger {
    /// Writes down the time of one CPU up to `now`.
    pub(super) fn advance(&mut self, cpu: usize, now: u64) {
        let slot = &mut self.cpus[cpu];
        let span = now.saturating_sub(slot.at);
        if span == 0 {
            return;
        }
        if slot.at == 0 {
            // The first event of this CPU.
            slot.at = now;
            return;
        }
        slot.at = now;
        let Some(current) = slot.current else {
            // Without any event until now it has no task, where every task gets its tick.
            if slot.is_lost || self.mode == Mode::Subjects || self.rules.tick == 0 {
                self.charge_all(cpu, Who::Unknown, span, 0);
            }
            return;
        };
        let is_idle = current == Tid::IDLE;
        let gap =
            if is_idle || !slot.frames.is_empty() { 0 } else { gap_in(span, self.rules.tick) };
        if let Some(thread) = self.threads.get(&current)
            && let Some(open) = self.open.get_mut(&thread.root)
        {
            open.account.on_cpu += span;
        }
        if gap > 0 {
            let episode = self.episode();
            self.charge_all(cpu, Who::Gap, gap, episode);
        }
        let span = span - gap;
        let slot = &mut self.cpus[cpu];
        if let Some(frame) = slot.frames.last_mut() {
            // Charged when it ends, because only then it is known whose timer it was.
            frame.nanos += span;
            return;
        }
        if let Some(thread) = self.threads.get_mut(&current) {
            if let Some(nanos) = &mut thread.fault {
                *nanos += span;
            } else if let Some(open) = self.open.get_mut(&thread.root) {
                open.account.own += span;
            }
        }
        if self.mode == Mode::Watch && !is_idle {
            let who = self.task(cpu, current);
            let stay = self.cpus[cpu].stay;
            self.cpus[cpu].watched.charge(who, span, stay);
        }
        if !self.cpus[cpu].waiting.is_empty() {
            self.charge_waiting(cpu, current, span);
        }
    }

    /// Charges the threads that wait for a CPU with what its present task does.
    fn charge_waiting(&mut self, cpu: usize, current: Tid, span: u64) {
        let family = self.threads.get(&current).map(|thread| thread.root);
        let task = if current == Tid::IDLE || family.is_some() {
            None
        } else {
            Some(self.task(cpu, current))
        };
        let slot = &self.cpus[cpu];
        for tid in &slot.waiting {
            let Some(thread) = self.threads.get(tid) else { continue };
            let Some(open) = self.open.get_mut(&thread.root) else { continue };
            let who = match task {
                Some(task) => task,
                None if family == Some(thread.root) => Who::OwnThreads,
                None if family.is_some() => Who::Task { tid: current, work: None },
                None if thread.state == (State::Ready { woken: true }) => Who::WakeUp,
                None => Who::HeldBack,
            };
            open.account.charge(who, span, slot.stay);
        }
    }

    /// Returns how the task on a CPU is charged, and remembers its name.
    fn task(&mut self, cpu: usize, tid: Tid) -> Who {
        let comm = self.cpus[cpu].comm;
        let known = self.names.entry(tid).or_insert_with(|| {
            self.fresh.push(tid);
            comm
        });
        if !comm.is_empty() {
            *known = comm;
        }
        Who::Task { tid, work: self.works.get(&tid).copied() }
    }

    /// Charges the subject that has the CPU and those that wait for it.
    pub(super) fn charge_all(&mut self, cpu: usize, who: Who, nanos: u64, episode: u64) {
        let slot = &mut self.cpus[cpu];
        if self.mode == Mode::Watch {
            slot.watched.charge(who, nanos, episode);
        }
        for tid in slot.current.iter().chain(&slot.waiting) {
            let Some(thread) = self.threads.get(tid) else { continue };
            if let Some(open) = self.open.get_mut(&thread.root) {
                open.account.charge(who, nanos, episode);
            }
        }
    }

    pub(super) fn non_maskable(&mut self, cpu: usize, now: u64, nanos: u64) {
        self.advance(cpu, now.saturating_sub(nanos));
        let slot = &mut self.cpus[cpu];
        let taken = now.saturating_sub(slot.at);
        slot.at = slot.at.max(now);
        let episode = self.episode();
        self.charge_all(cpu, Who::NonMaskable, taken, episode);
    }

    /// Nobody knows what a CPU did until now.
    pub(super) fn lost(&mut self, cpu: usize, now: u64) {
        let slot = &mut self.cpus[cpu];
        let span = if slot.at == 0 { 0 } else { now.saturating_sub(slot.at) };
        slot.at = slot.at.max(now);
        slot.frames.clear();
        let episode = self.episode();
        self.charge_all(cpu, Who::Unknown, span, episode);
        // Whoever is there tells with the next event. A subject stays on it until then.
        if self.cpus[cpu].current.is_some_and(|tid| !self.threads.contains_key(&tid)) {
            self.cpus[cpu].current = None;
        }
        self.cpus[cpu].is_lost = self.cpus[cpu].current.is_none();
    }
}

/// Returns how much of a silence nobody but the outside world can have taken.
///
/// A CPU that has work gets a tick at least every `tick` nanoseconds. A tick that is late shows that
/// the CPU stood still when it was due, and what it is late by is a lower bound. Longer than a whole
/// tick the CPU stood still since some moment after the last one, all equally likely: half a tick more.
fn gap_in(silence: u64, tick: u64) -> u64 {
    let late = silence.saturating_sub(tick);
    match late {
        _ if tick == 0 || late < tick / 4 => 0,
        late if late >= tick => late + tick / 2,
        late => late,
    }
}
