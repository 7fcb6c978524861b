//! What kernels do behind one's back, one test each.

use anyhow::{Context, Result};

use super::expect::{UNTIL_ALONE, as_before, contains, ends_with, lacks, leaves_no_trace, says};
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

/// Two threads in each core.
const WITH_THREADS: Machines =
    Machines::Only(&["acpi-cpufreq", "acpi-shared", "intel-pstate", "intel-cpufreq"]);
const WITH_FREQUENCIES: Machines = Machines::Except(&["plain", "numa", "managed-irqs"]);

pub(super) const TESTS: &[Test] = &[
    test(
        "cpus_taken_offline_by_hand_stay_offline",
        WITH_THREADS,
        &["acpi-cpufreq"],
        offline_by_hand,
    ),
    test("threads_switched_off_before_stay_off", WITH_THREADS, &[], smt_off_before),
    test(
        "governors_that_differ_come_back_each",
        WITH_FREQUENCIES,
        &["acpi-cpufreq"],
        mixed_governors,
    ),
    test(
        "the_userspace_governor_has_its_speed_back",
        Machines::Only(&["acpi-cpufreq", "acpi-shared"]),
        &["acpi-cpufreq"],
        userspace,
    ),
    test("limits_that_were_narrow_come_back", WITH_FREQUENCIES, &["amd-pstate"], narrow_limits),
    test(
        "a_frequency_that_the_kernel_clamps_is_told",
        Machines::Only(&["acpi-cpufreq"]),
        &["acpi-cpufreq"],
        clamped,
    ),
    test("boost_that_was_off_stays_off", WITH_FREQUENCIES, &[], boost_off_before),
    test("watchdogs_that_change_when_read_come_back", Machines::All, &["plain"], watchdogs),
    test(
        "huge_pages_come_back_from_any_mode",
        Machines::Only(&["acpi-cpufreq", "plain"]),
        &["plain"],
        huge_pages,
    ),
    test(
        "perf_limits_come_back_from_the_corner",
        Machines::Only(&["acpi-cpufreq", "pmu"]),
        &["acpi-cpufreq"],
        perf_limits,
    ),
    test("unlimited_real_time_stays_unlimited", Machines::Only(&["acpi-cpufreq"]), &[], real_time),
    test(
        "idle_states_disabled_by_hand_stay_disabled",
        Machines::Only(&["acpi-cpufreq", "numa"]),
        &["acpi-cpufreq"],
        idle_states,
    ),
    test("a_narrow_workqueue_mask_comes_back", Machines::All, &[], workqueues),
    test(
        "interrupts_that_the_kernel_manages_are_no_failure",
        Machines::All,
        &["managed-irqs"],
        managed_interrupts,
    ),
    test(
        "interrupts_requested_while_tuned_get_the_cpus_of_before",
        Machines::Only(&["managed-irqs"]),
        &["managed-irqs"],
        late_interrupts,
    ),
    test(
        "a_cpu_that_went_offline_meanwhile_is_a_leftover",
        Machines::Only(&["acpi-cpufreq"]),
        &["acpi-cpufreq"],
        offline_meanwhile,
    ),
    test("a_value_set_by_somebody_else_is_left", Machines::All, &["acpi-cpufreq"], somebody_else),
    test(
        "a_knob_that_cannot_be_written_keeps_no_other_back",
        Machines::Only(&["acpi-cpufreq"]),
        &["acpi-cpufreq"],
        read_only,
    ),
    test(
        "wake_up_latency_is_held_as_long_as_asked",
        Machines::Only(&["acpi-cpufreq"]),
        &["acpi-cpufreq"],
        latency,
    ),
    test(
        "a_journal_cut_short_is_read_to_the_cut",
        Machines::Only(&["acpi-cpufreq"]),
        &["acpi-cpufreq"],
        torn_journal,
    ),
    test(
        "without_a_writable_disk_the_journal_is_in_memory",
        Machines::Only(&["acpi-cpufreq"]),
        &[],
        read_only_disk,
    ),
];

const fn test(
    name: &'static str,
    machines: Machines,
    sample: &'static [&'static str],
    body: fn(&mut Guest) -> Result<()>,
) -> Test {
    Test { name, machines, sample, body: Body::Guest(body) }
}

const STRICT: &str = "becalm tune --profile strict --hold -- true";

/// Prepares the machine, then tunes and restores it.
fn after(guest: &mut Guest, prepare: &str, command: &str) -> Result<String> {
    guest.ok(&format!("cd /sys/devices/system/cpu\n{prepare}"))?;
    leaves_no_trace(guest, command).with_context(|| prepare.to_owned())
}

