//! The state of every CPU and of the subject's threads, event by event, and from it who took what.
//!
//! A thread of the subject has a CPU, is ready and waits for one, or waits for something else. While it
//! has a CPU, time goes to the layer on top (an interrupt, a softirq, a page fault) or to its own work.
//! While it is ready, time goes to whatever its CPU does instead. So every nanosecond from birth to end
//! is written down once for each thread, and what nobody can tell is called unknown. Nothing here reads
//! a clock or a file: events come in time order, from all CPUs.

use std::collections::HashMap;

use super::account::{Account, LayerKey, Who};
use super::event::{Comm, Event, Function, Layer, Left, Tid, What};

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
    /// Tasks that were charged and that nobody has looked up yet.
    fresh: Vec<Tid>,
    episodes: u64,
}

/// An account that goes on.
#[derive(Debug)]
struct Open {
    account: Account,
    /// Threads of the root process that live.
    live: u32,
    /// Whether it executes the subject already, and is becalm's own code no more.
    is_subject: bool,
}

#[derive(Debug, Default)]
struct Cpu {
    /// Up to when its time is written down.
    at: u64,
    /// Who has it; `None` until an event tells.
    current: Option<Tid>,
    comm: Comm,
    /// What runs on top of the task, the topmost last.
    frames: Vec<Frame>,
    /// Threads of the subjects that are ready and wait here.
    waiting: Vec<Tid>,
    /// Tells one stay of a task on this CPU from the next.
    stay: u64,
    /// In [`Mode::Watch`].
    watched: Account,
}

/// One layer that has begun.
#[derive(Debug)]
struct Frame {
    layer: Layer,
    entered: u64,
    /// Nanoseconds in which it was on top.
    nanos: u64,
    /// Timer functions that ran in it, with their nanoseconds.
    timers: Vec<(Function, u64)>,
}

#[derive(Debug)]
struct Thread {
    root: Tid,
    state: State,
    /// Since when it is in this state.
    since: u64,
    /// Where it runs or waits.
    cpu: usize,
    /// Nanoseconds of the page fault that it is in.
    fault: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// Waits for a CPU. Whoever was woken has waited for something before.
    Ready {
        woken: bool,
    },
    Asleep,
    Blocked,
    Stopped,
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

