//! What to do about a culprit: the setting or the command that keeps it off the subject's CPU.

use becalm_model::trace::Culprit;

/// Returns what to do about a culprit, as one sentence without its full stop; nothing if there is
/// nothing to do.
pub(super) fn advice(culprit: &Culprit) -> String {
    match culprit {
        Culprit::Process { unit: Some(unit), .. } if unit.ends_with(".service") => format!(
            "stop it while you measure: `systemctl stop {unit}`, or --tune=strict if becalm knows \
             the service; or keep it off with --isolate"
        ),
        Culprit::Process { .. } => {
            "end it while you measure, move it (`taskset -p` to another CPU), or keep it off with --isolate".to_owned()
        }
        Culprit::KernelThread { name, work } => kernel_thread(name, work.as_deref()),
        Culprit::Interrupt { line, .. } => format!(
            "move it: --tune (knob irq-affinity), or write another CPU to \
             /proc/irq/{line}/smp_affinity_list"
        ),
        Culprit::LocalInterrupt { kind, function } => local(kind, function.as_deref()),
        Culprit::Softirq { kind, .. } => softirq(kind).to_owned(),
        Culprit::NonMaskable => {
            "profilers that count cycles send these: end `perf record` and the like while you \
             measure; otherwise it is the watchdog, --tune (knob watchdog)"
                .to_owned()
        }
        Culprit::MinorFault => {
            "it is caused by the subject: keep freed memory (MALLOC_TRIM_THRESHOLD_, \
             MALLOC_TOP_PAD_), with many threads use fewer arenas (MALLOC_ARENA_MAX), touch \
             memory before the part that is timed, or use huge pages (--thp on)"
                .to_owned()
        }
        Culprit::MajorFault => {
            "read its files before each run (--cache warm), and make sure that memory is not \
             swapped (knob swappiness)"
                .to_owned()
        }
        Culprit::OwnThreads => {
            "give it as many CPUs as it has busy threads (--affinity, --threads)".to_owned()
        }
        Culprit::WakeUp => {
            "shallow idle states wake faster: --tune (knob cstates); a subject that never sleeps \
             does not wait for this"
                .to_owned()
        }
        Culprit::HeldBack => {
            "raise or remove the CPU quota of its control group (cpu.max or cpu.cfs_quota_us)"
            .to_owned()
        }
        Culprit::Stopped => "find what sends SIGSTOP or traces it".to_owned(),
        Culprit::Blocked => {
            "it waits for a disk or for a lock in the kernel: keep its files in memory \
             (/dev/shm), and stop other writers (knob writeback)"
                .to_owned()
        }
        Culprit::Asleep => "it is caused by the subject".to_owned(),
        Culprit::Steal => {
            "no setting of this machine helps: use dedicated CPUs, or measure at a quieter time"
                .to_owned()
        }
        Culprit::Gap => {
            "the hypervisor, or on bare metal the firmware (system management interrupts): see its \
             settings; `becalm noise probe` shows how often"
                .to_owned()
        }
        Culprit::Becalm => String::new(),
        Culprit::Unknown => {
            "the thread that reads the events came too late, or a CPU without a tick had none: leave \
             becalm a CPU that nothing else keeps busy (--affinity chooses those of the subject)"
                .to_owned()
        }
    }
}

fn kernel_thread(name: &str, work: Option<&str>) -> String {
    let text = match work {
        Some("wb_workfn") => {
            "dirty pages are written back: --tune (knobs writeback, workqueues), `sync` before the \
             session (--prepare sync), or write to /dev/shm"
        }
        Some("vmstat_update" | "vmstat_shepherd") => "--tune (knob vmstat-interval)",
        _ if name.starts_with("kworker") => {
            "--tune (knob workqueues) moves workers that are not bound to a CPU; bound ones \
             finish work that was started on this CPU"
        }
        _ if name.starts_with("ksoftirqd") => {
            "it does what interrupts left: move the interrupts, --tune (knob irq-affinity)"
        }
        _ if name.starts_with("migration/") => {
            "it moves tasks between CPUs: pin the subject (--affinity)"
        }
        _ if name.starts_with("rcu") => {
            "boot with rcu_nocbs for the CPU: `becalm boot-params` prints the line"
        }
        _ => "--tune (knob kernel-threads) moves the movable ones",
    };
    text.to_owned()
}

