//! A thread that sends: it takes requests in, sends them over connections, and reports how each ended.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use becalm_kernel::clock::monotonic_nanos;
use becalm_kernel::sched;
use becalm_kernel::timer::FileTimer;
use becalm_model::load::{Gaps, ThreadUse};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::LocalOptions;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{spawn_local, yield_now};

use super::batches::Batches;
use super::clock::{AT_ONCE, Clock};
use super::connection::{carry, carry_each};
use super::desk::Desk;
use super::dues::Dues;
use super::pacer::Due;
use super::telling::{Teller, Telling, Told};
use super::threads::Watch;
use super::{Keeping, Pause, Plan, nanos_of};

/// For how long requests that are under way may go on when the load is ended by a signal.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Returns how many connections are opened before the first request is due: as many as requests come in a millisecond, if
/// that is not too much to do by then.
fn opened_before(plan: &Plan) -> usize {
    const LEAST: usize = 8;
    let most = if plan.target.tls.is_some() { LEAST } else { 64 };
    let places = plan.highest_rate / 1000.0 / plan.senders() as f64;
    becalm_model::place(places / plan.width() as f64).clamp(LEAST, most)
}

/// From where a thread has the requests that it is to send.
pub(super) enum Source {
    /// The pacer hands them over when they are due.
    Handed(UnboundedReceiver<Due>),
    /// It keeps the time itself.
    Kept(Keeping),
}

/// What a thread did.
pub(super) struct Sent {
    /// What it used of a CPU.
    pub(super) used: ThreadUse,
    /// The gaps between requests, if it kept the time itself.
    pub(super) gaps: Option<Gaps>,
    /// When nothing was under way any more, on the clock of the load.
    pub(super) end: u64,
}

/// The work of a thread: it sends what is due, and returns when nothing more comes and nothing is under way.
pub(super) fn send(
    plan: Arc<Plan>,
    clock: Clock,
    number: usize,
    Telling { slice, often }: Telling,
    source: Source,
    told: Sender<Told>,
    is_stopped: &AtomicBool,
) -> std::io::Result<Sent> {
    sched::wake_up_on_time();
    let watch = Watch::start(format!("sender {}", number + 1));
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build_local(LocalOptions::default())?;
    let limit = plan.connections_of(number);
    let (handed, kept, spin, batch) = match source {
        Source::Handed(dues) => (Some(dues), None, 0, 0),
        Source::Kept(Keeping { schedule, spin, batch }) => {
            (None, Some(Dues::new(schedule)), spin, batch)
        }
    };
    let desk = Desk::new(plan, clock, limit, slice, kept);
    let teller = Rc::new(Teller::new(number, Rc::clone(&desk), told));
    runtime.block_on(async {
        let before = opened_before(&desk.plan).min(limit);
        spawn_local(open_as_wanted(Rc::clone(&desk), before));
        if let Some(pause) = desk.plan.pause {
            spawn_local(rest(clock, pause));
        }
        let tells = Rc::clone(&teller);
        spawn_local(async move {
            let mut ticks = tokio::time::interval(often);
            loop {
                ticks.tick().await;
                tells.tell();
            }
        });
        match handed {
            Some(dues) => take(dues, &desk).await,
            None => keep_time(&desk, clock, spin, Batches::of(batch), is_stopped).await?,
        }
        drain(&desk, is_stopped).await;
        std::io::Result::Ok(())
    })?;
    // To close the connections is no part of the load.
    let end = clock.now();
    teller.tell_all();
    Ok(Sent { used: watch.stop(), gaps: desk.gaps(), end })
}

/// Does nothing with this thread for a time, although it has work.
async fn rest(clock: Clock, Pause { begins, length }: Pause) {
    while clock.now() < nanos_of(begins) {
        let left = Duration::from_nanos(nanos_of(begins) - clock.now());
        tokio::time::sleep(left.min(Duration::from_millis(20))).await;
    }
    becalm_kernel::clock::sleep_until(monotonic_nanos() + nanos_of(length));
}

/// Takes requests as they are handed over, until no more come.
async fn take(mut dues: UnboundedReceiver<Due>, desk: &Desk) {
    while let Some(due) = dues.recv().await {
        desk.arrive(due);
    }
}

/// Takes up the requests of a desk that keeps the time, until none comes any more. For the last `spin` nanoseconds before one
/// is due it does not sleep, but looks again and again whether it is, or whether an answer has come.
async fn keep_time(
    desk: &Desk,
    clock: Clock,
    spin: u64,
    mut batches: Batches,
    is_stopped: &AtomicBool,
) -> std::io::Result<()> {
    // It is deprecated for the sake of types whose descriptor may change; the one of this timer does not.
    #[expect(deprecated, reason = "its successor is unsafe")]
    let timer = AsyncFd::with_interest(FileTimer::new()?, Interest::READABLE)?;
    while let Some(due) = desk.take_up() {
        if is_stopped.load(Ordering::Relaxed) {
            desk.stop_taking();
            break;
        }
        let (now, due) = (clock.now(), batches.time(due));
        if due <= now + spin {
            yield_now().await;
            continue;
        }
        timer.get_ref().set_to(clock.monotonic((due - spin).min(now + AT_ONCE)))?;
        // Setting it again takes back that it has expired, so nothing has to be read.
        timer.readable().await?.clear_ready();
        let now = clock.now();
        if now >= due {
            batches.sent_at(now);
        }
    }
    Ok(())
}

/// Opens some connections before the first request, and then whenever one is wanted.
async fn open_as_wanted(desk: Rc<Desk>, before: usize) {
    let open = || {
        let number = desk.number();
        if desk.plan.new_connections {
            spawn_local(carry_each(Rc::clone(&desk), number));
        } else {
            spawn_local(carry(Rc::clone(&desk), number));
        }
    };
    for _ in 0..before {
        desk.begin_opening();
        open();
    }
    loop {
        if desk.opens() {
            open();
            // To open one costs as much as several requests. Those that are due go first: else a thread that is late would
            // open connections for all that wait, and be later.
            yield_now().await;
        } else {
            desk.changed().await;
        }
    }
}

/// Waits until nothing is under way. What still waits for a connection when the time limit is over is never sent; what got
/// one just before has its own time limit from there, so this takes twice the limit at most. When the load has been
/// stopped, everything is given up after a moment.
async fn drain(desk: &Desk, is_stopped: &AtomicBool) {
    let began = tokio::time::Instant::now();
    while !desk.is_done() {
        let is_stopped = is_stopped.load(Ordering::Relaxed);
        let limit = if is_stopped { LAST_WAIT } else { desk.plan.time_limit };
        if began.elapsed() >= limit {
            desk.give_up();
            if is_stopped {
                return desk.abandon();
            }
        }
        // Nothing more comes in, so nobody waits for this look.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::target::{Target, Way};
    use super::super::tests::plan;
    use super::*;
    use crate::schedule::Schedule;

    #[test]
    fn as_many_connections_are_opened_in_advance_as_requests_come_in_a_millisecond() {
        let before = |url: &str, highest_rate, threads| {
            let plan =
                plan(Target::new(url, Way::default()).unwrap(), Schedule::of_times(Vec::new()));
            opened_before(&Plan { highest_rate, threads, ..plan })
        };
        let plain = "http://127.0.0.1:1/";
        assert_eq!([10.0, 20e3, 1e6].map(|rate| before(plain, rate, 1)), [8, 20, 64]);
        assert_eq!(before(plain, 40e3, 2), 20);
        assert_eq!(before("https://127.0.0.1:1/", 20e3, 1), 8);
    }
}
