//! Which performance counters this machine has and allows, and what they are called.
//!
//! Of the kernel's own counters only the migrations are opened: CPU time, context switches and page
//! faults come with `wait4` at no cost, whereas opening and closing a counter takes some 25 us of
//! every run, and counting in the kernel needs rights that many users do not have.
//!
//! What can be had is found out once, by opening every counter on becalm itself. A run then opens
//! only those, and one that fails all the same is a missing value of that run.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use becalm_kernel::capability::{Capability, is_effective};
use becalm_kernel::perf::counter::{self, CounterValue};
use becalm_kernel::perf::{PerfAttr, TYPE_HARDWARE, TYPE_SOFTWARE};
use becalm_kernel::wait::Usage;
use becalm_kernel::{clone, errno, user};
use becalm_machine::SysRoot;
use becalm_model::metric::{
    BRANCH_MISSES, BRANCHES, CACHE_MISSES, CACHE_REFERENCES, CONTEXT_SWITCHES, CPU_MIGRATIONS,
    CYCLES, INSTRUCTIONS, PAGE_FAULTS, TASK_CLOCK,
};
use becalm_model::terms::Counters;
use becalm_model::{CounterLimit, CounterObstacle, Metric, Unit};

/// The counters that every run of a session opens.
#[derive(Debug, Clone, Default)]
pub struct CounterPlan {
    metrics: Vec<Metric>,
    /// Where the value of each metric comes from.
    sources: Vec<Source>,
    /// What to open on the subject.
    attrs: Vec<PerfAttr>,
    /// For every attribute, the index of the metric that it is a part of.
    parts_of: Vec<usize>,
    /// The same events, open and idle on becalm itself. The first counter of a kind that is opened
    /// on a machine, and the last that is closed, make the kernel patch its own code on every CPU;
    /// with these nothing is patched during a run.
    idle: Arc<Vec<OwnedFd>>,
}

/// Where the value of a metric comes from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// What `wait4` tells.
    Told(fn(&Usage) -> f64),
    /// Counters.
    Counted,
}

struct CounterEvent {
    name: &'static str,
    kind: u32,
    config: u64,
    /// Whether the event still counts something when the kernel's share is left out. Switches and
    /// migrations happen in the kernel alone, so that they would always be 0.
    in_user_mode: bool,
    /// What stands in where it cannot be opened.
    otherwise: Option<fn(&Usage) -> f64>,
}

const fn event(name: &'static str, kind: u32, config: u64, in_user_mode: bool) -> CounterEvent {
    CounterEvent { name, kind, config, in_user_mode, otherwise: None }
}

