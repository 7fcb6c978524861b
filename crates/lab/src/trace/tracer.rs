//! Opens every event on every CPU and reads them by a thread of its own.
//!
//! The thread looks every few milliseconds and is never woken by an event, because that would interrupt
//! the CPU that is measured. It keeps to the CPUs that becalm itself keeps to.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use becalm_kernel::perf::event;
use becalm_kernel::perf::ring::Ring;
use becalm_kernel::{clock, sched};
use becalm_machine::{SysRoot, affinity};
use becalm_model::{CpuSet, Limit, TraceLimit};
use becalm_runner::monotonic_raw;

use super::account::Account;
use super::catalogue::{Catalogue, Meanings};
use super::decode::decode;
use super::error::TraceError;
use super::event::{Tid, TraceEvent, What};
use super::ledger::{Ledger, Mode, Rules};
use super::merge::Merge;
use super::names::Names;
use super::opening::open_all;
use crate::namespace;

/// How long the reader sleeps. At a million events a second, 100 bytes each, 2 MB come meanwhile.
const PERIOD: Duration = Duration::from_millis(20);

/// Pages that are touched to learn what a page fault costs outside its events.
const TOUCHED_PAGES: usize = 256;
const PAGE: usize = 4096;

/// A trace that goes on.
#[derive(Debug)]
pub struct Tracer {
    events: Arc<Vec<OwnedFd>>,
    /// When the trace ended, once it has.
    ended: Arc<OnceLock<u64>>,
    resumed: Arc<Mutex<Vec<u64>>>,
    reader: JoinHandle<Recording>,
}

/// What a trace gave.
#[derive(Debug)]
pub struct Recording {
    /// One account for every child of becalm that ended, in the order of their ends.
    pub(super) accounts: Vec<Account>,
    /// One account for every CPU, in [`Mode::Watch`].
    pub(super) watched: Vec<(u32, Account)>,
    pub(super) names: Names,
    /// Events that were read.
    pub events: u64,
    /// Events that were lost.
    pub lost: u64,
    /// Nanoseconds that a page fault takes outside its two events; `None` where none was seen.
    pub fault_overhead: Option<u64>,
    /// What could not be traced, as sentences.
    pub limits: Vec<Limit>,
}

impl Tracer {
    /// Starts to trace every CPU that is online.
    pub fn start(root: &SysRoot, mode: Mode) -> Result<Self, TraceError> {
        // Numbers in tracepoints are those of the first namespace, others those of the opener's.
        if namespace::is_nested(root) {
            return Err(TraceError::Namespace);
        }
        let catalogue = Catalogue::read(root)?;
        let cpus = online(root);
        let opened = open_all(root, &catalogue, &cpus)?;
        let events = Arc::new(opened.events);
        let ended = Arc::new(OnceLock::new());
        let resumed = Arc::new(Mutex::new(Vec::new()));
        let caller = sched::own_tid();
        let (tick, tick_limit) = tick(root);
        let mut limits = catalogue.limits;
        limits.extend(tick_limit);
        let rules = Rules { owner: std::process::id(), tick, fault_overhead: 0 };
        let n_cpus = cpus.iter().map(|cpu| cpu.0 as usize + 1).max().unwrap_or(0);
        let reader = Reader {
            root: root.clone(),
            rings: opened.rings,
            meanings: opened.meanings,
            merge: Merge::default(),
            ledger: Ledger::new(rules, mode, n_cpus),
            names: Names::new(rules.owner, catalogue.vectors),
            touches: Touches { tid: Tid(caller), ..Touches::default() },
            resumed: Arc::clone(&resumed),
            ended: Arc::clone(&ended),
            caller,
            cpus: cpus.clone(),
            counted: (0, 0),
            limits,
            mode,
        };
        let reader = std::thread::Builder::new()
            .name("becalm-trace".to_owned())
            .spawn(move || reader.run())
            .map_err(TraceError::Thread)?;
        let tracer = Self { events, ended, resumed, reader };
        tracer.resume();
        touch();
        Ok(tracer)
    }

    /// Stops recording until [`Tracer::resume`].
    pub fn pause(&self) {
        for event in self.events.iter() {
            // An open event of a CPU can be stopped, unless the CPU has gone; then it is stopped.
            let _ = event::set_running(event, false);
        }
    }

    /// Goes on recording. Processes that were born meanwhile are not accounted for.
    pub fn resume(&self) {
        for event in self.events.iter() {
            let _ = event::set_running(event, true);
        }
        let mut resumed = self.resumed.lock().unwrap_or_else(PoisonError::into_inner);
        resumed.push(nanos(monotonic_raw()));
    }

