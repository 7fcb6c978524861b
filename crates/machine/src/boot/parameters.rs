//! Which parameters reserve CPUs, and what each costs. A pure function.

use becalm_model::CpuSet;
use becalm_model::wire::{BOOT_SCHEMA, BootDocument, BootLoader, BootParameter};

use super::kernel::{Built, KernelOptions};
use super::options::{self, Machine};
use crate::cpumask::read_list;
use crate::facts::CpuInfo;
use crate::sysroot::{Reading, SysRoot};
use crate::topology::Topology;

/// Whether the scheduler keeps moving tasks between the reserved CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// It does; other tasks are kept away at run time (`becalm run --isolate`).
    Balanced,
    /// It does not, from the boot on (`isolcpus=domain`).
    Isolated,
}

/// The CPUs to reserve, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserved {
    /// CPUs for measurements.
    pub cpus: CpuSet,
    /// All other CPUs.
    pub housekeeping: CpuSet,
}

impl Reserved {
    /// Checks a list; an error is a sentence fragment.
    pub fn new(topology: &Topology, cpus: &CpuSet) -> Result<Self, String> {
        let present = topology.online.union(&topology.offline);
        let unknown = cpus.difference(&present);
        if cpus.is_empty() || !unknown.is_empty() {
            return Err(format!("--cpus {cpus}: the CPUs of this machine are {present}"));
        }
        if let Some(first) = topology.online.first().filter(|first| cpus.contains(*first)) {
            return Err(format!(
                "--cpus {cpus}: the kernel starts on CPU {first} and keeps its own work there, so it \
                 cannot be reserved"
            ));
        }
        let housekeeping = present.difference(cpus);
        if housekeeping.intersection(&topology.online).is_empty() {
            return Err(format!("--cpus {cpus}: no online CPU is left for everything else"));
        }
        Ok(Self { cpus: cpus.clone(), housekeeping })
    }
}

/// Returns the parameters that reserve CPUs with this kernel, and what to know about them. `also` are further ones of
/// [`BootDocument::options`], by what stands before the `=`; an error is a sentence fragment.
pub fn parameters(
    root: &SysRoot,
    topology: &Topology,
    reserved: &Reserved,
    options: &KernelOptions,
    domain: Domain,
    also: &[String],
    loaders: impl FnOnce(&str) -> Vec<BootLoader>,
) -> Result<BootDocument, String> {
    let (cpus, housekeeping) = (&reserved.cpus, &reserved.housekeeping);
    let isolation = match domain {
        Domain::Balanced => format!("isolcpus=managed_irq,{cpus}"),
        Domain::Isolated => format!("isolcpus=managed_irq,domain,{cpus}"),
    };
    let isolates = match domain {
        Domain::Balanced => {
            "keeps interrupts that drivers place themselves off these CPUs, if others can take them"
        }
        Domain::Isolated => {
            "keeps such interrupts, and every task that is not pinned there, off these CPUs"
        }
    };
    let wanted = [
        (
            options.nohz_full,
            "CONFIG_NO_HZ_FULL",
            format!("nohz_full={cpus}"),
            "stops the timer tick while a single task runs on one of these CPUs",
        ),
        (
            options.rcu_nocb,
            "CONFIG_RCU_NOCB_CPU",
            format!("rcu_nocbs={cpus}"),
            "moves the clean-up work of the kernel's data structures (RCU callbacks) elsewhere",
        ),
        (
            Built::Yes,
            "",
            format!("irqaffinity={housekeeping}"),
            "lets devices interrupt the other CPUs",
        ),
        (options.isolation, "CONFIG_CPU_ISOLATION", isolation, isolates),
    ];
    let mut document = BootDocument {
        schema: BOOT_SCHEMA.to_owned(),
        cpus: cpus.to_string(),
        housekeeping: housekeeping.to_string(),
        kernel: options.release.clone(),
        options_from: options.source.clone(),
        ..BootDocument::default()
    };
    for (built, option, text, reason) in wanted {
        if built == Built::No {
            document.missing.push(format!(
                "{text} is not used: this kernel was built without {option} and would ignore it"
            ));
        } else {
            document.parameters.push(BootParameter { text, reason: reason.to_owned() });
        }
    }
    if options.source.is_none() {
        document.missing.push(
            "the configuration of this kernel is unknown (neither /proc/config.gz nor a file \
             beside the kernel can be read), so it may ignore some of these"
                .to_owned(),
        );
    }
    let text = |path: &str| root.read(path).value().filter(|text| !text.is_empty());
    document.options = options::options(&Machine {
        housekeeping,
        options,
        idle_driver: text("/sys/devices/system/cpu/cpuidle/current_driver"),
        clock: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    });
    for name in also {
        let Some(option) = document.options.iter().find(|option| is_called(&option.text, name))
        else {
            let names: Vec<&str> =
                document.options.iter().map(|option| name_of(&option.text)).collect();
            return Err(format!("--also {name}: the further parameters are {}", names.join(", ")));
        };
        let (text, reason) = (option.text.clone(), option.does.clone());
        document.parameters.push(BootParameter { text, reason });
    }
    let line: Vec<&str> = document.parameters.iter().map(|one| one.text.as_str()).collect();
    document.line = line.join(" ");
    document.loaders = loaders(&document.line);
    document.warnings = warnings(root, topology, reserved, options, domain);
    Ok(document)
}