/// What `wait4` tells: name, unit, and where to find it.
type UsageCounter = (&'static str, Unit, fn(&Usage) -> f64);

const TOLD: [UsageCounter; 2] = [
    (TASK_CLOCK, Unit::Second, Usage::cpu_time),
    (CONTEXT_SWITCHES, Unit::Count, |usage| usage.switches() as f64),
];

/// Page faults, those inside the kernel too: those of user mode alone would be another metric. What `wait4` tells
/// stands in, and is not the same: the kernel also tells it those pages as faults that it fills in by itself, for
/// `mlockall` or `MAP_POPULATE`, and perf does not count them (`mm_account_fault`).
const FAULTS: CounterEvent = CounterEvent {
    otherwise: Some(|usage| (usage.minor_faults + usage.major_faults) as f64),
    ..event(PAGE_FAULTS, TYPE_SOFTWARE, 2, false)
};

/// Numbers from `enum perf_sw_ids` in `include/uapi/linux/perf_event.h`.
const SOFTWARE: [CounterEvent; 2] = [FAULTS, event(CPU_MIGRATIONS, TYPE_SOFTWARE, 4, false)];

/// Numbers from `enum perf_hw_id` in the same file.
const HARDWARE: [CounterEvent; 6] = [
    event(CYCLES, TYPE_HARDWARE, 0, true),
    event(INSTRUCTIONS, TYPE_HARDWARE, 1, true),
    event(CACHE_REFERENCES, TYPE_HARDWARE, 2, true),
    event(CACHE_MISSES, TYPE_HARDWARE, 3, true),
    event(BRANCHES, TYPE_HARDWARE, 4, true),
    event(BRANCH_MISSES, TYPE_HARDWARE, 5, true),
];

/// Where the kernel says the numbers of the two processors in a hybrid one (Intel since Alder
/// Lake). A generic event counts on one of them only, unless its upper half names the other.
const HYBRID: [&str; 2] = ["sys/devices/cpu_core/type", "sys/devices/cpu_atom/type"];

impl CounterPlan {
    /// Returns the plan that counts nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns the plan that opens nothing and passes on what `wait4` tells.
    fn told() -> Self {
        let mut plan = Self::default();
        for counter in TOLD {
            plan.tell(counter);
        }
        plan
    }

    /// Adds a metric that `wait4` tells.
    fn tell(&mut self, (name, unit, value): UsageCounter) {
        self.metrics.push(Metric::lower(name, unit));
        self.sources.push(Source::Told(value));
    }

    /// Finds out what this machine has and allows; the limits say what it does not.
    pub fn probe(root: &SysRoot, wanted: Counters) -> (Self, Vec<CounterLimit>) {
        if wanted == Counters::None {
            return (Self::none(), Vec::new());
        }
        if let Err(error) = clone::can_unshare_files() {
            let because = CounterObstacle::NoDescriptors { error: error.to_string() };
            let mut plan = Self::told();
            let instead = SOFTWARE.iter().filter_map(|event| Some((event.name, event.otherwise?)));
            instead.for_each(|(name, value)| plan.tell((name, Unit::Count, value)));
            return (plan, vec![CounterLimit { counters: Vec::new(), because }]);
        }
        let hybrid = HYBRID.iter().filter_map(|path| root.read(path).value()?.parse().ok());
        let paranoid = root.read("proc/sys/kernel/perf_event_paranoid").value();
        // Debian's kernels refuse it to everybody but root at levels above 2.
        let is_low = paranoid
            .as_deref()
            .is_some_and(|level| level.parse().is_ok_and(|level: i32| level <= 2));
        let is_root = user::effective_uid() == 0 || is_low && is_effective(Capability::Observe);
        let machine = Machine { hybrid: hybrid.collect(), paranoid, is_root };
        let (mut plan, limits) = plan(wanted, &machine, |attr| counter::open(attr).map(drop));
        plan.idle =
            Arc::new(plan.attrs.iter().filter_map(|a| counter::open(&a.idle()).ok()).collect());
        (plan, limits)
    }

    /// Returns what the counters measure, in the order of [`crate::Finished::counters`].
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// Returns the index of the metric called `name`.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|metric| metric.name == name)
    }

    pub(crate) fn attrs(&self) -> &[PerfAttr] {
        &self.attrs
    }

    /// Reads the counters of one run and closes them.
    pub(crate) fn read(&self, counters: Vec<Option<OwnedFd>>, usage: &Usage) -> Vec<Option<f64>> {
        let mut sums = vec![Some(Sum::default()); self.metrics.len()];
        for (counter, part_of) in counters.into_iter().zip(&self.parts_of) {
            let reading = counter.and_then(|counter| counter::read(counter).ok());
            let sum = &mut sums[*part_of];
            // Half of a hybrid count would be a wrong value, not a part of one.
            *sum = sum.zip(reading).map(|(sum, reading)| sum.with(reading));
        }
        let sources = self.sources.iter().zip(sums);
        sources
            .map(|(source, sum)| match source {
                Source::Told(value) => Some(value(usage)),
                Source::Counted => sum?.value(),
            })
            .collect()
    }
}

/// What decides about counters besides opening them.
struct Machine {
    hybrid: Vec<u32>,
    paranoid: Option<String>,
    is_root: bool,
}

/// Chooses counters; `open` tries one on the calling process.
fn plan(
    wanted: Counters,
    machine: &Machine,
    mut open: impl FnMut(&PerfAttr) -> io::Result<()>,
) -> (CounterPlan, Vec<CounterLimit>) {
    let mut plan = CounterPlan::told();
    let mut troubles = Troubles::default();
    let hardware: &[CounterEvent] = if wanted == Counters::All { &HARDWARE } else { &[] };
    for event in SOFTWARE.iter().chain(hardware) {
        let configs: Vec<u64> = if event.kind == TYPE_HARDWARE && !machine.hybrid.is_empty() {
            machine.hybrid.iter().map(|pmu| u64::from(*pmu) << 32 | event.config).collect()
        } else {
            vec![event.config]
        };
        let attempts = configs.into_iter().map(|config| choose(event, config, &mut open));
        match attempts.collect::<Result<Vec<_>, _>>() {
            Ok(attrs) => {
                if attrs.iter().any(|(_, user_only)| *user_only) {
                    troubles.user_only.push(event.name);
                }
                for (attr, _) in attrs {
                    plan.attrs.push(attr);
                    plan.parts_of.push(plan.metrics.len());
                }
                plan.metrics.push(Metric::lower(event.name, Unit::Count));
                plan.sources.push(Source::Counted);
            }
            Err(error) => match event.otherwise {
                Some(value) => plan.tell((event.name, Unit::Count, value)),
                None => troubles.add(event.name, error.raw_os_error()),
            },
        }
    }
    debug_assert!(plan.attrs.len() <= clone::MAX_COUNTERS, "the events of two kinds of core fit");
    (plan, troubles.limits(machine.paranoid.as_deref(), machine.is_root))
}