    /// Ends the trace and returns what it gave.
    pub fn finish(self) -> Recording {
        // Before the events are stopped, which takes long where there are many CPUs: no tick would be
        // seen meanwhile, and one that is missing is taken for time that nothing ran.
        let end = nanos(monotonic_raw());
        self.pause();
        // Only here, and `self` is gone after it, so it was empty.
        let _ = self.ended.set(end);
        self.reader.thread().unpark();
        match self.reader.join() {
            Ok(recording) => recording,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// Writes to fresh pages, whose faults teach the reader what a fault costs outside its events.
fn touch() {
    let mut memory = vec![0_u8; TOUCHED_PAGES * PAGE];
    for page in memory.chunks_mut(PAGE) {
        page[0] = 1;
    }
    std::hint::black_box(&memory);
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn online(root: &SysRoot) -> CpuSet {
    let listed = root.read("/sys/devices/system/cpu/online").value();
    listed.and_then(|list| list.parse().ok()).unwrap_or_default()
}

/// Returns the nanoseconds between two ticks, and what that cannot tell here.
fn tick(root: &SysRoot) -> (u64, Option<Limit>) {
    let full = root.read("/sys/devices/system/cpu/nohz_full").value().unwrap_or_default();
    if full.is_empty() || full == "(null)" {
        return (clock::tick_nanos(), None);
    }
    (0, Some(TraceLimit::NoTick { cpus: full }.into()))
}

/// What the reading thread has.
struct Reader {
    root: SysRoot,
    rings: Vec<(u32, Ring)>,
    meanings: Meanings,
    merge: Merge,
    ledger: Ledger,
    names: Names,
    touches: Touches,
    resumed: Arc<Mutex<Vec<u64>>>,
    ended: Arc<OnceLock<u64>>,
    /// The thread of becalm that starts subjects.
    caller: u32,
    cpus: CpuSet,
    /// Events read and events lost.
    counted: (u64, u64),
    limits: Vec<Limit>,
    mode: Mode,
}

impl Reader {
    fn run(mut self) -> Recording {
        // On a busy CPU it would come too late; where this is refused, events may be lost, and that
        // is told.
        let _ = sched::go_first();
        let mut bytes = Vec::new();
        let mut previous = 0;
        loop {
            let ended = self.ended.get().copied();
            let now = nanos(monotonic_raw());
            for (cpu, ring) in &mut self.rings {
                bytes.clear();
                ring.drain(&mut bytes);
                let inlet = self.merge.inlet();
                decode(&bytes, *cpu, &mut self.meanings, inlet);
            }
            // What was being written while its buffer was read comes with the next reading.
            self.take_until(match ended {
                // What came while the events were stopped lies behind the end of the watch.
                Some(end) if self.mode == Mode::Watch => end,
                Some(_) => u64::MAX,
                None => previous,
            });
            if let Some(end) = ended {
                return self.finish(end);
            }
            previous = now;
            self.keep_away();
            std::thread::park_timeout(PERIOD);
        }
    }

    fn take_until(&mut self, until: u64) {
        for event in self.merge.until(until) {
            self.resume_before(event.at);
            self.counted.0 += 1;
            if let What::Lost(count) = event.what {
                self.counted.1 += count;
            }
            if let Some(overhead) = self.touches.take(&event) {
                self.ledger.set_fault_overhead(overhead);
            }
            self.ledger.take(&event);
        }
        // While they live.
        for tid in self.ledger.take_fresh() {
            let comm = self.ledger.name(tid).unwrap_or_default();
            self.names.look_up(&self.root, tid, comm);
        }
    }

    /// Tells the ledger of pauses that ended before the next event.
    fn resume_before(&mut self, at: u64) {
        let mut resumed = self.resumed.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(&first) = resumed.first()
            && first <= at
        {
            resumed.remove(0);
            self.ledger.resume(first);
        }
    }

    /// Follows becalm to the CPUs that it keeps to.
    fn keep_away(&mut self) {
        let Ok(cpus) = affinity::get(self.caller) else { return };
        if cpus != self.cpus {
            // Where that is refused, the trace costs more, which its measured cost shows.
            let _ = becalm_runner::pin_self(&cpus);
            self.cpus = cpus;
        }
    }

    fn finish(mut self, end: u64) -> Recording {
        let accounts = self.ledger.take_closed();
        let watched = match self.mode {
            Mode::Subjects => Vec::new(),
            Mode::Watch => {
                let accounts = self.ledger.watched(end);
                let cpus = self.rings.iter().map(|(cpu, _)| *cpu);
                cpus.filter_map(|cpu| Some((cpu, accounts.get(cpu as usize)?.clone()))).collect()
            }
        };
        self.names.devices = self.meanings.devices;
        let all: Vec<Account> =
            accounts.iter().chain(watched.iter().map(|(_, account)| account)).cloned().collect();
        self.names.look_up_functions(&self.root, &all);
        Recording {
            accounts,
            watched,
            names: self.names,
            events: self.counted.0,
            lost: self.counted.1,
            fault_overhead: self.touches.median(),
            limits: self.limits,
        }
    }
}

/// Page faults that follow each other at once: what lies between the end of one and the start of the
/// next is the way out of the kernel and in again, and the cost of the events.
#[derive(Debug, Default)]
struct Touches {
    tid: Tid,
    last_end: Option<u64>,
    gaps: Vec<u64>,
    is_told: bool,
}

/// Gaps that are enough for a median, few enough that every page size and allocator gives them.
const ENOUGH: usize = 64;

impl Touches {
    /// Takes in an event; returns the overhead of a fault once, when it is known.
    fn take(&mut self, event: &TraceEvent) -> Option<u64> {
        if event.tid != self.tid || self.is_told {
            return None;
        }
        match event.what {
            What::FaultEnd { .. } => self.last_end = Some(event.at),
            What::FaultStart => {
                let end = self.last_end.take()?;
                self.gaps.push(event.at.saturating_sub(end));
            }
            _ => self.last_end = None,
        }
        if self.gaps.len() < ENOUGH {
            return None;
        }
        self.is_told = true;
        self.median()
    }

    fn median(&self) -> Option<u64> {
        let mut gaps = self.gaps.clone();
        gaps.sort_unstable();
        (gaps.len() >= ENOUGH).then(|| gaps[gaps.len() / 2])
    }
}
