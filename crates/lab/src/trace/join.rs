//! Puts the accounts of a trace to the runs of a session.

use std::time::Duration;

use becalm_machine::SysRoot;
use becalm_model::metric::{CPU_TIME, WALL_TIME};
use becalm_model::trace::{Culprit, Taken, Timeline, Trace, TracedRun, WatchedCpu};
use becalm_model::{Record, Run, TraceLimit};

use super::account::Account;
use super::tracer::Recording;

/// Differences of two accounts of the kernel below this many seconds are rounding: each has
/// microseconds, and they do not end at the same instruction.
const SMALLEST_STEAL: f64 = 50e-6;

/// Likewise, as a share of the time on a CPU: the two clocks are calibrated apart.
const SMALLEST_STEAL_SHARE: f64 = 5e-4;

/// How the kernel counts the time of interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InterruptTime {
    /// As the time of the task that they interrupt.
    OfTheTask,
    /// On its own (`CONFIG_IRQ_TIME_ACCOUNTING`).
    Apart,
}

impl InterruptTime {
    /// Tells by `/proc/stat`: where interrupts are counted by ticks, none is ever seen in one.
    fn read(root: &SysRoot) -> Self {
        let text = root.read("/proc/stat").value().unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
        let irq = line.and_then(|line| line.split_ascii_whitespace().nth(5));
        match irq.and_then(|ticks| ticks.parse::<u64>().ok()) {
            None | Some(0) => Self::OfTheTask,
            Some(_) => Self::Apart,
        }
    }
}

/// Returns what took time from each run of a record, whose session began at `began`
/// (`CLOCK_MONOTONIC_RAW`).
pub fn joined(recording: &Recording, record: &Record, began: f64, root: &SysRoot) -> Trace {
    let counting = InterruptTime::read(root);
    let wall = record.metric_index(WALL_TIME);
    let cpu_time = record.metric_index(CPU_TIME);
    let mut runs = Vec::new();
    let mut places = Vec::new();
    for (index, run) in record.runs.iter().enumerate() {
        let Some(seconds) = wall.and_then(|wall| run.value(wall)) else { continue };
        let window = (began + run.started, began + run.started + seconds);
        let Some(account) = account_in(&recording.accounts, window) else { continue };
        places.push((index, account));
        let mut taken = recording.names.taken(account);
        let mut own = account.own as f64 * 1e-9;
        let cpu_time = cpu_time.and_then(|metric| run.value(metric));
        if let Some(steal) = cpu_time.and_then(|used| steal(account, used, counting)) {
            own = tell_steal(&mut taken, own, steal);
        }
        runs.push(TracedRun {
            run: index,
            wall: account.ended.saturating_sub(account.started) as f64 * 1e-9,
            threads: account.threads,
            own,
            taken,
        });
    }
    let mut limits = recording.limits.clone();
    if recording.lost > 0 {
        let (lost, of) = (recording.lost, recording.events + recording.lost);
        limits.push(TraceLimit::EventsLost { lost, of }.into());
    }
    if recording.fault_overhead.is_none() {
        limits.push(TraceLimit::FaultCost.into());
    }
    let timelines = timelines(recording, record, &places);
    Trace { runs, events: recording.events, lost: recording.lost, limits, timelines }
}

/// Returns the timelines of the longest measured run and of a typical one: the one in the middle of those that have one.
fn timelines(
    recording: &Recording,
    record: &Record,
    places: &[(usize, &Account)],
) -> Vec<Timeline> {
    let is_measured = |index: usize| record.runs.get(index).is_some_and(Run::is_measured);
    let mut drawn: Vec<&(usize, &Account)> = places
        .iter()
        .filter(|(index, account)| is_measured(*index) && !account.timeline.lanes.is_empty())
        .collect();
    drawn.sort_by_key(|(_, account)| account.ended.saturating_sub(account.started));
    let typical = drawn.get(drawn.len().saturating_sub(1) / 2);
    let chosen = drawn.last().into_iter().chain(typical.filter(|_| drawn.len() > 1));
    chosen.map(|(run, account)| timeline(recording, Some(*run), account)).collect()
}

