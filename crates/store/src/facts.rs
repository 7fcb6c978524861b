//! Which facts about a machine split series, and what a record says of them.

use std::collections::BTreeMap;

use becalm_model::conditions::{
    Backend, Described, IsolatedBy, IsolatedCpus, Malloc, PaceSampling, Thp,
};
use becalm_model::{Conditions, CpuSet, Record};

use crate::hash::Hash;

/// Facts that split series if nobody says otherwise: those that move every time by more than what people
/// look for, and that do not change from day to day.
pub const SPLIT: [&str; 10] = [
    "architecture",
    "cpu_model",
    "cpus",
    "governor",
    "kernel",
    "microcode",
    "setting.backend",
    "smt",
    "turbo",
    "virtualisation",
];

/// Facts whose change is told beside a series if nobody says otherwise; they do not split it.
pub const ANNOTATE: [&str; 19] = [
    "kernel_release",
    "compiler",
    "mitigations",
    "memory_total",
    "numa_nodes",
    "container",
    "cpu_quota",
    "scaling_driver",
    "epp",
    "clocksource",
    "thp",
    "kernel_options",
    "setting.affinity",
    "setting.scheduler",
    "setting.malloc",
    "setting.memory_nodes",
    "setting.thp",
    "setting.pace",
    "becalm",
];

/// Facts about how subjects were started.
pub const SETTINGS: [&str; 12] = [
    "setting.affinity",
    "setting.isolation",
    "setting.awake",
    "setting.scheduler",
    "setting.aslr",
    "setting.malloc",
    "setting.memory_nodes",
    "setting.thp",
    "setting.backend",
    "setting.layout",
    "setting.cache",
    "setting.pace",
];

/// Returns what a record says of the machine and of its settings. Beside the facts of the machine these are
/// `knob.NAME` for settings of the kernel, `setting.NAME` for how the subjects were started, and `becalm` for
/// the version that measured.
pub fn facts(record: &Record) -> BTreeMap<String, String> {
    let mut facts = record.machine.facts.clone();
    let conditions = &record.conditions;
    let mut put = |name: &str, value: &str| {
        if !value.is_empty() {
            facts.insert(name.to_owned(), value.to_owned());
        }
    };
    put("becalm", &record.version);
    for (name, value) in settings(conditions) {
        put(name, &value);
    }
    let mut knobs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for state in &conditions.knobs.states {
        let places = if state.places > 1 { format!(" x{}", state.places) } else { String::new() };
        let name = format!("knob.{}", state.setting);
        knobs.entry(name).or_default().push(format!("{}{places}", state.value));
    }
    for (name, mut values) in knobs {
        values.sort_unstable();
        put(&name, &values.join(", "));
    }
    facts
}

