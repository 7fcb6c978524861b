//! Parameters that guides recommend besides those that reserve CPUs: what each does, when it helps, what it costs. A
//! pure function of what the kernel is.
//!
//! By `Documentation/admin-guide/kernel-parameters.txt`. None is added unless it is asked for: most have a knob that
//! does the same for as long as a session lasts.

use becalm_model::CpuSet;
use becalm_model::wire::{BootAdvice, BootOption};

use super::kernel::{Built, KernelOptions};

/// What the parameters depend on.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    pub(super) housekeeping: &'a CpuSet,
    pub(super) options: &'a KernelOptions,
    /// The driver of the idle states; `None` where the kernel does not say.
    pub(super) idle_driver: Option<String>,
    /// The clock that is read; `None` where the kernel does not say.
    pub(super) clock: Option<String>,
}

/// Returns the parameters that this machine could take, and those that guides name and it would not heed.
pub(super) fn options(machine: &Machine<'_>) -> Vec<BootOption> {
    let mut all = vec![kernel_threads(machine)];
    all.extend(idle_states(machine));
    all.extend(clock(machine));
    all.push(option(
        "skew_tick=1",
        BootAdvice::Sometimes,
        "spreads the timer ticks of the CPUs over time instead of having all at once",
        "on machines with many CPUs whose ticks wait for each other's locks; not where the tick is stopped",
        "more wake-ups, and so more power",
    ));
    if machine.options.rcu_nocb != Built::No {
        all.push(option(
            "rcu_nocb_poll",
            BootAdvice::Sometimes,
            "makes the threads that clean up for the CPUs of rcu_nocbs= look for work themselves, \
             so that those CPUs need not wake them",
            "if programs on the reserved CPUs free much memory of the kernel (files, sockets)",
            "these threads wake up all the time on the other CPUs, and use power that turbo could \
             use",
        ));
    }
    all.extend(WATCHDOGS.map(|(text, does)| {
        option(
            text,
            BootAdvice::NotNeeded,
            does,
            "hardly: the knob `watchdog` of `becalm tune` does it for as long as a session lasts",
            "a kernel that hangs is not reported until the next start",
        )
    }));
    all.push(option(
        "audit=0",
        BootAdvice::Sometimes,
        "switches off the kernel's audit log",
        "if a service has set rules for it (`auditctl -l`): they make every system call slower",
        "nothing is logged until the next start, which company rules may forbid; `auditctl -e 0` \
         does it without a restart unless the rules are locked",
    ));
    all.push(option(
        "transparent_hugepage=always",
        BootAdvice::NotNeeded,
        "gives huge pages to all programs from boot on; `never` gives them to none",
        "hardly: `becalm tune --thp always` and the knob `thp` do it for as long as a session lasts",
        "some runs get huge pages and others do not, depending on how fragmented memory is",
    ));
    all.push(option(
        "systemd.unit=rescue.target",
        BootAdvice::Sometimes,
        "starts a root shell and next to nothing else (single-user mode)",
        "if not even services may run beside a measurement; `systemd.unit=multi-user.target` only \
         skips the desktop",
        "there is no network and no remote login. For one start only, press `e` in the menu of \
         the boot loader and add it to the line of the kernel",
    ));
    all.extend(mitigations(machine));
    all
}

/// Parts of the kernel's watchdog.
const WATCHDOGS: [(&str, &str); 3] = [
    ("nosoftlockup", "switches off the detection of tasks that keep a CPU for too long"),
    (
        "nmi_watchdog=0",
        "switches off the detection of CPUs that hang, which also takes a hardware counter",
    ),
    ("nowatchdog", "switches off both"),
];

fn kernel_threads(machine: &Machine<'_>) -> BootOption {
    option(
        &format!("kthread_cpus={}", machine.housekeeping),
        BootAdvice::Against,
        "keeps kernel threads on the other CPUs, in kernels of vendors that have such a \
         parameter: the mainline kernel ignores it",
        "with no other kernel: from Linux 5.8 on, nohz_full= does it, and the knob \
         `kernel-threads` of `becalm tune` does it for the existing ones",
        "nothing",
    )
}

fn idle_states(machine: &Machine<'_>) -> Option<BootOption> {
    let intel = "intel_idle.max_cstate=0 processor.max_cstate=1";
    let text = match machine.idle_driver.as_deref() {
        Some("acpi_idle") => "processor.max_cstate=1",
        Some("intel_idle") | None => intel,
        // Drivers of other architectures and of guests have neither.
        Some(_) => return None,
    };
    Some(option(
        text,
        BootAdvice::NotNeeded,
        "keeps every CPU from sleeping deeper than C1; 0 for `intel_idle` leaves idle states to \
         ACPI, whose 0 means 1",
        "if firmware puts CPUs into deep states on its own; otherwise the knob `cstates` of \
         `becalm tune` and `--latency` do it for as long as a session lasts",
        "power and heat, and less turbo for the busy CPUs, because turbo uses the power that \
         sleeping CPUs save",
    ))
}