fn local(kind: &str, function: Option<&str>) -> String {
    let text = match (kind, function) {
        (_, Some("tick_nohz_handler" | "tick_sched_timer" | "tick_nohz_highres_handler")) => {
            "the tick: boot with nohz_full for the CPU; `becalm boot-params` prints the line"
        }
        (_, Some("timerfd_tmrproc" | "timerfd_alarmproc")) => {
            "a program armed a timerfd on this CPU: keep that program off with --isolate"
        }
        (_, Some("hrtimer_wakeup" | "posix_timer_fn" | "it_real_fn")) => {
            "a program's sleep or timer ends on this CPU: keep that program off with --isolate"
        }
        // `perf record` without hardware counters samples by these (`kernel/events/core.c`).
        (_, Some("perf_swevent_hrtimer" | "perf_mux_hrtimer_handler")) => {
            "a profiler is running on this machine: end `perf record`, `perf top` or the like \
             while you measure"
        }
        (_, Some("sched_cfs_period_timer")) => "a CPU quota is in force: remove it",
        (_, Some("watchdog_timer_fn")) => "--tune (knob watchdog)",
        ("local_timer", _) => {
            "timers that were set on this CPU: --tune (knob timer-migration), and keep other \
             programs off with --isolate"
        }
        ("reschedule" | "call_function" | "call_function_single", _) => {
            "another CPU asks this one to schedule or to flush: keep other programs off with \
             --isolate, and run the threads of a program on few CPUs"
        }
        ("thermal_apic", _) => "the CPU is too hot: `becalm check`",
        _ => "`becalm check` shows what this machine can do about it",
    };
    text.to_owned()
}

fn softirq(kind: &str) -> &'static str {
    match kind {
        "NET_RX" | "NET_TX" => {
            "network traffic: move the card's interrupts, --tune (knob irq-affinity)"
        }
        "BLOCK" | "IRQ_POLL" => "disk I/O: move the disk's interrupts, --tune (knob irq-affinity)",
        "RCU" => "boot with rcu_nocbs for the CPU: `becalm boot-params` prints the line",
        "TIMER" | "HRTIMER" => {
            "timers that were set on this CPU: --tune (knob timer-migration), and keep other \
             programs off with --isolate"
        }
        "SCHED" => "load balancing: --isolate excludes the CPU from it",
        _ => "move the interrupts that it follows, --tune (knob irq-affinity)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(culprit: &Culprit, word: &str) {
        let text = advice(culprit);
        assert!(text.contains(word) && !text.ends_with('.'), "{culprit}: {text}");
    }

    #[test]
    fn every_culprit_has_a_way_out_that_exists() {
        let cron = |unit: Option<&str>| Culprit::Process {
            name: "cron".into(),
            pid: None,
            unit: unit.map(str::to_owned),
        };
        check(&cron(Some("cron.service")), "systemctl stop cron.service");
        check(&cron(None), "end it while you measure");
        let sampling = Some("perf_swevent_hrtimer".to_owned());
        let timer = Culprit::LocalInterrupt { kind: "local_timer".into(), function: sampling };
        check(&timer, "end `perf record`");
        let kernel = |name: &str, work: Option<&str>| Culprit::KernelThread {
            name: name.into(),
            work: work.map(str::to_owned),
        };
        check(&kernel("kworker", Some("wb_workfn")), "knobs writeback");
        check(&kernel("kworker", None), "knob workqueues");
        check(&kernel("rcu_preempt", None), "rcu_nocbs");
        check(&Culprit::Interrupt { line: 36, device: "eth0".into() }, "/proc/irq/36/");
        check(&Culprit::HeldBack, "quota");
        check(&Culprit::Unknown, "--affinity");
        assert_eq!(advice(&Culprit::Becalm), "");
        check(&Culprit::MinorFault, "MALLOC_TRIM_THRESHOLD_");
    }

    #[test]
    fn the_knobs_that_are_named_exist() {
        let known: Vec<&str> = becalm_machine::knobs::KNOBS.iter().map(|knob| knob.name).collect();
        for knob in [
            "irq-affinity",
            "watchdog",
            "thp",
            "swappiness",
            "cstates",
            "writeback",
            "workqueues",
            "vmstat-interval",
            "kernel-threads",
            "timer-migration",
        ] {
            assert!(known.contains(&knob), "{knob} is none of {known:?}");
        }
    }
}
