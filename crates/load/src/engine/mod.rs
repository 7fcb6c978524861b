//! The load with real connections: a pacer, threads that send, and one that puts together what they count.

mod answer;
mod ask;
mod batches;
mod clock;
mod connection;
mod contents;
mod desk;
mod dues;
mod expected;
mod failure;
mod filled;
mod gaps;
mod grpc;
mod headers;
mod http1;
mod http2;
mod limit;
mod mailbox;
mod mix;
mod pacer;
mod redirect;
mod shard;
mod stamped;
mod target;
mod telling;
mod template;
mod threads;
mod tls;
mod wanted;

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use becalm_kernel::interrupt::Interrupt;
use becalm_kernel::sched;
use becalm_model::load::{Gaps, ThreadUse};
use tokio::sync::mpsc::unbounded_channel;

use self::clock::{Clock, has_several_cpus, measure_spin};
use self::pacer::pace;
use self::shard::{Sent, Source};
use self::telling::{Telling, Told};
use crate::fidelity::{Judged, Observed, judge};
use crate::files::permit_connections;
use crate::schedule::Schedule;
use crate::seconds::{ClosedSecond, Collector, SECOND};
use crate::tally::Tally;

pub use ask::{Unanswered, ask};
pub use contents::{Bodies, Contents, basic_authorization, bearer_authorization};
pub use mix::Requests;
pub use target::{Protocol, Target, TargetError, Way, port_of_url};
pub use template::Template;
pub use tls::{TlsError, Trusted};
pub use wanted::{RequestError, Wanted};

/// Until the first request is due: enough to open a few connections.
const BEFORE_THE_START: u64 = 50_000_000;

/// The longest that a thread that sends looks at the clock instead of sleeping, in nanoseconds: in a virtual machine a
/// sleep ends about as late and takes about as much of its CPU, so that looking costs no more.
const LONGEST_LOOK: u64 = 20_000;

/// How often the live figures are reported.
const LIVE: Duration = Duration::from_millis(500);

/// A load that is about to begin.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where the requests go.
    pub target: Target,
    /// What they are.
    pub requests: Requests,
    /// When they are due.
    pub schedule: Schedule,
    /// The highest rate of the schedule, in requests in a second.
    pub highest_rate: f64,
    /// After how long without the end of an answer a request fails; for how long one waits for a connection when no
    /// more are due.
    pub time_limit: Duration,
    /// The most connections at the same time.
    pub connections: usize,
    /// The most requests at the same time on one connection of HTTP/2.
    pub streams: usize,
    /// Whether each request opens a connection of its own.
    pub new_connections: bool,
    /// Threads that send; at most as many as there may be connections.
    pub threads: usize,
    /// Whether the server has CPUs that the generator does not use: then a thread that looks at the clock instead of sleeping
    /// takes nothing from it.
    pub own_cpus: bool,
    /// For how long requests that are due are gathered, to be sent together; each is sent when it is due if that is 0. If
    /// nobody says, that depends on the rate.
    pub batch: Option<Duration>,
    /// When the threads that send do nothing, to see what becomes of that; never, for a load that is to mean something.
    pub pause: Option<Pause>,
}

/// A time in which the threads that send do nothing, as if they had no CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// When it begins, from the first due time on.
    pub begins: Duration,
    /// How long it is.
    pub length: Duration,
}

/// Returns how many threads send where nobody says: of the CPUs of the generator one keeps the time, and half are enough.
pub fn threads_here() -> u64 {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    (cpus as u64 / 2).clamp(1, 4)
}

impl Plan {
    /// Returns how many threads send.
    fn senders(&self) -> usize {
        self.threads.clamp(1, self.connections.max(1))
    }

    /// Returns how many requests a connection carries at a time.
    fn width(&self) -> usize {
        match self.target.protocol {
            Protocol::Http1 => 1,
            Protocol::Http2 => self.streams.max(1),
        }
    }

