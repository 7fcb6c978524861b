//! Parsers of the kernel's running totals. Pure, and indifferent to what other text they meet.

use std::collections::BTreeMap;

use becalm_model::{CpuId, CpuSet};

/// Ticks since boot, summed over some CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// user + nice + system + irq + softirq; guest time is part of user already.
    pub(crate) busy: u64,
    /// Ready to run, and the hypervisor ran something else.
    pub(crate) steal: u64,
}

/// Sums the `cpuN` lines of `/proc/stat` over `cpus`; `None` unless each has its line.
///
/// Fields: `user nice system idle iowait irq softirq steal guest guest_nice` (`proc_stat(5)`).
pub(crate) fn stat(text: &str, cpus: &CpuSet) -> Option<Ticks> {
    let mut sum = Ticks::default();
    let mut found = 0;
    for (cpu, fields) in stat_cpu_lines(text) {
        if !cpus.contains(cpu) {
            continue;
        }
        let mut values = fields.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || values.next().and_then(Result::ok);
        let (user, nice, system) = (next()?, next()?, next()?);
        let (_idle, _iowait) = (next()?, next()?);
        let (irq, softirq) = (next()?, next()?);
        // Steal came with Linux 2.6.11; a line without it had none to report.
        let steal = next().unwrap_or(0);
        for part in [user, nice, system, irq, softirq] {
            sum.busy = sum.busy.saturating_add(part);
        }
        sum.steal = sum.steal.saturating_add(steal);
        found += 1;
    }
    (found > 0 && found == cpus.len()).then_some(sum)
}

/// Returns how many interrupts all CPUs together have had: the first number of the `intr` line.
pub(crate) fn stat_interrupts(text: &str) -> Option<u64> {
    stat_sum(text, "intr ")
}

/// Returns how many softirqs all CPUs together have run: the first number of the `softirq` line.
pub(crate) fn stat_softirqs(text: &str) -> Option<u64> {
    stat_sum(text, "softirq ")
}

fn stat_sum(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns how many tasks of the whole machine run or are ready to run: the fourth field of
/// `/proc/loadavg`, before its stroke.
pub(crate) fn runnable(text: &str) -> Option<u32> {
    text.split_ascii_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

/// Returns the CPUs that have a line of their own in `/proc/stat`: those online.
pub(crate) fn stat_cpus(text: &str) -> CpuSet {
    stat_cpu_lines(text).map(|(cpu, _)| cpu).collect()
}

fn stat_cpu_lines(text: &str) -> impl Iterator<Item = (CpuId, &str)> {
    // The CPU lines come first and the long `intr` line after them, so stop at the first other one.
    text.lines().take_while(|line| line.starts_with("cpu")).filter_map(|line| {
        let (number, fields) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((CpuId(number.parse().ok()?), fields))
    })
}

/// Returns the stalled time in microseconds from the `some` line of a file in `/proc/pressure`.
pub(crate) fn pressure(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

/// Returns the throttled time in seconds from a `cpu.stat` of control groups, either version.
pub(crate) fn throttled(text: &str) -> Option<f64> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(' ')?;
        let scale = match key {
            "throttled_usec" => 1e-6,
            "throttled_time" => 1e-9,
            _ => return None,
        };
        Some(value.trim().parse::<u64>().ok()? as f64 * scale)
    })
}

/// Sums the columns of `cpus` in `/proc/interrupts` or `/proc/softirqs`; `None` without the header or those columns.
pub(crate) fn interrupts(text: &str, cpus: &CpuSet) -> Option<u64> {
    let mut sum = 0_u64;
    let columns = interrupt_rows(text, |_, cpu, count| {
        if cpus.contains(cpu) {
            sum = sum.saturating_add(count);
        }
    })?;
    cpus.iter().any(|cpu| columns.contains(&cpu)).then_some(sum)
}

/// Sums the interrupts by devices for each CPU: the rows whose name is a number. The others are
/// timers and calls from CPU to CPU, which tell more about past load than about devices.
pub(crate) fn device_interrupts(text: &str) -> BTreeMap<CpuId, u64> {
    let mut sums = BTreeMap::new();
    interrupt_rows(text, |row, cpu, count| {
        if row.bytes().all(|byte| byte.is_ascii_digit()) {
            let sum: &mut u64 = sums.entry(cpu).or_default();
            *sum = sum.saturating_add(count);
        }
    });
    sums
}

