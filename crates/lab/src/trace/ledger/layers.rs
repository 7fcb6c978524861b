//! What runs on top of a task: interrupts, softirqs and the timers in them, and page faults.

use super::{Ledger, Mode};
use crate::trace::account::Who;
use crate::trace::event::{Function, Layer, LayerKey, Tid};

/// One layer that has begun.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) layer: Layer,
    pub(super) entered: u64,
    /// Nanoseconds in which it was on top.
    pub(super) nanos: u64,
    /// Timer functions that ran in it, with their nanoseconds.
    pub(super) timers: Vec<(Function, u64)>,
}

impl Ledger {
    pub(super) fn enter_layer(&mut self, cpu: usize, now: u64, layer: Layer) {
        self.cpus[cpu].frames.push(Frame { layer, entered: now, nanos: 0, timers: Vec::new() });
    }

    pub(super) fn leave_layer(&mut self, cpu: usize, now: u64, layer: Layer) {
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
    pub(super) fn settle_all(&mut self, cpu: usize, now: u64) {
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

    pub(super) fn fault_start(&mut self, tid: Tid) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        // One that has no end was none: a signal came of it, or the kernel tried an address.
        let unfinished = thread.fault.replace(0).unwrap_or(0);
        if let Some(open) = self.open.get_mut(&thread.root) {
            open.account.own += unfinished;
        }
    }

    pub(super) fn fault_end(&mut self, tid: Tid, major: bool) {
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