fn timeline(recording: &Recording, run: Option<usize>, account: &Account) -> Timeline {
    Timeline {
        run,
        seconds: account.ended.saturating_sub(account.started) as f64 * 1e-9,
        slot: account.timeline.width as f64 * 1e-9,
        lanes: recording.names.lanes(&account.timeline),
    }
}

/// Returns who ran when on each CPU while the trace watched.
pub fn watched_timeline(recording: &Recording) -> Option<Timeline> {
    let widest = recording.watched.iter().map(|(_, account)| account.timeline.width).max()?;
    let mut all: Option<Timeline> = None;
    for (_, account) in &recording.watched {
        let mut one = timeline(recording, None, account);
        let by = widest / account.timeline.width.max(1);
        if account.timeline.width == 0 {
            continue;
        }
        for lane in &mut one.lanes {
            lane.widen(u32::try_from(by).unwrap_or(u32::MAX));
        }
        one.slot = widest as f64 * 1e-9;
        match &mut all {
            Some(all) => {
                all.seconds = all.seconds.max(one.seconds);
                all.lanes.extend(one.lanes);
            }
            None => all = Some(one),
        }
    }
    all.filter(|all| !all.lanes.is_empty())
}

/// Returns what would have kept a subject from each CPU while the trace watched.
pub fn watched(recording: &Recording) -> Vec<WatchedCpu> {
    recording
        .watched
        .iter()
        .map(|(cpu, account)| WatchedCpu {
            cpu: *cpu,
            window: account.ended.saturating_sub(account.started) as f64 * 1e-9,
            taken: recording.names.taken(account),
        })
        .collect()
}

/// Returns the account that shares most time with a window.
fn account_in(accounts: &[Account], (start, end): (f64, f64)) -> Option<&Account> {
    let shared = |account: &Account| {
        let from = (account.started as f64 * 1e-9).max(start);
        let to = (account.ended as f64 * 1e-9).min(end);
        to - from
    };
    let best = accounts.iter().max_by(|a, b| shared(a).total_cmp(&shared(b)))?;
    (shared(best) > 0.0).then_some(best)
}

/// Returns the seconds for which the scheduler says that the process did not run, although it was on a
/// CPU: the hypervisor ran something else. The process's time comes without children that nobody
/// waited for, so it tells that of a single process alone.
fn steal(account: &Account, used: f64, counting: InterruptTime) -> Option<f64> {
    if account.processes != 1 {
        return None;
    }
    let apart = match counting {
        InterruptTime::OfTheTask => 0,
        InterruptTime::Apart => account.interrupted,
    };
    let on_cpu = account.on_cpu.saturating_sub(apart) as f64 * 1e-9;
    let stolen = on_cpu - used;
    (stolen >= SMALLEST_STEAL.max(SMALLEST_STEAL_SHARE * on_cpu)).then_some(stolen)
}

/// Writes steal down; returns what is left of the subject's `own` work. Gaps in the trace are what steal
/// looks like from inside, so it goes for those first, and then for what was taken for the subject's work.
/// What does not fit into these was stolen from something else that is told already, such as an interrupt,
/// and stays there: the parts must add up.
fn tell_steal(taken: &mut Vec<Taken>, own: f64, steal: f64) -> f64 {
    let mut gap = 0.0;
    if let Some(place) = taken.iter().position(|one| one.culprit == Culprit::Gap) {
        let told = &mut taken[place];
        gap = told.seconds.min(steal);
        told.seconds -= gap;
        told.longest = told.longest.min(told.seconds);
        if told.seconds <= 0.0 {
            taken.remove(place);
        }
    }
    let worked = own.min(steal - gap);
    let seconds = gap + worked;
    if seconds > 0.0 {
        // How often, and how long at once, nobody says: all of it is the longest that is possible.
        taken.push(Taken { culprit: Culprit::Steal, seconds, times: 1, longest: seconds });
        taken.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    }
    own - worked
}

/// One child of becalm and where its time went.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedChild {
    /// Its process number.
    pub pid: u32,
    /// When it executed its program, as `CLOCK_MONOTONIC_RAW`.
    pub started: Duration,
    /// When it ended.
    pub ended: Duration,
    /// Seconds of its own instructions and system calls.
    pub own: f64,
    /// The rest, most first.
    pub taken: Vec<Taken>,
}

