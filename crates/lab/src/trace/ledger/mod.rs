//! The state of every CPU and of the subject's threads, event by event, and from it who took what.
//!
//! A thread of the subject has a CPU, is ready and waits for one, or waits for something else. While it
//! has a CPU, time goes to the layer on top (an interrupt, a softirq, a page fault) or to its own work.
//! While it is ready, time goes to whatever its CPU does instead. So every nanosecond from birth to end
//! is written down once for each thread, and what nobody can tell is called unknown. Nothing here reads
//! a clock or a file: events come in time order, from all CPUs.
//!
//! `cpus` writes down the time of a CPU and charges it, `layers` are what runs on top of a task, `threads`
//! who runs and who waits for what, `lives` when an account is opened and closed.

mod cpus;
mod layers;
mod lives;
mod threads;

use std::collections::HashMap;

use self::cpus::Cpu;
use self::lives::Open;
use self::threads::Thread;
use super::account::Account;
use super::event::{Comm, Function, Tid, TraceEvent, What};

/// What the state machine has to know of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    /// The process whose children are the subjects.
    pub(super) owner: u32,
    /// Nanoseconds from one tick to the next on a CPU that has work; 0 where it may stay away.
    pub(super) tick: u64,
    /// Nanoseconds that a page fault takes outside its two events: the way into the kernel and back,
    /// and the events themselves.
    pub(super) fault_overhead: u64,
}

/// What becalm accounts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The children of becalm.
    Subjects,
    /// Every CPU, as if a subject waited for it all the time.
    Watch,
}

/// The state of everything.
#[derive(Debug)]
pub(super) struct Ledger {
    rules: Rules,
    mode: Mode,
    cpus: Vec<Cpu>,
    threads: HashMap<Tid, Thread>,
    open: HashMap<Tid, Open>,
    closed: Vec<Account>,
    /// What each worker of the kernel works on.
    works: HashMap<Tid, Function>,
    names: HashMap<Tid, Comm>,
    /// Tasks that were charged and that nobody has looked up yet, or not since they execute another program.
    fresh: Vec<Tid>,
    episodes: u64,
}

impl Ledger {
    /// Starts with `n_cpus` CPUs of which nothing is known.
    pub(super) fn new(rules: Rules, mode: Mode, n_cpus: usize) -> Self {
        let mut cpus = Vec::new();
        cpus.resize_with(n_cpus, Cpu::default);
        Self {
            rules,
            mode,
            cpus,
            threads: HashMap::new(),
            open: HashMap::new(),
            closed: Vec::new(),
            works: HashMap::new(),
            names: HashMap::new(),
            fresh: Vec::new(),
            episodes: 0,
        }
    }

    /// Sets how long a page fault takes outside its two events.
    pub(super) fn set_fault_overhead(&mut self, nanos: u64) {
        self.rules.fault_overhead = nanos;
    }

    /// Returns the accounts that are complete, in the order of their ends, and forgets them.
    pub(super) fn take_closed(&mut self) -> Vec<Account> {
        std::mem::take(&mut self.closed)
    }

    /// Returns the tasks that were charged for the first time since the last call, or have a new name.
    pub(super) fn take_fresh(&mut self) -> Vec<Tid> {
        std::mem::take(&mut self.fresh)
    }

    /// Returns the name that a task had when it last took time.
    pub(super) fn name(&self, tid: Tid) -> Option<Comm> {
        self.names.get(&tid).copied()
    }

    /// Returns what each CPU did, in [`Mode::Watch`], up to the time `now`.
    pub(super) fn watched(&mut self, now: u64) -> Vec<Account> {
        (0..self.cpus.len())
            .map(|cpu| {
                self.advance(cpu, now);
                let mut account = self.cpus[cpu].watched.clone();
                account.ended = now;
                account
            })
            .collect()
    }

    /// Forgets what every CPU was doing: nothing was recorded until `now`.
    pub(super) fn resume(&mut self, now: u64) {
        self.threads.clear();
        self.open.clear();
        self.works.clear();
        for cpu in &mut self.cpus {
            let watched = std::mem::take(&mut cpu.watched);
            *cpu = Cpu { at: now, stay: cpu.stay, watched, ..Cpu::default() };
            if cpu.watched.started == 0 {
                cpu.watched.started = now;
            }
        }
    }

    /// Takes in the next event.
    pub(super) fn take(&mut self, event: &TraceEvent) {
        let Ok(cpu) = usize::try_from(event.cpu) else { return };
        if cpu >= self.cpus.len() {
            return;
        }
        if let What::Lost(_) = event.what {
            self.lost(cpu, event.at);
            return;
        }
        self.identify(cpu, event);
        match event.what {
            What::NonMaskable(nanos) => self.non_maskable(cpu, event.at, nanos),
            _ => self.advance(cpu, event.at),
        }
        match event.what {
            What::Switch { left, previous, next, comm } => {
                self.settle_all(cpu, event.at);
                self.leave_cpu(cpu, event.at, previous, left);
                self.enter_cpu(cpu, event.at, next, comm);
            }
            What::Wakeup { tid, target } => self.wake(tid, target, event.at),
            What::Migrate { tid, target } => self.migrate(tid, target, event.at),
            What::Fork { parent, process, tid, by } => {
                self.fork(event.at, (parent, by), (process, tid), cpu);
            }
            What::Exec { tid } => self.exec(event.at, tid),
            What::Exit { process, tid } => self.exit(event.at, process, tid),
            What::Enter(layer) => self.enter_layer(cpu, event.at, layer),
            What::Leave(layer) => self.leave_layer(cpu, event.at, layer),
            What::WorkStart(function) => {
                self.works.insert(event.tid, function);
            }
            What::WorkEnd => {
                self.works.remove(&event.tid);
            }
            What::FaultStart => self.fault_start(event.tid),
            What::FaultEnd { major } => self.fault_end(event.tid, major),
            What::NonMaskable(_) | What::Lost(_) => {}
        }
    }

    /// Makes up for a task whose coming nobody saw: every event tells who is there.
    fn identify(&mut self, cpu: usize, event: &TraceEvent) {
        /// What the kernel says of a task that is too far gone to have a number.
        const GONE: Tid = Tid(u32::MAX);
        let tid = match event.what {
            What::Switch { previous, .. } => previous,
            // The new thread is told by its parent's CPU, and the dead one by its own.
            _ => event.tid,
        };
        if tid == GONE || self.cpus[cpu].current == Some(tid) {
            return;
        }
        let slot = &self.cpus[cpu];
        if slot.current.is_none() && !slot.is_lost && slot.at > 0 {
            // The first event since anybody looks: it has been there all the time, as its coming would
            // have been an event.
            let since = slot.at;
            let comm = self.names.get(&tid).copied().unwrap_or_default();
            self.enter_cpu(cpu, since, tid, comm);
            return;
        }
        self.advance(cpu, event.at);
        if let Some(present) = self.cpus[cpu].current {
            self.lose_sight(cpu, event.at, present);
        }
        let comm = self.names.get(&tid).copied().unwrap_or_default();
        self.enter_cpu(cpu, event.at, tid, comm);
    }

    fn episode(&mut self) -> u64 {
        // Odd, while stays on a CPU are even, so that they never look like one another.
        self.episodes += 2;
        self.episodes | 1
    }
}

#[cfg(test)]
mod tests;