/// `smt/control` brings every CPU online when it is switched on again.
fn offline_by_hand(guest: &mut Guest) -> Result<()> {
    let command = "becalm tune --smt off --hold -- true";
    after(guest, "echo 0 >cpu3/online", command)?;
    after(guest, "echo 1 >cpu3/online; echo 0 >cpu2/online", command).map(drop)
}

fn smt_off_before(guest: &mut Guest) -> Result<()> {
    after(guest, "echo off >smt/control", "becalm tune --smt off --hold -- true")?;
    after(guest, "true", STRICT).map(drop)
}

fn mixed_governors(guest: &mut Guest) -> Result<()> {
    let prepare = "set -- powersave ondemand conservative performance\n\
                   for policy in cpufreq/policy*; do\n\
                   grep -qw $1 $policy/scaling_available_governors && echo $1 >$policy/scaling_governor\n\
                   shift; done; true";
    after(guest, prepare, STRICT).map(drop)
}

/// Starting this governor sets its speed to the one that it finds.
fn userspace(guest: &mut Guest) -> Result<()> {
    let prepare = "for policy in cpufreq/policy*; do echo userspace >$policy/scaling_governor\n\
                   echo 1800000 >$policy/scaling_setspeed; done";
    after(guest, prepare, STRICT)?;
    says(guest, "cat /sys/devices/system/cpu/cpufreq/policy0/scaling_setspeed", "1800000")
}

/// A minimum above the old maximum, and the other way round, is refused: the order matters.
fn narrow_limits(guest: &mut Guest) -> Result<()> {
    let prepare = "low=$(cat cpufreq/policy0/cpuinfo_min_freq)\n\
                   for policy in cpufreq/policy*; do echo $low >$policy/scaling_max_freq; done";
    after(guest, prepare, "becalm tune --frequency base --hold -- true")?;
    let prepare = "high=$(cat cpufreq/policy0/cpuinfo_max_freq)\n\
                   for policy in cpufreq/policy*; do echo $high >$policy/scaling_max_freq\n\
                   echo $high >$policy/scaling_min_freq; done";
    after(guest, prepare, "becalm tune --frequency 50% --hold -- true").map(drop)
}

fn clamped(guest: &mut Guest) -> Result<()> {
    let said = leaves_no_trace(guest, "becalm tune --frequency 9000000 --hold -- true 2>&1; true")?;
    contains(&said, "9000000")
}

/// Limits read while boost is off are not those of the machine with boost.
fn boost_off_before(guest: &mut Guest) -> Result<()> {
    let prepare = "[ ! -e intel_pstate/no_turbo ] || echo 1 >intel_pstate/no_turbo\n\
                   [ ! -e cpufreq/boost ] || echo 0 >cpufreq/boost 2>/dev/null; true";
    after(guest, prepare, STRICT)?;
    after(guest, "true", "becalm tune --frequency base --hold -- true").map(drop)
}

/// Reading `nmi_watchdog` or `soft_watchdog` while `watchdog` is 0 makes that 0 their own setting.
fn watchdogs(guest: &mut Guest) -> Result<()> {
    leaves_no_trace(guest, STRICT)?;
    after(guest, "echo 0 >/proc/sys/kernel/soft_watchdog", STRICT)?;
    after(guest, "echo 0 >/proc/sys/kernel/watchdog", STRICT).map(drop)
}

fn huge_pages(guest: &mut Guest) -> Result<()> {
    for (enabled, defrag) in [("always", "defer"), ("never", "madvise"), ("madvise", "always")] {
        let prepare = format!(
            "cd /sys/kernel/mm/transparent_hugepage; echo {enabled} >enabled; echo {defrag} >defrag"
        );
        after(guest, &prepare, STRICT)?;
    }
    Ok(())
}

/// The rate cannot be written while the percentage is 0 or 100.
fn perf_limits(guest: &mut Guest) -> Result<()> {
    let prepare = "cd /proc/sys/kernel; echo 5000 >perf_event_max_sample_rate; echo 0 >perf_cpu_time_max_percent";
    after(guest, prepare, STRICT)?;
    after(guest, "echo 100 >/proc/sys/kernel/perf_cpu_time_max_percent", STRICT).map(drop)
}

fn real_time(guest: &mut Guest) -> Result<()> {
    after(guest, "echo -1 >/proc/sys/kernel/sched_rt_runtime_us", STRICT)?;
    let prepare =
        "cd /proc/sys/kernel; echo 500000 >sched_rt_runtime_us; echo 600000 >sched_rt_period_us";
    after(guest, prepare, STRICT).map(drop)
}