    /// Returns how many requests may be under way at the same time.
    pub(crate) fn places(&self) -> usize {
        self.connections * self.width()
    }

    /// Returns how many of the connections a thread may have.
    fn connections_of(&self, thread: usize) -> usize {
        let (all, threads) = (self.connections.max(1), self.senders());
        all / threads + usize::from(thread < all % threads)
    }
}

/// How a load goes, told twice in a second.
#[derive(Debug)]
pub struct Live<'a> {
    /// Since the first request was due.
    pub elapsed: Duration,
    /// For how long the figures of `recent` were gathered.
    pub window: Duration,
    /// The requests that ended since the last time.
    pub recent: &'a Tally,
    /// All requests that have ended.
    pub total: &'a Tally,
}

/// A load that is over.
#[derive(Debug)]
pub struct Loaded {
    /// All requests.
    pub total: Tally,
    /// The requests of each kind, by the name of the kind; nothing where all are of one.
    pub mix: Vec<(String, Tally)>,
    /// The requests by second.
    pub seconds: Vec<ClosedSecond>,
    /// From the first due time until no request was under way.
    pub elapsed: Duration,
    /// From the first due time until the last expected answer, or to the end of the schedule if that is later.
    pub answering: Duration,
    /// How long before a due time whoever keeps the time stopped sleeping.
    pub spin: Duration,
    /// For how long requests that were due were gathered, at most, to be sent together.
    pub batch: Duration,
    /// Gaps between requests.
    pub gaps: Gaps,
    /// The pacer, if it had a thread of its own.
    pub pacer: Option<ThreadUse>,
    /// The threads that sent.
    pub senders: Vec<ThreadUse>,
}

impl Loaded {
    /// Says whether its figures are those of the server, if it was allowed so many connections.
    pub(crate) fn judged(&self, connections: u64) -> Judged {
        judge(&Observed {
            tally: &self.total,
            connections,
            pacer_cpu: self.pacer.as_ref().map_or(0.0, |pacer| pacer.cpu),
            waited: self.threads().filter_map(|thread| thread.waited).reduce(f64::max),
        })
    }

    /// Returns what the threads used, the pacer's first.
    pub(crate) fn threads(&self) -> impl Iterator<Item = &ThreadUse> {
        self.pacer.iter().chain(&self.senders)
    }
}

/// Why there was no load.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system gave no thread, or none of what its loop needs.
    #[error("cannot start the threads that send: {0}")]
    Threads(#[from] io::Error),
    /// There may not be as many open files as connections.
    #[error(
        "{wanted} connections need more open files than this process may have; it may have {possible}"
    )]
    Files {
        /// Connections that were asked for.
        wanted: u64,
        /// Connections that are possible.
        possible: u64,
    },
}

