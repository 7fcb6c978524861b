//! Probing by the hwlat tracer of the kernel (`Documentation/trace/hwlat_detector.rst`, since Linux 4.9): a thread that
//! reads the clock with interrupts switched off, so that all that comes between is firmware or a hypervisor.
//!
//! It reads for a part of each period, and tells of each such stretch the longest gap only. Its thread stays on the CPUs of
//! its tracing instance; its terms are shared by the machine, and so journalled and put back like those of [`super::Tracer`].

use std::time::{Duration, Instant};

use becalm_machine::{Reading, SysRoot};
use becalm_model::wire::TracerCounters;
use becalm_model::{Change, CpuId, Target};
use becalm_runner::Interrupt;

use super::trace_text::parse_latencies;
use super::tracefs::{self, INSTANCE};
use super::windows::turn;
use super::{Aside, CpuNoise, ProbeError, Terms, Window};

/// How long it reads without interrupts, out of how long a period. The kernel's own choice is half a second of a
/// second, which network cards notice.
const STRETCH: Duration = Duration::from_millis(50);
const PERIOD: Duration = Duration::from_millis(100);

/// Turns of each CPU.
const TURNS: u32 = 4;

const REASON: &str = "gaps that firmware makes are traced";

/// The hwlat tracer, ready to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hwlat {
    folder: &'static str,
}

impl Hwlat {
    /// Finds the tracer, or says why it cannot be used.
    pub fn find(root: &SysRoot) -> Result<Self, String> {
        tracefs::find(root, "hwlat", "CONFIG_HWLAT_TRACER").map(|folder| Self { folder })
    }

    /// Returns the changes of the machine that [`Hwlat::probe`] needs, in the order in which they are to be made; or why
    /// these terms cannot be had.
    pub fn plan(&self, root: &SysRoot, terms: &Terms) -> Result<Vec<Change>, String> {
        let threshold = terms.threshold.as_micros();
        if threshold == 0 || !terms.threshold.as_nanos().is_multiple_of(1000) {
            return Err("its threshold is a whole number of microseconds".to_owned());
        }
        let set = |name: &str, new: &str| -> Result<Change, String> {
            let path = format!("{}/{name}", self.folder);
            let old = root.read(&path).of(&path)?;
            Ok(Change::file(INSTANCE, path, &old, new, REASON))
        };
        let width = set("hwlat_detector/width", &STRETCH.as_micros().to_string())?;
        let window = set("hwlat_detector/window", &PERIOD.as_micros().to_string())?;
        // At no time may the width be longer than the window, also when they are put back.
        let is_longer = window.old.parse().is_ok_and(|old: u128| old >= STRETCH.as_micros());
        let (first, second) = if is_longer { (width, window) } else { (window, width) };
        let mut changes = vec![set("tracing_thresh", &threshold.to_string())?, first, second];
        // Before Linux 5.15 there was no other mode: one thread, on the CPUs of its instance in turns.
        if root.exists(format!("{}/hwlat_detector/mode", self.folder)) {
            changes.push(set("hwlat_detector/mode", "round-robin")?);
        }
        let folder = Target::Folder(self.instance(""));
        changes.push(Change::new(INSTANCE, folder, "absent", Some("present"), REASON));
        Ok(changes)
    }