/// Returns how subjects were started, in the texts that histories have kept since their first version: another
/// text would be another value of the fact, and may begin another series.
fn settings(conditions: &Conditions) -> Vec<(&'static str, String)> {
    let isolation = conditions.isolation.as_ref().map(|how| match how {
        Described::Words(words) => words.clone(),
        Described::Value(isolated) => isolation(isolated),
    });
    let pace = conditions.pace.as_ref().map(|how| match how {
        Described::Words(words) => words.clone(),
        Described::Value(PaceSampling { every_us }) => {
            format!("sampled about every {every_us} us during each run")
        }
    });
    let malloc = Some(conditions.malloc).filter(|&malloc| malloc == Malloc::Keep);
    let thp = Some(conditions.thp).filter(|&thp| thp != Thp::Inherit);
    let backend = Some(conditions.backend).filter(|&backend| backend != Backend::Processor);
    let known = [
        ("setting.affinity", conditions.affinity.as_ref().map(ToString::to_string)),
        ("setting.isolation", isolation),
        ("setting.awake", conditions.awake.as_ref().map(ToString::to_string)),
        ("setting.scheduler", conditions.scheduler.map(|class| class.to_string())),
        ("setting.aslr", conditions.aslr.map(|aslr| aslr.to_string())),
        ("setting.malloc", malloc.map(|malloc| malloc.to_string())),
        ("setting.memory_nodes", conditions.memory_nodes.as_ref().map(ToString::to_string)),
        ("setting.thp", thp.map(|thp| thp.to_string())),
        ("setting.backend", backend.map(|backend| backend.to_string())),
        ("setting.layout", conditions.padding.map(|padding| padding.to_string())),
        ("setting.cache", conditions.cache.map(|cache| cache.to_string())),
        ("setting.pace", pace),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn isolation(isolated: &IsolatedCpus) -> String {
    let by = match isolated.by {
        IsolatedBy::IsolatedPartition => "an isolated partition",
        IsolatedBy::BalancedPartition => "a partition with load balancing",
        IsolatedBy::UnbalancedSet => "a set of CPUs without load balancing",
        IsolatedBy::OwnSet => "a set of CPUs of its own",
    };
    let noun = if isolated.cpus.len() == 1 { "CPU" } else { "CPUs" };
    format!("{noun} {} by {by} ({})", isolated.cpus, isolated.group)
}

/// Returns one fact as it splits or is told: `kernel` is the first two numbers of the release, `cpus` how many
/// CPUs are online, and of what each CPU has the values remain without the CPUs.
pub fn fact(facts: &BTreeMap<String, String>, name: &str) -> Option<String> {
    match name {
        "kernel" => {
            let release = facts.get("kernel_release")?;
            let mut numbers = release.split(|c: char| !c.is_ascii_digit());
            match (numbers.next(), numbers.next()) {
                (Some(major), Some(minor)) if !major.is_empty() && !minor.is_empty() => {
                    Some(format!("{major}.{minor}"))
                }
                _ => Some(release.clone()),
            }
        }
        "cpus" => match facts.get("cpu_online").and_then(|list| list.parse::<CpuSet>().ok()) {
            Some(online) => Some(online.len().to_string()),
            None => facts.get("logical_cpus").or(facts.get("cpu_count")).cloned(),
        },
        "governor" | "turbo" | "epp" | "scaling_driver" => {
            facts.get(name).map(|text| of_each(text))
        }
        _ => facts.get(name).cloned(),
    }
}

/// Returns the values of `0-3:performance 4-7:powersave`, each once.
fn of_each(text: &str) -> String {
    let mut values: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        let value = match word.split_once(':') {
            Some((cpus, value)) if cpus.parse::<CpuSet>().is_ok() => value,
            _ => word,
        };
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values.sort_unstable();
    values.join(" ")
}

/// Returns a short hash of these facts. One that is unknown is another than any value.
pub fn fingerprint(facts: &BTreeMap<String, String>, split: &[String]) -> String {
    let mut names: Vec<&String> = split.iter().collect();
    names.sort_unstable();
    names.dedup();
    let mut hash = Hash::new();
    for name in names {
        if let Some(value) = fact(facts, name) {
            hash.part(name.as_bytes());
            hash.part(value.as_bytes());
        }
    }
    hash.digits(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(facts: &[(&str, &str)]) -> BTreeMap<String, String> {
        facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_changes_from_day_to_day_does_not_split() {
        let split = SPLIT.map(str::to_owned);
        let one = of(&[
            ("kernel_release", "6.1.0-13-amd64"),
            ("cpu_online", "0-3"),
            ("governor", "0-3:performance"),
            ("load_average", "0.1"),
        ]);
        let next = of(&[
            ("kernel_release", "6.1.12-cloud"),
            ("cpu_online", "0,2,4,6"),
            ("governor", "0,2,4,6:performance"),
            ("load_average", "9.0"),
        ]);
        assert_eq!(fingerprint(&one, &split), fingerprint(&next, &split));
        for (name, value) in
            [("kernel_release", "6.2.0"), ("cpu_online", "0-1"), ("governor", "0-3:powersave")]
        {
            let mut other = one.clone();
            other.insert(name.to_owned(), value.to_owned());
            assert_ne!(fingerprint(&one, &split), fingerprint(&other, &split), "{name}");
        }
    }

    #[test]
    fn settings_have_the_same_texts_in_records_of_both_versions() {
        let record = |version: u32, conditions: &str| {
            let text = format!(
                r#"{{"schema": "becalm/run/{version}", "confidence": 0.95, {conditions},
                     "subjects": [{{"name": "a", "command": ["a"], "runs": []}}]}}"#
            );
            facts(&becalm_model::wire::read_document(&text).unwrap())
        };
        let old = r#""settings": {"affinity": "2-3", "affinity_reason": "", "scheduler": "fifo:1", "nice": 0,
            "isolation": "CPUs 2-3 by an isolated partition (/becalm)", "aslr": "on", "malloc": "keep",
            "backend": "callgrind", "layout": "fixed", "cache": "as-is", "rest": "7%",
            "pace": "sampled about every 250 us during each run", "environment": [], "limits": []}"#;
        let new = r#""conditions": {"affinity": "2-3", "scheduler": "fifo:1",
            "isolation": {"cpus": "2-3", "by": "isolated_partition", "group": "/becalm"}, "aslr": "on",
            "malloc": "keep", "backend": "callgrind", "padding": "fixed", "cache": "as-is", "rest": 0.07,
            "pace": {"every_us": 250}}"#;
        assert_eq!(record(1, old), record(2, new));
        assert_eq!(record(2, new).keys().filter(|name| name.starts_with("setting.")).count(), 9);
        let nothing =
            r#""settings": {"scheduler": "", "aslr": "", "layout": "", "cache": "", "rest": ""}"#;
        assert_eq!(record(1, nothing), BTreeMap::new());
    }

    #[test]
    fn values_of_each_cpu_remain_without_the_cpus() {
        assert_eq!(of_each("0-3:performance 4-7:powersave"), "performance powersave");
        assert_eq!(of_each("on"), "on");
        assert_eq!(fact(&of(&[("kernel_release", "weird")]), "kernel").unwrap(), "weird");
    }
}