fn name_of(parameter: &str) -> &str {
    parameter.split(['=', ' ']).next().unwrap_or(parameter)
}

fn is_called(parameter: &str, name: &str) -> bool {
    parameter == name || parameter.split(' ').any(|one| name_of(one) == name || one == name)
}

fn warnings(
    root: &SysRoot,
    topology: &Topology,
    reserved: &Reserved,
    options: &KernelOptions,
    domain: Domain,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let cpus = &reserved.cpus;
    if domain == Domain::Isolated {
        warnings.push(
            "isolcpus=domain: threads are not balanced between these CPUs. All threads of a \
             program stay on the CPU that it starts on, unless each is pinned; a partition made \
             at run time (`becalm run --isolate`) can be undone and does not have this problem \
             with several threads"
                .to_owned(),
        );
    }
    if options.nohz_full != Built::No {
        warnings.push(
            "nohz_full makes every entry into the kernel slower on these CPUs, so programs with \
             many system calls appear slower than they are; and the tick stops only while a \
             single task is runnable"
                .to_owned(),
        );
        if frequency_follows_the_tick(root, cpus) {
            warnings.push(
                "intel_pstate without hardware-managed frequencies (HWP) chooses frequencies at \
                 each tick: without a tick, a CPU can stay at an earlier frequency. Fix it with \
                 `becalm tune` (governor performance, or --frequency) while you measure"
                    .to_owned(),
            );
        }
    }
    let shared = topology.whole_cores(cpus).difference(cpus);
    if !shared.is_empty() {
        warnings.push(format!(
            "these CPUs share cores with {}, where other programs may still run and slow a \
             measurement down. Reserve whole cores: --cpus {}",
            shared.named(),
            cpus.union(&shared)
        ));
    }
    // Where all cores share one cache nothing can be done about it.
    let shared = [2, 3].into_iter().find_map(|level| {
        let beside = topology.beside(level, cpus);
        Some((level, topology.spare_cache(level)?, beside))
            .filter(|(_, _, beside)| !beside.is_empty())
    });
    if let Some((level, whole, beside)) = shared {
        warnings.push(format!(
                        "these CPUs share an L{level} cache with {}, where other programs may still run and displace \
             what a measured program keeps in it. Reserve all CPUs of a cache: --cpus {whole}",
            beside.named()
        ));
    }
    warnings.extend(partition(root, cpus));
    let line = match root.read("/proc/cmdline").of("/proc/cmdline") {
        Ok(line) => line,
        Err(why) => {
            warnings.push(format!(
                "the parameters that this kernel was started with are unknown ({why}): if one is \
                 given twice, remove the older one"
            ));
            String::new()
        }
    };
    let keys = ["nohz_full=", "rcu_nocbs=", "irqaffinity=", "isolcpus="];
    let present: Vec<&str> = line
        .split_whitespace()
        .filter(|word| keys.iter().any(|key| word.starts_with(key)))
        .collect();
    if !present.is_empty() {
        warnings.push(format!(
            "this kernel was already started with {}; if a parameter is given twice, remove the \
             older one",
            present.join(" ")
        ));
    }
    warnings.push(
        "interrupts of per-CPU queues and some kernel threads stay on these CPUs anyway; after \
         the next start, `becalm check` shows what remains"
            .to_owned(),
    );
    warnings
}

/// Says what happens to CPUs that a control group has reserved now.
fn partition(root: &SysRoot, cpus: &CpuSet) -> Option<String> {
    const ISOLATED: &str = "/sys/fs/cgroup/cpuset.cpus.isolated";
    match read_list(root, ISOLATED) {
        Reading::Absent => None,
        Reading::Value(isolated) if isolated.is_empty() => None,
        Reading::Value(isolated) => Some(format!(
            "{} {} already reserved by an isolated partition of control groups, which ends with a \
             restart{}; the program that made it cannot make it again once isolcpus=domain has \
             taken the CPUs",
            isolated.named(),
            becalm_model::is_are(isolated.len()),
            if isolated == *cpus { "" } else { " and has other CPUs than these" }
        )),
        other => Some(format!(
            "whether a control group reserves CPUs is unknown: {}",
            other.of(ISOLATED).err()?
        )),
    }
}

fn frequency_follows_the_tick(root: &SysRoot, cpus: &CpuSet) -> bool {
    let uses_driver = cpus.iter().any(|cpu| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_driver");
        root.read(path).value().is_some_and(|driver| driver == "intel_pstate")
    });
    let has_hwp = CpuInfo::read(root).has_flag("hwp") == Some(true);
    // HWP can be there and be switched off.
    let line = root.read("/proc/cmdline").value().unwrap_or_default();
    uses_driver && (!has_hwp || line.contains("intel_pstate=no_hwp"))
}