    /// Returns the tasks that were charged for the first time since the last call.
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
    pub(super) fn take(&mut self, event: &Event) {
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
            What::Enter(layer) => self.cpus[cpu].frames.push(Frame {
                layer,
                entered: event.at,
                nanos: 0,
                timers: Vec::new(),
            }),
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
    fn identify(&mut self, cpu: usize, event: &Event) {
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
        self.advance(cpu, event.at);
        if let Some(present) = self.cpus[cpu].current {
            self.leave_cpu(cpu, event.at, present, Left::Ready);
        }
        let comm = self.names.get(&tid).copied().unwrap_or_default();
        self.enter_cpu(cpu, event.at, tid, comm);
    }

    /// Writes down the time of one CPU up to `now`.
    fn advance(&mut self, cpu: usize, now: u64) {
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
            self.charge_all(cpu, Who::Unknown, span, 0);
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
    fn charge_all(&mut self, cpu: usize, who: Who, nanos: u64, episode: u64) {
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

    fn episode(&mut self) -> u64 {
        // Odd, while stays on a CPU are even, so that they never look like one another.
        self.episodes += 2;
        self.episodes | 1
    }

    fn leave_layer(&mut self, cpu: usize, now: u64, layer: Layer) {
        let frames = &self.cpus[cpu].frames;
        if !frames.iter().any(|frame| frame.layer.is_ended_by(layer)) {
            return;
        }
        // What was left on top of it has lost its end.
        while let Some(frame) = self.cpus[cpu].frames.pop() {
            let is_the_one = frame.layer.is_ended_by(layer);
            self.settle(cpu, now, &frame);
            if is_the_one {
                break;
            }
        }
    }

    /// Ends all layers: none survives a switch of tasks.
    fn settle_all(&mut self, cpu: usize, now: u64) {
        while let Some(frame) = self.cpus[cpu].frames.pop() {
            self.settle(cpu, now, &frame);
        }
    }

    /// Charges a layer that has ended.
    fn settle(&mut self, cpu: usize, now: u64, frame: &Frame) {
        if let Layer::Timer(function) = frame.layer {
            if let Some(below) = self.cpus[cpu].frames.last_mut() {
                below.timers.push((function, frame.nanos));
            }
            return;
        }
        let Some(layer) = LayerKey::of(frame.layer) else { return };
        let episode = self.episode();
        if frame.timers.is_empty() {
            let who = Who::Layer { layer, timer: None };
            self.charge_layer(cpu, now, who, frame.nanos, frame, episode);
            return;
        }
        // The way in and out, and the programming of the timer, are there because of them.
        let n_timers = frame.timers.len() as u64;
        let mut rest = frame.nanos;
        for (index, &(function, nanos)) in frame.timers.iter().enumerate() {
            let share = rest / (n_timers - index as u64);
            rest -= share;
            let who = Who::Layer { layer, timer: Some(function) };
            self.charge_layer(cpu, now, who, nanos + share, frame, episode);
        }
    }

    fn charge_layer(
        &mut self,
        cpu: usize,
        now: u64,
        who: Who,
        nanos: u64,
        frame: &Frame,
        episode: u64,
    ) {
        let slot = &mut self.cpus[cpu];
        if self.mode == Mode::Watch {
            slot.watched.charge(who, nanos, episode);
        }
        if let Some(thread) = slot.current.and_then(|tid| self.threads.get(&tid))
            && let Some(open) = self.open.get_mut(&thread.root)
        {
            open.account.interrupted += nanos;
            open.account.charge(who, nanos, episode);
        }
        for tid in &slot.waiting {
            let Some(thread) = self.threads.get(tid) else { continue };
            // Whoever became ready only meanwhile has waited only since then.
            let since = thread.since.max(frame.entered);
            if let Some(open) = self.open.get_mut(&thread.root) {
                open.account.charge(who, nanos.min(now.saturating_sub(since)), episode);
            }
        }
    }

    fn non_maskable(&mut self, cpu: usize, now: u64, nanos: u64) {
        self.advance(cpu, now.saturating_sub(nanos));
        let slot = &mut self.cpus[cpu];
        let taken = now.saturating_sub(slot.at);
        slot.at = slot.at.max(now);
        let episode = self.episode();
        self.charge_all(cpu, Who::NonMaskable, taken, episode);
    }

    fn leave_cpu(&mut self, cpu: usize, now: u64, tid: Tid, left: Left) {
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

    fn enter_cpu(&mut self, cpu: usize, now: u64, tid: Tid, comm: Comm) {
        self.stop_waiting(tid, now);
        self.end_pause(tid, now);
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.state = State::Running;
            thread.since = now;
            thread.cpu = cpu;
        }
        self.episodes += 2;
        let slot = &mut self.cpus[cpu];
        slot.current = Some(tid);
        slot.comm = comm;
        slot.stay = self.episodes;
    }

    /// Takes a thread off the list of those that wait for a CPU.
    fn stop_waiting(&mut self, tid: Tid, now: u64) {
        let Some(thread) = self.threads.get(&tid) else { return };
        if let State::Ready { .. } = thread.state {
            let cpu = thread.cpu;
            self.advance(cpu, now);
            self.cpus[cpu].waiting.retain(|&waiting| waiting != tid);
        }
    }

    /// Charges a thread with the time that it waited for something else than a CPU.
    fn end_pause(&mut self, tid: Tid, now: u64) {
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
        };
        let root = thread.root;
        let episode = self.episode();
        if let Some(open) = self.open.get_mut(&root) {
            open.account.charge(who, nanos, episode);
        }
    }

    fn wake(&mut self, tid: Tid, target: u32, now: u64) {
        let Some(thread) = self.threads.get(&tid) else { return };
        match thread.state {
            // It had not left yet.
            State::Running => {}
            State::Ready { .. } => self.migrate(tid, target, now),
            State::Asleep | State::Blocked | State::Stopped => {
                self.end_pause(tid, now);
                self.wait_on(tid, target, now, State::Ready { woken: true });
            }
        }
    }

    fn migrate(&mut self, tid: Tid, target: u32, now: u64) {
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

    fn fork(&mut self, now: u64, parent: (u32, Tid), child: (u32, Tid), cpu: usize) {
        if self.mode == Mode::Watch {
            return;
        }
        let ((parent, by), (process, tid)) = (parent, child);
        let root = match self.threads.get(&by) {
            Some(thread) => thread.root,
            None if parent == self.rules.owner && process != parent => tid,
            None => return,
        };
        let open = self.open.entry(root).or_insert_with(|| Open {
            account: Account { root, started: now, ..Account::default() },
            live: 0,
            is_subject: false,
        });
        open.account.threads += 1;
        open.account.processes += u32::from(process != parent);
        open.live += u32::from(process == root.0);
        let state = State::Asleep;
        self.threads.insert(tid, Thread { root, state, since: now, cpu, fault: None });
    }

    /// Begins anew where becalm's child becomes the subject.
    fn exec(&mut self, now: u64, tid: Tid) {
        let Some(open) = self.open.get_mut(&tid) else { return };
        if !open.is_subject {
            open.is_subject = true;
            let account = &mut open.account;
            account.started = now;
            account.own = 0;
            account.taken.clear();
        }
    }

    fn exit(&mut self, now: u64, process: u32, tid: Tid) {
        self.stop_waiting(tid, now);
        self.end_pause(tid, now);
        let Some(thread) = self.threads.remove(&tid) else { return };
        let root = thread.root;
        let Some(open) = self.open.get_mut(&root) else { return };
        // A fault without an end was none.
        open.account.own += thread.fault.unwrap_or(0);
        open.live -= u32::from(process == root.0 && open.live > 0);
        if open.live > 0 || process != root.0 {
            return;
        }
        // Children that outlive the subject are ended by becalm, and no part of the run.
        let orphans: Vec<Tid> =
            self.threads.iter().filter(|(_, t)| t.root == root).map(|(&tid, _)| tid).collect();
        for orphan in orphans {
            self.stop_waiting(orphan, now);
            self.threads.remove(&orphan);
        }
        if let Some(open) = self.open.remove(&root) {
            self.closed.push(Account { ended: now, ..open.account });
        }
    }

    fn fault_start(&mut self, tid: Tid) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        // One that has no end was none: a signal came of it, or the kernel tried an address.
        let unfinished = thread.fault.replace(0).unwrap_or(0);
        if let Some(open) = self.open.get_mut(&thread.root) {
            open.account.own += unfinished;
        }
    }

    fn fault_end(&mut self, tid: Tid, major: bool) {
        let episode = self.episode();
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let Some(nanos) = thread.fault.take() else { return };
        let Some(open) = self.open.get_mut(&thread.root) else { return };
        let account = &mut open.account;
        // The way in and out was taken for its own work.
        let overhead = self.rules.fault_overhead.min(account.own);
        account.own -= overhead;
        account.charge(Who::Fault { major }, nanos + overhead, episode);
    }

    /// Nobody knows what a CPU did until now.
    fn lost(&mut self, cpu: usize, now: u64) {
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

impl Layer {
    /// Says whether a layer of this kind ends it. A timer function is ended by any timer's end, as
    /// they do not run inside one another.
    fn is_ended_by(self, other: Self) -> bool {
        match (self, other) {
            (Self::Timer(_), Self::Timer(_)) => true,
            _ => self == other,
        }
    }
}
