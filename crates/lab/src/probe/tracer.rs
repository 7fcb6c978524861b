//! Probing by the osnoise tracer of the kernel (`Documentation/trace/osnoise-tracer.rst`), since
//! Linux 5.14 and with instances since 5.17.
//!
//! It works in a tracing instance of its own, which nobody else's tracing shares. What it reads its
//! terms from is shared by the whole machine, so those files are changed as everything else that
//! becalm changes is: journalled, and put back by whoever survives. The instance is removed with them.

use std::thread::sleep;
use std::time::Duration;

use becalm_machine::{ActivityReader, SysRoot, Topology};
use becalm_model::conditions::Scheduler;
use becalm_model::{Change, CpuId, CpuSet, Nature, ProbeLimit, Target};
use becalm_runner::Interrupt;

use super::siblings::WhileBusy;
use super::trace_text::{TracedWindow, overwritten, parse};
use super::tracefs::{self, INSTANCE};
use super::windows::{lengths, turn};
use super::{Aside, CpuNoise, ProbeError, Siblings, Terms, Window};
use crate::namespace;

/// Starting the tracer is dear, so that it does more than one window at once; more than one turn for
/// each CPU, because a machine that changes meanwhile must not look like a difference of CPUs.
const TURNS: u32 = 2;

/// How often to look for the thread of the tracer, and how long to wait in between.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(2);

/// The osnoise tracer, ready to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracer {
    folder: &'static str,
}

impl Tracer {
    /// Finds the tracer, or says why it cannot be used.
    pub fn find(root: &SysRoot) -> Result<Self, String> {
        let this = Self { folder: tracefs::find(root, "osnoise", "CONFIG_OSNOISE_TRACER")? };
        let options = root.read(this.path("osnoise/options")).value().unwrap_or_default();
        if options.split_whitespace().any(|option| option == "NO_OSNOISE_WORKLOAD") {
            let path = this.path("osnoise/options");
            return Err(format!("its thread is switched off in {path}"));
        }
        Ok(this)
    }

    /// Returns the changes of the machine that [`Tracer::probe`] needs, in the order in which they are
    /// to be made; or why these terms cannot be had.
    pub fn plan(&self, root: &SysRoot, terms: &Terms) -> Result<Vec<Change>, String> {
        let threshold = terms.threshold.as_micros();
        if threshold == 0 || !terms.threshold.as_nanos().is_multiple_of(1000) {
            return Err("its threshold is a whole number of microseconds".to_owned());
        }
        if terms.class.scheduler() != Scheduler::Other && namespace::is_nested(root) {
            return Err(
                "its threads are not visible from this pid namespace, so their class cannot be set"
                    .to_owned(),
            );
        }
        let set = |name: &str, new: String| -> Result<Change, String> {
            let path = self.path(name);
            let old = root.read(&path).of(&path)?;
            Ok(Change::file(INSTANCE, path, &old, &new, "the noise of CPUs is traced"))
        };
        let mut changes = vec![set("tracing_thresh", threshold.to_string())?];
        for name in ["osnoise/stop_tracing_us", "osnoise/stop_tracing_total_us"] {
            changes.extend(Some(set(name, "0".to_owned())?).filter(|change| change.old != "0"));
        }
        let rhythm = Rhythm::of(terms);
        let period = set("osnoise/period_us", rhythm.period.as_micros().to_string())?;
        let runtime = set("osnoise/runtime_us", rhythm.runtime.as_micros().to_string())?;
        // At no time may the runtime be longer than the period, also when they are put back.
        let old_runtime: u128 = runtime.old.parse().unwrap_or(u128::MAX);
        let mut rhythm_changes = [period, runtime];
        if rhythm.period.as_micros() < old_runtime {
            rhythm_changes.reverse();
        }
        changes.extend(rhythm_changes);
        let first = terms.cpus.first().map(|cpu| cpu.to_string()).unwrap_or_default();
        // It goes on from CPU to CPU.
        changes.push(set("osnoise/cpus", first)?.with(Nature::Drifts));
        let (folder, reason) = (Target::Folder(self.instance("")), "the noise of CPUs is traced");
        changes.push(Change::new(INSTANCE, folder, "absent", Some("present"), reason));
        Ok(changes)
    }

