//! A thread that sends: it takes requests in, sends them over connections, and reports how each ended.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use becalm_kernel::clock::monotonic_nanos;
use becalm_kernel::sched;
use becalm_model::load::ThreadUse;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{LocalSet, spawn_local};

use super::clock::Clock;
use super::connection::{carry, carry_each};
use super::desk::Desk;
use super::pacer::Due;
use super::threads::Watch;
use super::{Pause, Plan, Told};

/// How often a shard tells what it has counted.
const TELLING: Duration = Duration::from_millis(100);

/// For how long requests that are under way may go on when the load is ended by a signal.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Connections that are opened before the first request is due.
const OPENED_BEFORE: usize = 8;

/// The work of a thread: it sends what is handed to it, and returns when nothing more comes and nothing is under way.
pub(super) fn send(
    plan: Arc<Plan>,
    clock: Clock,
    number: usize,
    slice: u64,
    dues: UnboundedReceiver<Due>,
    told: Sender<Told>,
    is_stopped: &AtomicBool,
) -> std::io::Result<ThreadUse> {
    sched::wake_up_on_time();
    let watch = Watch::start(format!("sender {}", number + 1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tasks = LocalSet::new();
    let limit = plan.connections_of(number);
    let desk = Desk::new(plan, clock, limit, slice);
    let tell = {
        let desk = Rc::clone(&desk);
        move || {
            let (counted, connections) = desk.tell();
            // Nobody listens any more only after a failure.
            let _ = told.send(Told { shard: number, counted, connections });
        }
    };
    tasks.block_on(&runtime, async {
        spawn_local(open_as_wanted(Rc::clone(&desk), OPENED_BEFORE.min(limit)));
        if let Some(pause) = desk.plan.pause {
            spawn_local(rest(clock, pause));
        }
        let tell = tell.clone();
        spawn_local(async move {
            let mut ticks = tokio::time::interval(TELLING);
            loop {
                ticks.tick().await;
                tell();
            }
        });
        take(dues, &desk).await;
        drain(&desk, is_stopped).await;
    });
    tell();
    Ok(watch.stop())
}

/// Does nothing with this thread for a time, although it has work.
async fn rest(clock: Clock, Pause { begins, length }: Pause) {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    while clock.now() < nanos(begins) {
        let left = Duration::from_nanos(nanos(begins) - clock.now());
        tokio::time::sleep(left.min(Duration::from_millis(20))).await;
    }
    becalm_kernel::clock::sleep_until(monotonic_nanos() + nanos(length));
}

/// Takes requests as they are handed over, until no more come.
async fn take(mut dues: UnboundedReceiver<Due>, desk: &Desk) {
    while let Some(due) = dues.recv().await {
        desk.arrive(due);
    }
}

/// Opens some connections before the first request, and then whenever one is wanted.
async fn open_as_wanted(desk: Rc<Desk>, before: usize) {
    let next = Cell::new(0);
    let open = || {
        let number = next.replace(next.get() + 1);
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
        while desk.opens() {
            open();
        }
        desk.changed().await;
    }
}

/// Waits until nothing is under way. What waits for a connection longer than the time limit is never sent; when the load
/// has been stopped, everything is given up after a moment.
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
