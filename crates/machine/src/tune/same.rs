//! Whether two texts are the same value of a kernel file.

use becalm_model::CpuSet;

use crate::cpumask::parse_mask;
use crate::schemata::Schemata;

/// Says whether `a` and `b`, read from or written to the file `path`, are the same value.
///
/// The kernel shows values otherwise than they are written: `always [madvise] never` for `madvise`,
/// `0000000f` for `f`, `0-3` for `0,1,2,3`, `1500000` for `01500000`.
pub fn same(path: &str, a: &str, b: &str) -> bool {
    let (a, b) = (chosen(a.trim()), chosen(b.trim()));
    if a == b {
        return true;
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    if is_mask(name) {
        return both(parse_mask(a).as_ref(), parse_mask(b).as_ref());
    }
    if is_list(name) {
        let list = |text: &str| text.parse::<CpuSet>().ok();
        return both(list(a).as_ref(), list(b).as_ref());
    }
    if name == "schemata" {
        let known = Schemata::parse(a).zip(Schemata::parse(b));
        return known.is_some_and(|(a, b)| a.agrees(&b));
    }
    if name == "cgroup.subtree_control" {
        return has_controller(a) == has_controller(b);
    }
    both(a.parse::<i128>().ok().as_ref(), b.parse::<i128>().ok().as_ref())
}

/// The one controller that becalm hands on.
pub(super) const CONTROLLER: &str = "cpuset";

/// Says whether a `cgroup.subtree_control` hands it on.
pub(super) fn has_controller(control: &str) -> bool {
    control.split_whitespace().any(|name| name == CONTROLLER)
}

fn both<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
    a.is_some() && a == b
}

/// Returns the chosen one of several words, which the kernel puts into brackets.
pub(crate) fn chosen(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word)
}

fn is_mask(name: &str) -> bool {
    matches!(name, "cpumask" | "smp_affinity" | "default_smp_affinity" | "rps_cpus" | "xps_cpus")
}

fn is_list(name: &str) -> bool {
    matches!(
        name,
        "smp_affinity_list"
            | "watchdog_cpumask"
            | "cpuset.cpus"
            | "cpuset.cpus.exclusive"
            | "cpus_list"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_shows_a_value_in_its_own_way() {
        let check = |path: &str, a: &str, b: &str, expected: bool| {
            assert_eq!(same(path, a, b), expected, "{path}: {a} and {b}");
            assert_eq!(same(path, b, a), expected, "{path}: {b} and {a}");
        };
        check("/sys/a/scaling_governor", "performance\n", "performance", true);
        check("/sys/a/scaling_governor", "performance", "powersave", false);
        check("/sys/kernel/mm/thp/enabled", "always [madvise] never", "madvise", true);
        check("/sys/kernel/mm/thp/enabled", "always [madvise] never", "always", false);
        check("/proc/irq/default_smp_affinity", "00000000,0000000f", "f", true);
        check("/proc/irq/9/smp_affinity", "f", "7", false);
        check("/sys/class/net/eth0/queues/rx-0/rps_cpus", "f", "0000000f", true);
        check("/proc/irq/9/smp_affinity_list", "0-3", "0,1,2,3", true);
        check("/proc/sys/kernel/randomize_va_space", "2", "02", true);
        check("/proc/sys/kernel/sched_rt_runtime_us", "-1", "-1", true);
        check("/sys/fs/cgroup/cgroup.subtree_control", "cpuset cpu", "io cpu cpuset", true);
        check("/sys/fs/cgroup/cgroup.subtree_control", "cpuset cpu", "cpu", false);
        check(
            "/sys/fs/resctrl/schemata",
            "    L3:0=00ff;1=f\n    MB:0=  50\n",
            "L3:0=ff MB:0=50",
            true,
        );
        check("/sys/fs/resctrl/schemata", "L3:0=00ff", "L3:0=f", false);
        check("/sys/a/x", "", "0", false);
    }
}
