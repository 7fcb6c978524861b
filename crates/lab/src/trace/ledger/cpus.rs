//! The time of a CPU, written down from event to event, and who is charged with it.

use super::layers::Frame;
use super::threads::State;
use super::{Ledger, Mode};
use crate::trace::account::{Account, Who};
use crate::trace::event::{Comm, LayerKey, Tid};
use crate::trace::timeline::{Ran, Timeline};

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
        let before = slot.at;
        slot.at = now;
        self.draw(cpu, (before, now));
        let slot = &mut self.cpus[cpu];
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

    /// Writes down in the timelines what a CPU did from one moment to another.
    fn draw(&mut self, cpu: usize, (from, to): (u64, u64)) {
        let slot = &self.cpus[cpu];
        let layer = slot.frames.iter().rev().find_map(|frame| LayerKey::of(frame.layer));
        let (ran, from_gap) = match (slot.current, layer) {
            (_, Some(layer)) => (Ran::Layer(layer), to),
            (None, None) if slot.is_lost => (Ran::Unknown, to),
            (None | Some(Tid::IDLE), None) => return,
            // When the CPU stood still nobody knows; that it did shows at the end.
            (Some(tid), None) => {
                (Ran::Task(tid), to - gap_in(to - from, self.rules.tick).min(to - from))
            }
        };
        self.note(cpu, ran, (from, from_gap));
        self.note(cpu, Ran::Gap, (from_gap, to));
    }

    /// Writes down in the timelines that something ran.
    fn note(&mut self, cpu: usize, ran: Ran, span: (u64, u64)) {
        let (number, comm) = (u32::try_from(cpu).unwrap_or(u32::MAX), self.cpus[cpu].comm);
        let root = match ran {
            Ran::Task(tid) => self.threads.get(&tid).map(|thread| thread.root),
            _ => None,
        };
        let watched = (self.mode == Mode::Watch).then_some(&mut self.cpus[cpu].watched);
        // What comes before the watch begins is no part of it.
        if let Some(account) = watched.filter(|account| account.started > 0) {
            if account.timeline.from == 0 {
                account.timeline = Timeline::starting(account.started);
            }
            draw_one(&mut account.timeline, number, ran, comm, span);
        }
        for (of, open) in self.open.iter_mut().filter(|(_, open)| open.is_subject) {
            let ran = if root == Some(*of) { Ran::Subject } else { ran };
            draw_one(&mut open.account.timeline, number, ran, comm, span);
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
        let before = self.cpus[cpu].at;
        self.note(cpu, Ran::NonMaskable, (before, now));
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
        let before = now - span;
        self.note(cpu, Ran::Unknown, (before, now));
        let slot = &mut self.cpus[cpu];
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

/// Writes down in one timeline that something ran, and what it was called.
fn draw_one(timeline: &mut Timeline, cpu: u32, ran: Ran, comm: Comm, span: (u64, u64)) {
    timeline.add(cpu, ran, span);
    if let Ran::Task(tid) = ran
        && !comm.is_empty()
    {
        timeline.names.entry(tid).or_insert(comm);
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