    /// Probes all CPUs of `terms` in turns. The changes of [`Tracer::plan`] have been made, and are
    /// undone by the caller, whatever this returns. `progress` is told the share that is done.
    ///
    /// When `interrupt` is raised the windows so far are returned. The second part says what is
    /// incomplete.
    pub fn probe(
        &self,
        root: &SysRoot,
        topology: &Topology,
        terms: &Terms,
        interrupt: &Interrupt,
        progress: &mut dyn FnMut(f64),
    ) -> Result<(Vec<CpuNoise>, Option<ProbeLimit>), ProbeError> {
        let aside = Aside::step(&terms.cpus)?;
        tracefs::set(root, &self.instance("/events/osnoise/sample_threshold/enable"), "1")?;
        let mut all: Vec<CpuNoise> = terms.cpus.iter().map(CpuNoise::traced).collect();
        let order: Vec<usize> = (0..all.len()).collect();
        let (mut lost, mut missing, mut epoch) = (0, 0, None);
        for round in 0..TURNS as usize {
            for (done, index) in turn(&order, round).into_iter().enumerate() {
                progress((round * all.len() + done) as f64 / (TURNS as usize * all.len()) as f64);
                if interrupt.signal().is_some() {
                    break;
                }
                let noise = &mut all[index];
                aside.leave(noise.cpu);
                let account = &mut account(root, noise.cpu);
                let stolen = account.read().steal;
                let (windows, overwritten) =
                    self.turn(root, topology, terms, noise.cpu, interrupt)?;
                lost += overwritten;
                if overwritten > 0 {
                    let windows = u32::try_from(windows.len()).unwrap_or(u32::MAX);
                    missing += Rhythm::of(terms).windows.saturating_sub(windows);
                }
                noise.steal = match (noise.steal, stolen, account.read().steal) {
                    (Some(sum), Some(before), Some(after)) => Some(sum + (after - before).max(0.0)),
                    _ => None,
                };
                for window in windows {
                    keep(noise, window, round, &mut epoch);
                }
            }
        }
        let overwritten = ProbeLimit::Overwritten { events: lost, windows: missing };
        Ok((all, (lost > 0).then_some(overwritten)))
    }

    /// Lets the tracer work on one CPU for its part of a turn; returns its windows, and how many
    /// events were overwritten.
    fn turn(
        &self,
        root: &SysRoot,
        topology: &Topology,
        terms: &Terms,
        cpu: CpuId,
        interrupt: &Interrupt,
    ) -> Result<(Vec<TracedWindow>, u64), ProbeError> {
        let rhythm = Rhythm::of(terms);
        let siblings = match terms.siblings {
            Siblings::Busy => topology.siblings_of(cpu).intersection(&topology.allowed),
            Siblings::AsTheyAre => CpuSet::new(),
        };
        let busy =
            WhileBusy::start(&siblings).map_err(|source| ProbeError::Reader { cpu, source })?;
        tracefs::set(root, &self.path("osnoise/cpus"), &format!("{cpu}\n"))?;
        tracefs::set(root, &self.instance("/tracing_on"), "1")?;
        tracefs::set(root, &self.instance("/current_tracer"), "osnoise")?;
        self.enter_class(root, terms, cpu)?;
        // A bit more than whole windows, the last of which is cut off.
        interrupt.sleep(rhythm.period * rhythm.windows + rhythm.runtime / 4);
        tracefs::set(root, &self.instance("/tracing_on"), "0")?;
        drop(busy);
        let path = self.instance(&format!("/per_cpu/cpu{cpu}/trace"));
        let text = root.read(&path);
        let Some(text) = text.clone().value() else {
            return Err(ProbeError::TracerRead { path, why: text.why_not().unwrap_or_default() });
        };
        let windows = parse(&text).map_err(|source| ProbeError::TracerText { path, source })?;
        let stats = root.read(self.instance(&format!("/per_cpu/cpu{cpu}/stats")));
        // This clears what was read.
        tracefs::set(root, &self.instance("/current_tracer"), "nop")?;
        Ok((windows, overwritten(&stats.value().unwrap_or_default())))
    }

