//! From the birth of a subject to the end of its last thread: when its account is opened and closed.

use super::threads::{State, Thread};
use super::{Ledger, Mode};
use crate::trace::account::Account;
use crate::trace::event::Tid;
use crate::trace::timeline::Timeline;

/// An account that goes on.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) account: Account,
    /// Threads of the root process that live.
    pub(super) live: u32,
    /// Whether it executes the subject already, and is becalm's own code no more.
    pub(super) is_subject: bool,
}

impl Ledger {
    pub(super) fn fork(&mut self, now: u64, parent: (u32, Tid), child: (u32, Tid), cpu: usize) {
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
    pub(super) fn exec(&mut self, now: u64, tid: Tid) {
        if self.names.contains_key(&tid) {
            // It has another name now, and does not have to leave its CPU for that.
            self.fresh.push(tid);
        }
        let Some(open) = self.open.get_mut(&tid) else { return };
        if !open.is_subject {
            open.is_subject = true;
            let account = &mut open.account;
            account.started = now;
            account.own = 0;
            account.taken.clear();
            account.timeline = Timeline::starting(now);
        }
    }

    pub(super) fn exit(&mut self, now: u64, process: u32, tid: Tid) {
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
        // What the other CPUs did up to now is a part of its timeline.
        for cpu in (0..self.cpus.len()).filter(|cpu| self.cpus[*cpu].at > 0).collect::<Vec<_>>() {
            self.advance(cpu, now);
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
            thin_out(&mut self.closed);
        }
    }
}

/// Accounts with a timeline, at most; but becalm looks after every so many accounts only.
const TIMELINES: usize = 64;
const EVERY: usize = 16;

/// Drops every second timeline where there are many, but never that of the longest run.
fn thin_out(accounts: &mut [Account]) {
    let has = |account: &&mut Account| !account.timeline.lanes.is_empty();
    if !accounts.len().is_multiple_of(EVERY) {
        return;
    }
    if accounts.iter().filter(|account| !account.timeline.lanes.is_empty()).count() <= TIMELINES {
        return;
    }
    let length = |account: &Account| account.ended.saturating_sub(account.started);
    let longest = accounts.iter().map(length).max().unwrap_or(0);
    for (place, account) in accounts.iter_mut().filter(has).enumerate() {
        if place % 2 == 1 && length(account) < longest {
            account.timeline = Timeline::default();
        }
    }
}