/// Sends the requests of a plan when they are due, until none is under way or a signal comes.
pub fn load(
    plan: Plan,
    interrupt: &Interrupt,
    live: &mut dyn FnMut(&Live<'_>),
) -> Result<Loaded, LoadError> {
    load_while(plan, interrupt, &mut |told| {
        live(told);
        ControlFlow::Continue(())
    })
}

/// The same; it also ends as soon as `live` asks for that.
pub fn load_while(
    plan: Plan,
    interrupt: &Interrupt,
    live: &mut dyn FnMut(&Live<'_>) -> ControlFlow<()>,
) -> Result<Loaded, LoadError> {
    load_in_slices(plan, SECOND, interrupt, live)
}

/// The same with slices of so many nanoseconds in place of seconds; with short ones it is also told more often how it goes.
pub(crate) fn load_in_slices(
    plan: Plan,
    slice: u64,
    interrupt: &Interrupt,
    live: &mut dyn FnMut(&Live<'_>) -> ControlFlow<()>,
) -> Result<Loaded, LoadError> {
    let is_alone = plan.senders() == 1 && !has_several_cpus();
    let keeper = if is_alone { Keeper::Sender } else { Keeper::Pacer };
    load_kept_by(keeper, plan, slice, interrupt, live)
}

/// Who watches the due times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeper {
    /// A thread that does nothing else, beside those that send.
    Pacer,
    /// The one that sends: a second thread would only take its CPU from it.
    Sender,
}

fn load_kept_by(
    keeper: Keeper,
    plan: Plan,
    slice: u64,
    interrupt: &Interrupt,
    live: &mut dyn FnMut(&Live<'_>) -> ControlFlow<()>,
) -> Result<Loaded, LoadError> {
    let often = LIVE.min(Duration::from_nanos(slice));
    // Twice as often, so that every report has something new.
    let telling = Telling { slice, often: often / 2 };
    let wanted = plan.connections as u64;
    let possible = permit_connections(wanted)?;
    if possible < wanted {
        return Err(LoadError::Files { wanted, possible });
    }
    let batch = batch_of(keeper, &plan);
    let spin = spin(keeper, batch, &plan);
    let scheduled = plan.schedule.length();
    let (plan, is_stopped) = (Arc::new(plan), AtomicBool::new(false));
    let clock = Clock::starting_in(BEFORE_THE_START);
    let (tells, told) = channel();
    let collector = Mutex::new(Collector::new(plan.senders()));
    let kinds: Vec<String> = plan.requests.names().map(str::to_owned).collect();
    let (paced, sent, connections) = std::thread::scope(|scope| {
        let (mut handing, mut shards) = (Vec::new(), Vec::new());
        for number in 0..plan.senders() {
            let source = match keeper {
                Keeper::Sender => {
                    Source::Kept(Keeping { schedule: plan.schedule.clone(), spin, batch })
                }
                Keeper::Pacer => {
                    let (hands, dues) = unbounded_channel();
                    handing.push(hands);
                    Source::Handed(dues)
                }
            };
            let (plan, tells, is_stopped) = (Arc::clone(&plan), tells.clone(), &is_stopped);
            let named = std::thread::Builder::new().name(format!("sender {}", number + 1));
            shards.push(named.spawn_scoped(scope, move || {
                let sent = shard::send(plan, clock, number, telling, source, tells, is_stopped);
                // Without this one the load is worth nothing, so the pacer and the others need not go on.
                if sent.is_err() {
                    is_stopped.store(true, Ordering::Relaxed);
                }
                sent
            })?);
        }
        drop(tells);
        let pacer = match keeper {
            Keeper::Sender => None,
            Keeper::Pacer => {
                let (schedule, stopped) = (plan.schedule.clone(), &is_stopped);
                let named = std::thread::Builder::new().name("pacer".to_owned());
                Some(named.spawn_scoped(scope, move || {
                    pace(Keeping { schedule, spin, batch }, clock, &handing, stopped)
                })?)
            }
        };
        let (collects, is_over) = channel::<()>();
        let counts = std::thread::Builder::new().name("counts".to_owned());
        let counts = counts.spawn_scoped(scope, || {
            let connections = collect(told, &collector);
            drop(collects);
            connections
        })?;
        watch(&is_over, clock, &collector, &is_stopped, interrupt, often, live);
        let connections = counts.join().expect("counting does not panic");
        let paced = pacer.map(|pacer| pacer.join().expect("the pacer does not panic"));
        let sent = shards.into_iter().map(|shard| shard.join().expect("a sender does not panic"));
        Ok::<_, io::Error>((paced, sent.collect::<io::Result<Vec<Sent>>>()?, connections))
    })?;
    let gaps = match (&paced, sent.first()) {
        (Some(paced), _) => paced.gaps,
        (None, first) => first.and_then(|sent| sent.gaps).unwrap_or_default(),
    };
    let pacer = paced.map(|paced| paced.used);
    let elapsed = Duration::from_nanos(sent.iter().map(|sent| sent.end).max().unwrap_or(0));
    let senders = sent.into_iter().map(|sent| sent.used).collect();
    let mut collector = collector.into_inner().expect("counting does not panic");
    let mix = kinds.into_iter().zip(collector.kinds()).collect();
    let (mut total, seconds) = collector.finish();
    total.counts.connections = connections;
    let answering = answering(elapsed, total.last_answer, scheduled);
    Ok(Loaded {
        total,
        mix,
        seconds,
        elapsed,
        answering,
        spin: Duration::from_nanos(spin),
        batch: Duration::from_nanos(batch),
        gaps,
        pacer,
        senders,
    })
}

/// What whoever keeps the time has to know.
struct Keeping {
    /// When requests are due.
    schedule: Schedule,
    /// For how many nanoseconds before that it looks at the clock instead of sleeping.
    spin: u64,
    /// For how many nanoseconds it gathers requests.
    batch: u64,
}

/// Returns for how many nanoseconds requests are gathered.
fn batch_of(keeper: Keeper, plan: &Plan) -> u64 {
    let usual = match keeper {
        // It has a CPU for this alone, and looks at the clock in any case.
        Keeper::Pacer => Duration::ZERO,
        Keeper::Sender => batches::usual(plan.highest_rate),
    };
    nanos_of(plan.batch.unwrap_or(usual))
}

fn nanos_of(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns for how many nanoseconds before a due time its keeper looks at the clock instead of sleeping.
fn spin(keeper: Keeper, batch: u64, plan: &Plan) -> u64 {
    let is_of_use = match keeper {
        Keeper::Pacer => has_several_cpus(),
        Keeper::Sender => plan.own_cpus,
    };
    // In a batch they wait for longer than a sleep ends late.
    if !is_of_use || batch > 0 {
        return 0;
    }
    let spin = std::thread::spawn(measure_spin).join().unwrap_or(0);
    match keeper {
        // Half of a gap at most, so that the pacer has a rest at any rate.
        Keeper::Pacer => {
            let half_gap = 0.5e9 / plan.highest_rate.max(f64::MIN_POSITIVE);
            if half_gap < spin as f64 { becalm_model::whole(half_gap) } else { spin }
        }
        // It looks for answers, too, so it needs no rest.
        Keeper::Sender => spin.min(LONGEST_LOOK),
    }
}

/// Returns for how long there were answers: the wait for requests that fail in the end says nothing about the rate of the
/// others. A load that was ended early has no more time than it took. Other times are in nanoseconds.
fn answering(elapsed: Duration, last_answer: u64, scheduled: u64) -> Duration {
    elapsed.min(Duration::from_nanos(last_answer.max(scheduled)))
}

/// Puts together what the threads tell, until they are gone, and returns how many connections they opened. It has time: a
/// thread that sends and has the same CPU goes first.
fn collect(told: Receiver<Told>, collector: &Mutex<Collector>) -> u64 {
    sched::go_last();
    let mut connections = 0;
    for told in told {
        connections += told.put_into(&mut locked(collector));
    }
    connections
}

fn locked(collector: &Mutex<Collector>) -> MutexGuard<'_, Collector> {
    collector.lock().expect("counting does not panic")
}

/// Reports how the load goes until it is over, and stops it when a signal comes or `live` says so.
fn watch(
    is_over: &Receiver<()>,
    clock: Clock,
    collector: &Mutex<Collector>,
    is_stopped: &AtomicBool,
    interrupt: &Interrupt,
    often: Duration,
    live: &mut dyn FnMut(&Live<'_>) -> ControlFlow<()>,
) {
    let mut last = Duration::ZERO;
    while is_over.recv_timeout(often) == Err(RecvTimeoutError::Timeout) {
        // The time is read after the wait for the lock: what was counted by then was answered by then.
        let mut collector = locked(collector);
        let elapsed = Duration::from_nanos(clock.now());
        let window = elapsed.saturating_sub(std::mem::replace(&mut last, elapsed));
        let recent = collector.recent();
        let told = Live { elapsed, window, recent: &recent, total: collector.total() };
        if live(&told).is_break() || interrupt.signal().is_some() {
            is_stopped.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