    /// Puts the thread of the tracer into the scheduling class of the terms.
    fn enter_class(&self, root: &SysRoot, terms: &Terms, cpu: CpuId) -> Result<(), ProbeError> {
        if terms.class.scheduler() == Scheduler::Other {
            return Ok(());
        }
        for _ in 0..LOOKS {
            if let Some(thread) = thread_of(root, cpu) {
                return terms
                    .class
                    .enter(thread)
                    .map_err(|source| ProbeError::Reader { cpu, source });
            }
            sleep(PAUSE);
        }
        let path = self.instance("/current_tracer");
        let why = format!("did not start the thread osnoise/{cpu}");
        Err(ProbeError::TracerRead { path, why })
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn instance(&self, name: &str) -> String {
        format!("{}/instances/{INSTANCE}{name}", self.folder)
    }
}

/// Windows of the tracer, which are all equally long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rhythm {
    runtime: Duration,
    period: Duration,
    /// How many for one CPU in one turn.
    windows: u32,
}

impl Rhythm {
    fn of(terms: &Terms) -> Self {
        let lengths = lengths(terms.duration, terms.class.longest());
        let n = u32::try_from(lengths.len()).unwrap_or(u32::MAX).max(1);
        let whole = |length: Duration| {
            Duration::from_micros(u64::try_from(length.as_micros()).unwrap_or(u64::MAX).max(1))
        };
        let runtime = whole(terms.duration / n);
        let period = whole(runtime + terms.class.rest(runtime));
        Self { runtime, period, windows: n.div_ceil(TURNS) }
    }
}

fn account(root: &SysRoot, cpu: CpuId) -> ActivityReader {
    ActivityReader::open_within(root, &CpuSet::from_iter([cpu]), Duration::ZERO)
}

/// Adds a window to the noise of its CPU. Time begins with the first window of all.
fn keep(noise: &mut CpuNoise, window: TracedWindow, round: usize, epoch: &mut Option<f64>) {
    let start = window.end - window.gaps.watched as f64 * 1e-9;
    let start = (start - *epoch.get_or_insert(start)).max(0.0);
    noise.counters.get_or_insert_default().merge(&window.counters);
    let start = Duration::try_from_secs_f64(start).unwrap_or_default();
    noise.windows.push(Window { round, start, gaps: window.gaps });
}