fn idle_states(guest: &mut Guest) -> Result<()> {
    let prepare = "echo 1 >cpu1/cpuidle/state3/disable; echo 1 >cpu2/cpuidle/state1/disable";
    after(guest, prepare, "becalm tune --profile strict --also cstates --hold -- true").map(drop)
}

fn workqueues(guest: &mut Guest) -> Result<()> {
    after(guest, "echo 3 >/sys/devices/virtual/workqueue/cpumask", STRICT).map(drop)
}

fn managed_interrupts(guest: &mut Guest) -> Result<()> {
    let said = leaves_no_trace(guest, STRICT)?;
    lacks(&said, "smp_affinity")
}

/// A driver that is bound while tuned requests its interrupts on the narrowed CPUs.
fn late_interrupts(guest: &mut Guest) -> Result<()> {
    let driver = "/sys/bus/virtio/drivers/virtio_scsi";
    let device = guest.ok(&format!("cd {driver} && ls -d virtio*"))?;
    let cpus = format!("cat /proc/irq/*/{device}-config/../smp_affinity_list");
    guest.ok(&format!("echo {device} >{driver}/unbind"))?;
    guest.ok("becalm tune --only irq-affinity --cpus 2-3")?;
    guest.ok(&format!("echo {device} >{driver}/bind"))?;
    says(guest, &cpus, "0-1")?;
    guest.ok("becalm restore")?;
    says(guest, &cpus, "0-3")
}

/// Files of an offline CPU answer EBUSY.
fn offline_meanwhile(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    guest.ok("becalm tune --only governor")?;
    guest.ok("echo 0 >/sys/devices/system/cpu/cpu3/online")?;
    let said = ends_with(guest, "becalm restore", 5)?;
    contains(&said, "policy3")?;
    guest.ok("echo 1 >/sys/devices/system/cpu/cpu3/online")?;
    guest.ok("becalm restore")?;
    as_before(guest, &before)
}

fn somebody_else(guest: &mut Guest) -> Result<()> {
    let file = "/proc/sys/kernel/randomize_va_space";
    let before = guest.state()?;
    guest.ok("becalm tune --only aslr")?;
    guest.ok(&format!("echo 1 >{file}"))?;
    let said = guest.ok("becalm restore")?;
    contains(&said, file)?;
    says(guest, &format!("cat {file}"), "1")?;
    guest.ok(&format!("echo 2 >{file}"))?;
    as_before(guest, &before)?;
    guest.ok(&format!("becalm tune --only aslr; echo 1 >{file}; becalm restore --force"))?;
    as_before(guest, &before)
}

/// A file over which a read-only copy is mounted cannot be written, not even by root.
fn read_only(guest: &mut Guest) -> Result<()> {
    let file = "/proc/sys/vm/stat_interval";
    guest.ok(&format!("mount --bind {file} {file} && mount -o remount,bind,ro {file}"))?;
    let before = guest.state()?;
    let said = guest.ok("becalm tune")?;
    contains(&said, file)?;
    says(guest, "cat /sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance")?;
    guest.ok("becalm restore")?;
    as_before(guest, &before)
}

fn latency(guest: &mut Guest) -> Result<()> {
    // The device tells the strictest wish of all who hold it, as a number of four bytes.
    let read = "hexdump -e '1/4 \"%d\"' /dev/cpu_dma_latency";
    let usual = guest.ok(read)?;
    says(guest, &format!("becalm tune --latency 5 --hold -- {read} 2>/dev/null"), "5")?;
    says(guest, read, &usual)?;
    guest.ok("becalm tune --latency 7")?;
    says(guest, read, "7")?;
    guest.ok("becalm restore")?;
    says(guest, read, &usual)?;
    // Its guardian holds the device until it has really ended.
    guest.ok(&format!("becalm tune --latency 7 && kill -9 $(pidof becalm); {UNTIL_ALONE}"))?;
    says(guest, read, &usual)?;
    guest.ok("becalm restore").map(drop)
}

fn torn_journal(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    guest.ok("becalm tune && kill -9 $(pidof becalm)")?;
    guest.ok("printf '{\"change\":{\"kn' >>/var/lib/becalm/journal")?;
    guest.ok("becalm restore")?;
    as_before(guest, &before)
}

fn read_only_disk(guest: &mut Guest) -> Result<()> {
    guest.ok("mount --bind /var/lib /var/lib && mount -o remount,bind,ro /var/lib")?;
    leaves_no_trace(guest, STRICT)?;
    leaves_no_trace(guest, "becalm tune && kill -9 $(pidof becalm); becalm restore").map(drop)
}