/// Tries an event with the kernel's share and, where that is refused, without it.
fn choose(
    event: &CounterEvent,
    config: u64,
    open: &mut impl FnMut(&PerfAttr) -> io::Result<()>,
) -> io::Result<(PerfAttr, bool)> {
    let whole = PerfAttr::counter(event.kind, config, false);
    match open(&whole) {
        Ok(()) => Ok((whole, false)),
        Err(error) if is_denied(error.raw_os_error()) && event.in_user_mode => {
            let user = PerfAttr::counter(event.kind, config, true);
            open(&user).map(|()| (user, true))
        }
        Err(error) => Err(error),
    }
}

fn is_denied(errno: Option<i32>) -> bool {
    matches!(errno, Some(errno::EACCES | errno::EPERM))
}

/// What went wrong, gathered so that ten refusals for one reason are one sentence.
#[derive(Default)]
struct Troubles {
    user_only: Vec<&'static str>,
    denied: Vec<&'static str>,
    absent: Vec<&'static str>,
    no_call: Vec<&'static str>,
    other: Vec<(&'static str, Option<i32>)>,
}

impl Troubles {
    fn add(&mut self, name: &'static str, errno: Option<i32>) {
        match errno {
            errno if is_denied(errno) => self.denied.push(name),
            // ENODEV and EOPNOTSUPP come from processors without counters, or too few of them.
            Some(errno::ENOENT | errno::ENODEV | errno::EOPNOTSUPP | errno::EINVAL) => {
                self.absent.push(name);
            }
            Some(errno::ENOSYS) => self.no_call.push(name),
            errno => self.other.push((name, errno)),
        }
    }

    fn limits(self, paranoid: Option<&str>, is_root: bool) -> Vec<CounterLimit> {
        let level = paranoid.map(str::to_owned);
        // Up to this level everybody may count everything of their own.
        let is_open = |level: &str| level.parse::<i32>().is_ok_and(|level| level <= 1);
        let denied = if is_root || paranoid.is_some_and(is_open) {
            CounterObstacle::Sandbox
        } else {
            CounterObstacle::Denied { paranoid: level.clone() }
        };
        let mut limits = Vec::new();
        let mut say = |counters: &[&str], because: CounterObstacle| {
            if !counters.is_empty() {
                let counters = counters.iter().map(|name| (*name).to_owned()).collect();
                limits.push(CounterLimit { counters, because });
            }
        };
        say(&self.denied, denied);
        say(&self.user_only, CounterObstacle::UserModeOnly { paranoid: level });
        say(&self.absent, CounterObstacle::NotOffered);
        say(&self.no_call, CounterObstacle::NoCall);
        for (name, errno) in self.other {
            let error = errno.map_or_else(|| io::Error::other("?"), io::Error::from_raw_os_error);
            say(&[name], CounterObstacle::Error { error: error.to_string() });
        }
        limits
    }
}

/// The readings that make one value: one, or one for each kind of core of a hybrid processor.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    value: u64,
    enabled: u64,
    running: u64,
}

impl Sum {
    fn with(self, reading: CounterValue) -> Self {
        Self {
            value: self.value + reading.value,
            // Each counter of a hybrid processor is enabled the whole time, but runs only while
            // the task is on its kind of core.
            enabled: self.enabled.max(reading.enabled),
            running: self.running + reading.running,
        }
    }

