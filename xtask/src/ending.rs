//! What becomes of what a chore has started when the chore itself is ended.
//!
//! Cargo, test programs and virtual machines would go on by themselves, with locks on folders and disks.
//! A signal that ends this process goes to all of them first. A kill cannot be passed on; then at least
//! virtual machines end with their parent (`process::ends_with_us`).

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use becalm_kernel::interrupt::Interrupt;
use becalm_kernel::poll::{self, Entry};
use becalm_kernel::{process, signal};

/// How long they may take. Some put a machine back as it was.
const PATIENCE: Duration = Duration::from_secs(5);

/// From now on a signal that ends this process ends what it has started too.
pub(crate) fn watch() -> Result<()> {
    let interrupt = Interrupt::install().context("cannot watch for signals")?;
    let watching = thread::Builder::new().name("signals".to_owned()).spawn(move || {
        loop {
            if let Some(signal) = interrupt.signal() {
                end_all(signal);
            }
            // Whatever keeps it from waiting, the flag is looked at again.
            let _ = poll::wait(&mut [Entry::readable(interrupt)], Some(PATIENCE));
        }
    });
    watching.map(drop).context("cannot watch for signals")
}

/// Ends all that this process has started, and then the process itself, by the same signal.
fn end_all(signal: i32) -> ! {
    IS_ENDING.store(true, Ordering::SeqCst);
    let start = Instant::now();
    loop {
        // Asked again and again, because meanwhile the chore may go on to its next step.
        let left = descendants();
        if left.is_empty() || start.elapsed() > PATIENCE {
            break;
        }
        for pid in left {
            // One that has ended already is no error.
            let _ = signal::send(pid, signal::SIGTERM);
        }
        thread::sleep(Duration::from_millis(50));
    }
    process::end_by(signal)
}

/// Where a signal has come the chore has not failed: it is ended by the signal.
pub(crate) fn let_finish() {
    while IS_ENDING.load(Ordering::SeqCst) {
        thread::park_timeout(PATIENCE);
    }
}

static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Returns the processes that this one has started, and those have started, that still run.
fn descendants() -> Vec<u32> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: BTreeMap<u32, u32> =
        pids.filter_map(|pid| Some((pid, running_parent(pid)?))).collect();
    let own = std::process::id();
    let is_ours = |pid: u32| {
        let mut above = std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
        above.any(|pid| pid == own)
    };
    parents.keys().copied().filter(|pid| *pid != own && is_ours(*pid)).collect()
}

/// Fields of proc(5): the state and the parent come after the name, which ends with the last bracket.
fn running_parent(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    fields.next()?.parse().ok().filter(|_| !matches!(state, "Z" | "X"))
}