fn clock(machine: &Machine<'_>) -> Option<BootOption> {
    if machine.clock.as_deref().is_some_and(|clock| clock != "tsc") {
        return None;
    }
    let is_trusted = is_from(machine, (5, 17));
    let helps = if is_trusted == Some(true) {
        "rarely: from Linux 5.17 on, the kernel does so itself on machines with few sockets whose \
         TSC it can adjust"
    } else {
        "if single samples twice a second matter: a timer on one CPU after the other compares the \
         clocks"
    };
    let option = option(
        "tsc=nowatchdog",
        BootAdvice::Sometimes,
        "stops comparing the clock in the CPU (TSC) with another one while the machine runs",
        helps,
        "a TSC that goes wrong is not detected, and every time measured with it is wrong. x86 only",
    );
    from(machine, (5, 5), option)
}

fn mitigations(machine: &Machine<'_>) -> Option<BootOption> {
    let option = option(
        "mitigations=off",
        BootAdvice::Against,
        "switches off all protection against speculative execution attacks; `pti=off` and others \
         switch off one each",
        "no comparison: the mitigations make entries into the kernel and some branches slower by \
         the same amount in each run. Without them times are shorter but no steadier, and are no \
         longer those of the machines that the program is for",
        "every program can read the memory of all others and of the kernel. To know what the \
         mitigations cost a program, measure it before and after such a restart: `becalm diff` \
         reports that the kernels were protected differently",
    );
    from(machine, (5, 2), option)
}

fn option(text: &str, advice: BootAdvice, does: &str, helps: &str, costs: &str) -> BootOption {
    BootOption {
        text: text.to_owned(),
        advice,
        does: does.to_owned(),
        helps: helps.to_owned(),
        costs: costs.to_owned(),
        kernel: None,
    }
}

/// Leaves out a parameter that the kernel does not know yet.
fn from(machine: &Machine<'_>, since: (u32, u32), option: BootOption) -> Option<BootOption> {
    (is_from(machine, since) != Some(false))
        .then(|| BootOption { kernel: Some(format!("{}.{}", since.0, since.1)), ..option })
}

/// Says whether the kernel is of a version or later; `None` if it is unknown.
fn is_from(machine: &Machine<'_>, since: (u32, u32)) -> Option<bool> {
    let mut numbers = machine.options.release.as_deref()?.split(['.', '-', '+']);
    let (major, minor) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    Some((major, minor) >= since)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(release: &str, idle_driver: Option<&str>, clock: Option<&str>) -> Vec<String> {
        let options = KernelOptions {
            release: (!release.is_empty()).then(|| release.to_owned()),
            source: None,
            nohz_full: Built::Unknown,
            rcu_nocb: Built::Yes,
            isolation: Built::Unknown,
        };
        let machine = Machine {
            housekeeping: &"0-1".parse().unwrap(),
            options: &options,
            idle_driver: idle_driver.map(str::to_owned),
            clock: clock.map(str::to_owned),
        };
        super::options(&machine).into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn what_a_machine_does_not_heed_is_not_offered() {
        let here = |texts: &[String], text: &str| texts.iter().any(|one| one == text);
        let intel = texts("6.12.0-1-amd64", Some("intel_idle"), Some("tsc"));
        assert!(here(&intel, "intel_idle.max_cstate=0 processor.max_cstate=1"));
        assert!(here(&intel, "tsc=nowatchdog") && here(&intel, "mitigations=off"));
        let amd = texts("5.4.0", Some("acpi_idle"), Some("tsc"));
        assert!(here(&amd, "processor.max_cstate=1") && !here(&amd, "tsc=nowatchdog"));
        let arm = texts("4.19", Some("psci_idle"), Some("arch_sys_counter"));
        assert!(!arm.iter().any(|one| one.contains("cstate") || one.contains("tsc")));
        assert!(!here(&arm, "mitigations=off") && here(&arm, "skew_tick=1"));
        let unknown = texts("", None, None);
        assert!(here(&unknown, "tsc=nowatchdog") && here(&unknown, "mitigations=off"));
        assert!(here(&unknown, "kthread_cpus=0-1"));
    }
}