    /// Scales a count up for the time in which other counters used the hardware.
    fn value(self) -> Option<f64> {
        match self.running {
            0 => None,
            running if running >= self.enabled => Some(self.value as f64),
            running => Some(self.value as f64 * (self.enabled as f64 / running as f64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what limits say of which counters.
    fn said(limits: &[CounterLimit]) -> Vec<(String, CounterObstacle)> {
        limits.iter().map(|one| (one.counters.join(" "), one.because.clone())).collect()
    }

    const ALL: &str = "cycles instructions cache_references cache_misses branches branch_misses";

    fn names(plan: &CounterPlan) -> Vec<&str> {
        plan.metrics().iter().map(|metric| metric.name.as_str()).collect()
    }

    fn refused(number: i32) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(number))
    }

    #[test]
    fn a_virtual_machine_without_hardware_counters_gets_one_sentence() {
        let machine = Machine { hybrid: vec![], paranoid: Some("2".into()), is_root: false };
        let migrations = PerfAttr::counter(TYPE_SOFTWARE, 4, false);
        let (plan, limits) = plan(Counters::All, &machine, |attr| {
            if *attr == migrations { Ok(()) } else { refused(errno::ENOENT) }
        });
        assert_eq!(
            names(&plan),
            ["task_clock", "context_switches", "page_faults", "cpu_migrations"]
        );
        assert_eq!(plan.attrs(), [migrations]);
        assert_eq!(said(&limits), [(ALL.to_owned(), CounterObstacle::NotOffered)]);
    }

    #[test]
    fn a_sandbox_is_not_taken_for_a_level() {
        for (paranoid, is_root) in [("2", true), ("1", false)] {
            let machine = Machine { hybrid: vec![], paranoid: Some(paranoid.into()), is_root };
            let (_, limits) = plan(Counters::Software, &machine, |_| refused(errno::EPERM));
            assert_eq!(limits[0].because, CounterObstacle::Sandbox);
        }
    }

    #[test]
    fn a_user_without_rights_counts_in_user_mode_what_happens_there() {
        let level = || Some("2".to_owned());
        let machine = Machine { hybrid: vec![], paranoid: Some("2".into()), is_root: false };
        let whole = |attr: &PerfAttr| {
            let mut events = SOFTWARE.iter().chain(&HARDWARE);
            events.any(|event| *attr == PerfAttr::counter(event.kind, event.config, false))
        };
        let (plan, limits) = plan(Counters::All, &machine, |attr| {
            if whole(attr) { refused(errno::EACCES) } else { Ok(()) }
        });
        assert_eq!(plan.index(CPU_MIGRATIONS), None);
        assert_eq!(plan.index("cycles"), Some(TOLD.len() + 1));
        assert_eq!(
            said(&limits),
            [
                ("cpu_migrations".to_owned(), CounterObstacle::Denied { paranoid: level() }),
                (ALL.to_owned(), CounterObstacle::UserModeOnly { paranoid: level() }),
            ]
        );
    }

    #[test]
    fn a_hybrid_processor_is_counted_on_both_kinds_of_core() {
        let machine = Machine { hybrid: vec![4, 10], paranoid: None, is_root: false };
        let (plan, limits) = plan(Counters::All, &machine, |_| Ok(()));
        assert_eq!(limits, []);
        assert_eq!((plan.metrics().len(), plan.attrs().len()), (10, 2 + 2 * 6));
        assert_eq!(plan.attrs()[2], PerfAttr::counter(TYPE_HARDWARE, 4 << 32, false));
        assert_eq!(plan.attrs()[3], PerfAttr::counter(TYPE_HARDWARE, 10 << 32, false));
        assert_eq!(plan.parts_of[..6], [2, 3, 4, 4, 5, 5]);
    }

    #[test]
    fn a_sandbox_without_the_call_is_named() {
        let machine = Machine { hybrid: vec![], paranoid: None, is_root: false };
        let (plan, limits) = plan(Counters::Software, &machine, |_| refused(errno::ENOSYS));
        assert_eq!(names(&plan), ["task_clock", "context_switches", "page_faults"]);
        assert!(plan.attrs().is_empty());
        assert_eq!(limits.len(), 1);
        assert_eq!(limits[0].because, CounterObstacle::NoCall);
    }

    #[test]
    fn a_count_is_scaled_for_the_time_in_which_it_did_not_run() {
        let value = |readings: &[(u64, u64, u64)]| {
            let sum = readings.iter().fold(Sum::default(), |sum, &(value, enabled, running)| {
                sum.with(CounterValue { value, enabled, running })
            });
            sum.value()
        };
        assert_eq!(value(&[(100, 10, 10)]), Some(100.0));
        assert_eq!(value(&[(100, 10, 5)]), Some(200.0));
        assert_eq!(value(&[(0, 10, 0)]), None);
        // Three quarters of the time on one kind of core, one quarter on the other.
        assert_eq!(value(&[(300, 100, 75), (50, 100, 25)]), Some(350.0));
        assert_eq!(value(&[(300, 100, 0), (50, 100, 100)]), Some(350.0));
    }

    #[test]
    fn nothing_wanted_is_nothing_tried() {
        let (plan, limits) = CounterPlan::probe(&SysRoot::default(), Counters::None);
        assert_eq!((plan.metrics(), limits), (&[][..], vec![]));
    }
}