/// Finds the thread of the tracer on a CPU.
fn thread_of(root: &SysRoot, cpu: CpuId) -> Option<u32> {
    tracefs::thread(root, &format!("osnoise/{cpu}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Class;
    use becalm_testkit::FakeTree;

    const T: &str = "/sys/kernel/tracing";

    fn tree() -> FakeTree {
        FakeTree::new()
            .file(format!("{T}/available_tracers"), "timerlat osnoise hwlat nop\n")
            .file(format!("{T}/current_tracer"), "nop\n")
            .file(format!("{T}/tracing_thresh"), "0\n")
            .file(format!("{T}/osnoise/stop_tracing_us"), "0\n")
            .file(format!("{T}/osnoise/stop_tracing_total_us"), "100\n")
            .file(format!("{T}/osnoise/period_us"), "1000000\n")
            .file(format!("{T}/osnoise/runtime_us"), "1000000\n")
            .file(format!("{T}/osnoise/cpus"), "0-3\n")
    }

    fn terms(class: Class) -> Terms {
        Terms {
            cpus: "1-2".parse().unwrap(),
            duration: Duration::from_secs(2),
            threshold: Duration::from_micros(5),
            class,
            siblings: Siblings::AsTheyAre,
        }
    }

    #[track_caller]
    fn refused(tree: &FakeTree, part: &str) {
        let why = Tracer::find(&SysRoot::new(tree.path())).unwrap_err();
        assert!(why.contains(part), "{why}");
    }

    #[test]
    fn a_kernel_without_the_tracer_says_so() {
        refused(&FakeTree::new(), "tracefs is not mounted at /sys/kernel/tracing");
        let tree = tree().file(format!("{T}/available_tracers"), "function nop\n");
        refused(&tree, "CONFIG_OSNOISE_TRACER");
    }

    #[test]
    fn who_traces_already_is_not_disturbed() {
        refused(&tree().file(format!("{T}/current_tracer"), "function\n"), "`function`");
        let other = tree().file(format!("{T}/instances/rtla/current_tracer"), "timerlat\n");
        refused(&other, "instances/rtla/current_tracer");
        let options = tree().file(format!("{T}/osnoise/options"), "NO_OSNOISE_WORKLOAD PANIC\n");
        refused(&options, "switched off");
    }

    #[test]
    fn an_old_mount_is_found() {
        let tree =
            FakeTree::new().file("/sys/kernel/debug/tracing/available_tracers", "osnoise nop\n");
        let tracer = Tracer::find(&SysRoot::new(tree.path())).unwrap();
        assert_eq!(tracer.folder, "/sys/kernel/debug/tracing");
    }

    /// Changes as `path: old -> new`.
    fn planned(tree: &FakeTree, terms: &Terms) -> Vec<String> {
        let root = SysRoot::new(tree.path());
        let changes = Tracer::find(&root).unwrap().plan(&root, terms).unwrap();
        changes
            .iter()
            .map(|change| {
                let name = change.target.to_string();
                let new = change.new.as_deref().unwrap();
                format!("{}: {} -> {new}", name.trim_start_matches(T), change.old)
            })
            .collect()
    }

    #[test]
    fn the_shared_terms_are_changed_and_an_instance_is_made() {
        assert_eq!(
            planned(&tree(), &terms(Class::OTHER)),
            [
                "/tracing_thresh: 0 -> 5",
                "/osnoise/stop_tracing_total_us: 100 -> 0",
                "/osnoise/runtime_us: 1000000 -> 222222",
                "/osnoise/period_us: 1000000 -> 222222",
                "/osnoise/cpus: 0-3 -> 1",
                "/instances/becalm-noise-probe: absent -> present",
            ]
        );
    }

    #[test]
    fn the_runtime_never_exceeds_the_period() {
        let tree = tree().file(format!("{T}/osnoise/runtime_us"), "1000\n");
        let changes = planned(&tree, &terms(Class::OTHER));
        assert_eq!(changes[2], "/osnoise/period_us: 1000000 -> 222222");
        assert_eq!(changes[3], "/osnoise/runtime_us: 1000 -> 222222");
    }

    #[test]
    fn a_threshold_that_the_tracer_cannot_have_is_refused() {
        let tree = tree();
        let root = SysRoot::new(tree.path());
        let terms = Terms { threshold: Duration::from_nanos(1_500), ..terms(Class::OTHER) };
        let why = Tracer::find(&root).unwrap().plan(&root, &terms).unwrap_err();
        assert!(why.contains("whole number of microseconds"), "{why}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let tree = tree().without(format!("{T}/osnoise/cpus"));
        let root = SysRoot::new(tree.path());
        let why = Tracer::find(&root).unwrap().plan(&root, &terms(Class::OTHER)).unwrap_err();
        assert_eq!(why, "/sys/kernel/tracing/osnoise/cpus does not exist here");
    }

    #[test]
    fn the_thread_of_a_cpu_is_found_by_its_name() {
        let stat =
            |flags: u32| format!("9 (x) S 2 0 0 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0\n");
        let (program, of_kernel) = (stat(0x0040_0100), stat(0x0420_8040));
        let tree = FakeTree::new()
            .file("/proc/7/comm", "osnoise/1\n")
            .file("/proc/7/stat", &of_kernel)
            .file("/proc/8/comm", "osnoise/12\n")
            .file("/proc/8/stat", program)
            .file("/proc/9/comm", "osnoise/12\n")
            .file("/proc/9/stat", of_kernel)
            .file("/proc/self/comm", "osnoise/12\n");
        let root = SysRoot::new(tree.path());
        assert_eq!(thread_of(&root, CpuId(12)), Some(9));
        assert_eq!(thread_of(&root, CpuId(2)), None);
    }
}
