//! How fast the CPUs may run, and who decides.

use becalm_model::CpuId;

use super::{Collector, as_is, on_off};
use crate::sysroot::SysRoot;
use crate::topology::Topology;

const CPUS: &str = "/sys/devices/system/cpu";
const NO_DRIVER: &str =
    "no frequency driver is loaded here, as in most virtual machines: the frequency is not visible";

pub(super) fn collect(collector: &mut Collector<'_>, topology: &Topology) {
    let online = &topology.online;
    let has_driver = online.iter().any(|cpu| file(collector.root, cpu, "scaling_driver").is_some());
    let absent = |what: &str| {
        if has_driver {
            format!("the frequency driver has no {what}")
        } else {
            NO_DRIVER.to_owned()
        }
    };
    for (key, name, what) in [
        ("scaling_driver", "scaling_driver", "name"),
        ("governor", "scaling_governor", "governor"),
        ("epp", "energy_performance_preference", "energy preference"),
    ] {
        collector.each_cpu(key, online, &absent(what), |root, cpu| file(root, cpu, name));
    }
    collector.each_cpu("frequency_range", online, &absent("range"), |root, cpu| {
        let low = megahertz(&file(root, cpu, "cpuinfo_min_freq")?)?;
        let high = megahertz(&file(root, cpu, "cpuinfo_max_freq")?)?;
        Some(format!("{low}-{high} MHz"))
    });
    collector.each_cpu("frequency_limits", online, &absent("limits"), |root, cpu| {
        let low = megahertz(&file(root, cpu, "scaling_min_freq")?)?;
        let high = megahertz(&file(root, cpu, "scaling_max_freq")?)?;
        Some(format!("{low}-{high} MHz"))
    });
    collector.each_cpu("base_frequency", online, &absent("base frequency"), |root, cpu| {
        if let Some(kilohertz) = file(root, cpu, "base_frequency") {
            return Some(format!("{} MHz", megahertz(&kilohertz)?));
        }
        // CPPC states it in megahertz already.
        let nominal = root.read(format!("{CPUS}/cpu{cpu}/acpi_cppc/nominal_freq")).value()?;
        let nominal: u64 = nominal.parse().ok().filter(|&value| value > 0)?;
        Some(format!("{nominal} MHz"))
    });
    turbo(collector, topology, &absent("switch for turbo"));
}

/// The switch depends on the driver, never on the maker of the CPU: `no_turbo` is of `intel_pstate`
/// in both of its modes, the global `boost` of most others, a `boost` per policy of `amd-pstate`
/// since Linux 6.11.
fn turbo(collector: &mut Collector<'_>, topology: &Topology, absent: &str) {
    if let Some(text) = collector.text(format!("{CPUS}/intel_pstate/no_turbo")) {
        let value = match text.as_str() {
            "0" => "on",
            "1" => "off",
            _ => return collector.miss("turbo", format!("no_turbo contains `{text}`")),
        };
        return collector.put("turbo", value);
    }
    if let Some(value) =
        collector.text(format!("{CPUS}/cpufreq/boost")).and_then(|text| on_off(&text))
    {
        return collector.put("turbo", value);
    }
    collector.each_cpu("turbo", &topology.online, absent, |root, cpu| {
        on_off(&file(root, cpu, "boost")?)
    });
}

fn file(root: &SysRoot, cpu: CpuId, name: &str) -> Option<String> {
    as_is(&root.read(format!("{CPUS}/cpu{cpu}/cpufreq/{name}")).value()?)
}

fn megahertz(kilohertz: &str) -> Option<u64> {
    Some(kilohertz.parse::<u64>().ok()? / 1000)
}