impl Recording {
    /// Returns every child of this process that ended while it was traced, in the order of their ends.
    pub fn children(&self) -> Vec<TracedChild> {
        let child = |account: &Account| TracedChild {
            pid: account.root.0,
            started: Duration::from_nanos(account.started),
            ended: Duration::from_nanos(account.ended),
            own: account.own as f64 * 1e-9,
            taken: self.names.taken(account),
        };
        self.accounts.iter().map(child).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn account(started: f64, ended: f64) -> Account {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small numbers"
        )]
        let nanos = |seconds: f64| (seconds * 1e9) as u64;
        Account { started: nanos(started), ended: nanos(ended), processes: 1, ..Account::default() }
    }

    #[test]
    fn a_run_gets_the_account_that_it_shares_most_time_with() {
        let accounts = [account(1.0, 2.0), account(2.1, 3.0), account(3.1, 3.2)];
        let found = |window| account_in(&accounts, window).map(|one| one.ended);
        assert_eq!(found((0.99, 2.01)), Some(2_000_000_000));
        assert_eq!(found((1.9, 3.0)), Some(3_000_000_000));
        assert_eq!(found((4.0, 5.0)), None);
        assert_eq!(account_in(&[], (0.0, 1.0)), None);
    }

    #[test]
    fn steal_is_what_the_scheduler_did_not_count() {
        let mut one = account(0.0, 1.0);
        one.on_cpu = 900_000_000;
        one.interrupted = 20_000_000;
        let told = |account: &Account, used, counting| {
            steal(account, used, counting).map(|seconds| (seconds * 1e3).round())
        };
        assert_eq!(told(&one, 0.890, InterruptTime::OfTheTask), Some(10.0));
        assert_eq!(told(&one, 0.870, InterruptTime::Apart), Some(10.0));
        // Rounding is no steal, and neither is a child that nobody waited for.
        assert_eq!(told(&one, 0.8998, InterruptTime::OfTheTask), None);
        one.processes = 2;
        assert_eq!(told(&one, 0.5, InterruptTime::OfTheTask), None);
    }

    #[test]
    fn steal_stands_for_the_gaps_that_it_made() {
        let taken = |culprit, seconds| Taken { culprit, seconds, times: 1, longest: seconds };
        let mut all = vec![taken(Culprit::Gap, 0.002), taken(Culprit::WakeUp, 0.001)];
        assert!((tell_steal(&mut all, 0.1, 0.005) - 0.097).abs() < 1e-12);
        let told: Vec<_> = all.iter().map(|one| one.culprit.clone()).collect();
        assert_eq!(told, [Culprit::Steal, Culprit::WakeUp]);
        let mut all = vec![taken(Culprit::Gap, 0.002)];
        assert!((tell_steal(&mut all, 0.1, 0.0005) - 0.1).abs() < 1e-12);
        let told: Vec<_> = all.iter().map(|one| one.culprit.clone()).collect();
        assert_eq!(told, [Culprit::Gap, Culprit::Steal]);
    }

    #[test]
    fn the_parts_add_up_however_much_was_stolen() {
        let own = 0.004;
        for steal in [0.0001, 0.0015, 0.003, 0.02] {
            let mut all = vec![
                Taken { culprit: Culprit::Gap, seconds: 0.002, times: 2, longest: 0.0015 },
                Taken { culprit: Culprit::WakeUp, seconds: 0.001, times: 1, longest: 0.001 },
            ];
            let left = tell_steal(&mut all, own, steal);
            let sum: f64 = left + all.iter().map(|one| one.seconds).sum::<f64>();
            assert!(left >= 0.0 && (sum - 0.007).abs() < 1e-12, "{steal}: {sum}");
            assert!(all.iter().all(|one| one.longest <= one.seconds), "{steal}: {all:?}");
        }
    }

    #[test]
    fn interrupts_that_are_counted_apart_show_in_the_statistics() {
        let check = |stat: &str, expected| {
            let tree = FakeTree::new().file("/proc/stat", stat);
            assert_eq!(InterruptTime::read(&SysRoot::new(tree.path())), expected);
        };
        check("cpu  1 2 3 4 5 0 7 8 0 0\n", InterruptTime::OfTheTask);
        check("cpu  1 2 3 4 5 6 7 8 0 0\n", InterruptTime::Apart);
        check("", InterruptTime::OfTheTask);
    }
}