    /// Probes all CPUs of `terms` in turns. The changes of [`Hwlat::plan`] have been made, and are undone by the caller,
    /// whatever this returns. `progress` is told the share that is done.
    ///
    /// When `interrupt` is raised the windows so far are returned.
    pub fn probe(
        &self,
        root: &SysRoot,
        terms: &Terms,
        interrupt: &Interrupt,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Vec<CpuNoise>, ProbeError> {
        let aside = Aside::step(&terms.cpus)?;
        let mut all: Vec<CpuNoise> = terms.cpus.iter().map(CpuNoise::traced).collect();
        let order: Vec<usize> = (0..all.len()).collect();
        let start = Instant::now();
        for round in 0..TURNS as usize {
            for (done, index) in turn(&order, round).into_iter().enumerate() {
                progress((round * all.len() + done) as f64 / (TURNS as usize * all.len()) as f64);
                if interrupt.signal().is_some() {
                    return Ok(all);
                }
                let noise = &mut all[index];
                aside.leave(noise.cpu);
                let begun = start.elapsed();
                let (gaps, counters) = self.turn(root, terms, noise.cpu, interrupt)?;
                noise.counters.get_or_insert_default().merge(&counters);
                noise.windows.push(Window { round, start: begun, gaps });
            }
        }
        Ok(all)
    }

    /// Lets the tracer work on one CPU for its part of a turn.
    fn turn(
        &self,
        root: &SysRoot,
        terms: &Terms,
        cpu: CpuId,
        interrupt: &Interrupt,
    ) -> Result<(super::Gaps, TracerCounters), ProbeError> {
        let write = |name: &str, value: &str| tracefs::set(root, &self.instance(name), value);
        write("/tracing_cpumask", &mask(cpu))?;
        write("/tracing_on", "1")?;
        write("/current_tracer", "hwlat")?;
        let begun = Instant::now();
        interrupt.sleep(terms.duration / TURNS * 2);
        write("/tracing_on", "0")?;
        let read = ran(root).unwrap_or_else(|| begun.elapsed() / 2);
        let path = self.instance(&format!("/per_cpu/cpu{cpu}/trace"));
        let text = match root.read(&path) {
            Reading::Value(text) => text,
            missing => {
                let why = missing.why_not().unwrap_or_default();
                return Err(ProbeError::TracerRead { path, why });
            }
        };
        let found =
            parse_latencies(&text).map_err(|source| ProbeError::TracerText { path, source })?;
        write("/current_tracer", "nop")?;
        let (mut gaps, counters) = found;
        gaps.watched = u64::try_from(read.as_nanos()).unwrap_or(u64::MAX);
        Ok((gaps, counters))
    }

    fn instance(&self, name: &str) -> String {
        format!("{}/instances/{INSTANCE}{name}", self.folder)
    }
}

/// Returns for how long the thread of the tracer has run, which it does only while it reads. `None` where it cannot be
/// seen, as from a pid namespace.
fn ran(root: &SysRoot) -> Option<Duration> {
    let pid = tracefs::thread(root, "hwlatd")?;
    let text = root.read(format!("/proc/{pid}/schedstat")).value()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Writes the mask of one CPU: words of eight hexadecimal digits.
fn mask(cpu: CpuId) -> String {
    format!("{:x}{}", 1_u32 << (cpu.0 % 32), ",00000000".repeat((cpu.0 / 32) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{Class, Siblings};
    use becalm_testkit::FakeTree;

    const T: &str = "/sys/kernel/tracing";

    fn tree() -> FakeTree {
        FakeTree::new()
            .file(format!("{T}/available_tracers"), "hwlat nop\n")
            .file(format!("{T}/current_tracer"), "nop\n")
            .file(format!("{T}/tracing_thresh"), "0\n")
            .file(format!("{T}/hwlat_detector/width"), "500000\n")
            .file(format!("{T}/hwlat_detector/window"), "1000000\n")
            .file(format!("{T}/hwlat_detector/mode"), "none [round-robin] per-cpu\n")
    }

    fn terms(cpus: &str) -> Terms {
        Terms {
            cpus: cpus.parse().unwrap(),
            duration: Duration::from_millis(4),
            threshold: Duration::from_micros(10),
            class: Class::OTHER,
            siblings: Siblings::AsTheyAre,
        }
    }

    fn planned(tree: &FakeTree) -> Vec<String> {
        let root = SysRoot::new(tree.path());
        let changes = Hwlat::find(&root).unwrap().plan(&root, &terms("0")).unwrap();
        let shown = |change: &Change| {
            let name = change.target.to_string();
            format!("{}: {}", name.trim_start_matches(T), change.new.as_deref().unwrap())
        };
        changes.iter().map(shown).collect()
    }

    #[test]
    fn the_width_never_exceeds_the_window_and_old_kernels_have_no_mode() {
        let (width, window) = ("/hwlat_detector/width: 50000", "/hwlat_detector/window: 100000");
        let instance = "/instances/becalm-noise-probe: present";
        let mode = "/hwlat_detector/mode: round-robin";
        assert_eq!(planned(&tree()), ["/tracing_thresh: 10", width, window, mode, instance]);
        let short = tree()
            .file(format!("{T}/hwlat_detector/window"), "2000\n")
            .without(format!("{T}/hwlat_detector/mode"));
        assert_eq!(planned(&short), ["/tracing_thresh: 10", window, width, instance]);
    }

    #[test]
    fn who_traces_already_is_not_disturbed() {
        let busy = tree().file(format!("{T}/instances/other/current_tracer"), "hwlat\n");
        let why = Hwlat::find(&SysRoot::new(busy.path())).unwrap_err();
        assert!(why.contains("instances/other"), "{why}");
        let without = tree().file(format!("{T}/available_tracers"), "nop\n");
        let why = Hwlat::find(&SysRoot::new(without.path())).unwrap_err();
        assert!(why.contains("CONFIG_HWLAT_TRACER"), "{why}");
    }

    #[test]
    fn gaps_come_with_the_time_that_the_thread_ran() {
        let own = becalm_runner::own_affinity().unwrap();
        let cpu = own.first().unwrap();
        let instance = format!("{T}/instances/{INSTANCE}");
        let line = "<...>-9  [000] d... 8.47: #1  inner/outer(us): 11/12  ts:15.3 count:3\n";
        let tree = tree()
            .file(format!("{instance}/tracing_cpumask"), "f\n")
            .file(format!("{instance}/tracing_on"), "0\n")
            .file(format!("{instance}/current_tracer"), "nop\n")
            .file(format!("{instance}/per_cpu/cpu{cpu}/trace"), line)
            .file("/proc/9/comm", "hwlatd\n")
            .file("/proc/9/stat", "9 (x) S 2 0 0 0 -1 69238848 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0\n")
            .file("/proc/9/schedstat", "600000 5 1\n");
        let root = SysRoot::new(tree.path());
        let (hwlat, interrupt) = (Hwlat { folder: T }, Interrupt::new().unwrap());
        let found = hwlat.probe(&root, &terms(&cpu.to_string()), &interrupt, &mut |_| {}).unwrap();
        let gaps = found[0].gaps();
        assert_eq!((gaps.count, gaps.longest, gaps.watched), (4, 12_000, 2_400_000));
        assert_eq!(found[0].counters.unwrap().hardware, 12);
    }

    #[test]
    fn a_mask_has_words_of_32_cpus() {
        assert_eq!(mask(CpuId(0)), "1");
        assert_eq!(mask(CpuId(31)), "80000000");
        assert_eq!(mask(CpuId(33)), "2,00000000");
    }
}