/// Hands every row name, CPU and count of `/proc/interrupts` to `take`; returns the CPUs of the
/// columns.
///
/// The rows `ERR` and `MIS` hold one machine-wide count, which on a single CPU looks like a column.
fn interrupt_rows(text: &str, mut take: impl FnMut(&str, CpuId, u64)) -> Option<Vec<CpuId>> {
    let mut lines = text.lines();
    let columns: Vec<CpuId> = lines
        .next()?
        .split_ascii_whitespace()
        .map(|name| name.strip_prefix("CPU").and_then(|number| number.parse().ok()).map(CpuId))
        .collect::<Option<_>>()?;
    for line in lines {
        let Some((name, counts)) = line.split_once(':') else { continue };
        let name = name.trim();
        if matches!(name, "ERR" | "MIS" | "Err") {
            continue;
        }
        for (&cpu, count) in columns.iter().zip(counts.split_ascii_whitespace()) {
            // The first word that is no number starts the description.
            let Ok(count) = count.parse() else { break };
            take(name, cpu, count);
        }
    }
    Some(columns)
}

/// Reads a file that holds one number.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAT: &str = "cpu  10 10 10 10 10 10 10 10 0 0\n\
        cpu0 1 2 3 100 100 4 5 6 0 0\n\
        cpu2 10 20 30 100 100 40 50 60 0 0\n\
        intr 299513 0 0\nsoftirq 1234 5 6\n";

    fn set(list: &str) -> CpuSet {
        list.parse().unwrap()
    }

    #[test]
    fn busy_leaves_idle_and_waiting_out() {
        assert_eq!(stat(STAT, &set("0")), Some(Ticks { busy: 15, steal: 6 }));
        assert_eq!(stat(STAT, &set("0,2")), Some(Ticks { busy: 165, steal: 66 }));
        assert_eq!(stat_cpus(STAT), set("0,2"));
        assert_eq!((stat_interrupts(STAT), stat_softirqs(STAT)), (Some(299_513), Some(1234)));
    }

    #[test]
    fn a_cpu_without_a_line_makes_the_sum_unknown() {
        assert_eq!(stat(STAT, &set("0-1")), None);
        assert_eq!(stat(STAT, &set("")), None);
        assert_eq!(stat("cpu0 1 2\n", &set("0")), None);
    }

    #[test]
    fn runnable_tasks_are_those_before_the_stroke() {
        assert_eq!(runnable("1.23 1.18 0.72 2/101 20663\n"), Some(2));
        assert_eq!(runnable("1.23 1.18 0.72\n"), None);
    }

    #[test]
    fn pressure_is_the_some_total() {
        let text = "some avg10=0.00 avg60=0.12 avg300=0.05 total=1234\nfull avg10=0.00 total=7\n";
        assert_eq!(pressure(text), Some(1234));
        assert_eq!(pressure("full avg10=0.00 total=7\n"), None);
    }

    #[test]
    fn throttling_is_read_from_both_versions() {
        assert_eq!(throttled("usage_usec 5\nnr_throttled 2\nthrottled_usec 1500000\n"), Some(1.5));
        assert_eq!(
            throttled("nr_periods 0\nnr_throttled 0\nthrottled_time 2000000000\n"),
            Some(2.0)
        );
        assert_eq!(throttled("usage_usec 5\n"), None);
    }

    #[test]
    fn interrupts_are_summed_over_the_columns_of_the_cpus() {
        let text = "           CPU0       CPU2\n  0:         7          8   IO-APIC   2-edge      timer\n\
            NMI:         1          2   Non-maskable interrupts\nERR:         99\n";
        assert_eq!(interrupts(text, &set("0")), Some(8));
        assert_eq!(interrupts(text, &set("0-2")), Some(18));
        assert_eq!(interrupts(text, &set("1")), None);
        assert_eq!(device_interrupts(text), [(CpuId(0), 7), (CpuId(2), 8)].into());
        assert_eq!(interrupts("  0: 7", &set("0")), None);
        let softirqs = "                    CPU0       CPU2       \n          HI:          1          2\n       \
            TIMER:         30         40\n";
        assert_eq!(interrupts(softirqs, &set("2")), Some(42));
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "(?s).{0,200}", kernel in "[a-z0-9:= \n\tCPUcpu]{0,200}") {
            for text in [&text, &kernel] {
                let _ = (stat_interrupts(text), stat_softirqs(text), runnable(text));
                let _ = (stat(text, &set("0-3")), stat_cpus(text), pressure(text), throttled(text));
                let _ = (interrupts(text, &set("0-3")), number(text));
                let _ = device_interrupts(text);
            }
        }
    }
}
