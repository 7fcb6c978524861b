//! The limits of a policy's frequencies, as somebody asked for them.
//!
//! `scaling_max_freq` shows the lowest of all requests, the kernel's own among them: it lowers the limit
//! while a CPU is too hot (`cpufreq_cooling`) or firmware allows less (`_PPC`, shown as `bios_limit`). What
//! was asked for cannot be told then, and a saved limit that is put back later would stay when the CPU has
//! cooled down. So the limit is left alone; what was asked for is still known to the kernel.
//! <https://docs.kernel.org/admin-guide/pm/cpufreq.html>,
//! <https://docs.kernel.org/driver-api/thermal/cpu-cooling-api.html>

use super::policies::Policy;
use super::{Planner, Situation};

/// Saves the limits of a policy, as far as they can be told.
pub(super) fn guard(planner: &mut Planner<'_>, policy: &Policy) {
    let situation = planner.situation;
    let is_known = why_lower(situation, policy).is_none();
    if is_known {
        planner.guard(policy.file("scaling_max_freq"));
    }
    // Never shown above the upper limit: where it is the same, it may have been asked to be higher.
    let number = |file: &str| situation.root.parse::<u64>(policy.file(file));
    if is_known || number("scaling_min_freq") < number("scaling_max_freq") {
        planner.guard(policy.file("scaling_min_freq"));
    }
}

/// Says why the upper limit may be lower than anybody asked for, as a fragment; `None` if it is not.
pub(super) fn why_lower(situation: &Situation<'_>, policy: &Policy) -> Option<String> {
    let number = |file: &str| situation.root.parse::<u64>(policy.file(file));
    let (limit, highest) = (number("scaling_max_freq")?, number("cpuinfo_max_freq")?);
    // Nearly always: and the cooling devices of a large machine are many files.
    if limit >= highest {
        return None;
    }
    // Without a limit of firmware's this is the highest of the table, which turbo may exceed.
    let table = situation.root.read(policy.file("scaling_available_frequencies")).value();
    let table = table.unwrap_or_default();
    let table = table.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    let firmware = number("bios_limit");
    if firmware == Some(limit) && limit < table.max().unwrap_or(highest) {
        return Some("the firmware allows no more at the moment".to_owned());
    }
    is_cooled(situation).then(|| "the kernel is cooling the CPU".to_owned())
}

/// Says that a limit is left alone.
pub(super) fn unknown(policy: &Policy, why: &str) -> String {
    format!(
        "{}: {why}, so its real upper limit is hidden and could not be put back; wait until that \
         is over",
        policy.folder
    )
}

/// Says whether a processor is being slowed down for heat: `Processor` by ACPI, `cpufreq-cpu0` or
/// `thermal-cpufreq-0` elsewhere.
fn is_cooled(situation: &Situation<'_>) -> bool {
    const FOLDER: &str = "/sys/class/thermal";
    let names = situation.root.list_dir(FOLDER).value().unwrap_or_default();
    names.iter().filter(|name| name.starts_with("cooling_device")).any(|name| {
        let read = |file: &str| situation.root.read(format!("{FOLDER}/{name}/{file}")).value();
        let is_processor =
            read("type").is_some_and(|kind| kind == "Processor" || kind.contains("cpufreq"));
        is_processor && read("cur_state").is_some_and(|state| state != "0")
    })
}
