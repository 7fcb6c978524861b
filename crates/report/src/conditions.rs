//! How the subjects were started, and what could not be controlled.

use becalm_model::conditions::{
    Backend, Described, IsolatedBy, IsolatedCpus, Malloc, OnDisturbance, OwnTiming, Settle, Thp,
};
use becalm_model::{CpuSet, KnobRecord, KnobState, Record, RecordKind, counted};

use crate::moment;
use crate::notes;
use crate::quantity::confidence;

/// Returns the conditions as pairs of name and text; none if another tool measured, or if nothing
/// was measured.
pub(crate) fn rows(record: &Record) -> Vec<(&'static str, String)> {
    if record.kind == RecordKind::Import || record.is_of_one_program() {
        return Vec::new();
    }
    let conditions = &record.conditions;
    let cpus = conditions.affinity.as_ref().map_or("not pinned".to_owned(), ToString::to_string);
    let cpus = match &conditions.affinity_reason {
        None => cpus,
        Some(Described::Words(reason)) => format!("{cpus} ({reason})"),
        Some(Described::Value(reason)) => format!("{cpus} ({})", notes::affinity(reason)),
    };
    let environment = match conditions.environment.len() {
        0 => "empty".to_owned(),
        n => format!("{}, listed in the saved record", counted(n, "variable")),
    };
    let rows = [
        ("CPUs", cpus),
        ("isolated", described(conditions.isolation.as_ref(), isolation)),
        ("kept awake", conditions.awake.as_ref().map_or(String::new(), CpuSet::named)),
        ("scheduler", text(conditions.scheduler)),
        ("nice", conditions.nice.to_string()),
        ("ASLR", text(conditions.aslr)),
        ("freed memory", malloc(conditions.malloc)),
        (
            "memory",
            conditions
                .memory_nodes
                .as_ref()
                .map_or(String::new(), |nodes| format!("bound to NUMA {}", nodes.named())),
        ),
        ("huge pages", huge_pages(conditions.thp)),
        ("working folder", conditions.in_memory.clone().unwrap_or_default()),
        ("counted by", counted_by(conditions.backend)),
        ("harness", own_timing(&conditions.harness).unwrap_or_default()),
        ("layout", text(conditions.padding)),
        ("page cache", text(conditions.cache)),
        ("rest after a run", conditions.rest.map_or(String::new(), rest)),
        ("settled before a round", described(conditions.settle.as_ref(), settle)),
        (
            "pace of the CPU",
            described(conditions.pace.as_ref(), |sampling| pace(sampling.every_us)),
        ),
        ("disturbed rounds", on_disturbance(conditions.on_disturbance)),
        ("environment", environment),
        ("tuned", tuned(&conditions.knobs)),
        ("settings", settings(&conditions.knobs)),
    ];
    rows.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// Writes a value that may be unknown.
fn text<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Says what a value means, or what an older record says.
fn described<T>(condition: Option<&Described<T>>, words: impl Fn(&T) -> String) -> String {
    match condition {
        None => String::new(),
        Some(Described::Words(words)) => words.clone(),
        Some(Described::Value(value)) => words(value),
    }
}

/// Says how CPUs were reserved: `CPUs 2-3 by an isolated partition (/becalm)`.
fn isolation(isolated: &IsolatedCpus) -> String {
    let by = match isolated.by {
        IsolatedBy::IsolatedPartition => "an isolated partition",
        IsolatedBy::BalancedPartition => "a partition with load balancing",
        IsolatedBy::UnbalancedSet => "a set of CPUs without load balancing",
        IsolatedBy::OwnSet => "a separate set of CPUs",
    };
    format!("{} by {by} ({})", isolated.cpus.named(), isolated.group)
}

/// Says what happens to freed memory if that is not left to the subjects' allocator.
fn malloc(malloc: Malloc) -> String {
    match malloc {
        Malloc::Keep => "kept by the allocator (GLIBC_TUNABLES)".to_owned(),
        Malloc::Left => String::new(),
    }
}

/// Says which transparent huge pages subjects got if that is not left to the machine.
fn huge_pages(thp: Thp) -> String {
    let words = match thp {
        Thp::Inherit => "",
        Thp::Off => "none",
        Thp::Advised => "for programs that ask for them",
        Thp::On => "glibc's allocator asks for them (GLIBC_TUNABLES)",
    };
    words.to_owned()
}

/// Names what counted instead of the processor.
fn counted_by(backend: Backend) -> String {
    match backend {
        Backend::Processor => String::new(),
        Backend::Callgrind => backend.to_string(),
    }
}

/// Says how subjects time themselves; `None` if they were timed from outside.
pub fn own_timing(ways: &[OwnTiming]) -> Option<String> {
    let ways: Vec<String> = ways.iter().map(one_timing).collect();
    (!ways.is_empty()).then(|| ways.join("; "))
}

fn one_timing(timing: &OwnTiming) -> String {
    match timing {
        OwnTiming::Words(words) => words.clone(),
        OwnTiming::Harness { name, added, reads_output } => {
            let place = if *reads_output { ", its output is read" } else { "" };
            match added.as_slice() {
                [] => format!("{name}{place}"),
                added => format!("{name} with {}{place}", shell_words::join(added)),
            }
        }
        OwnTiming::Statement { language, values, warmups, workers, operations } => {
            let each = workers
                .iter()
                .map(|one| format!("; {}: {} loops", one.version, loops_in_words(one.loops)));
            let operations =
                operations.map_or(String::new(), |number| format!(", {number} operations each"));
            format!(
                "timeit ({language}), {} per process after {warmups} unused{}{operations}",
                counted(usize::try_from(*values).unwrap_or(usize::MAX), "value"),
                each.collect::<String>()
            )
        }
    }
}

/// Writes a share of each run that was rested; rounded, because 0.07 times 100 is not quite 7.
fn rest(share: f64) -> String {
    format!("{}%", (share * 1e5).round() / 1e3)
}

/// Says what was waited for: `at most 5 s, until 1 other task that wants a CPU, 48 degrees Celsius`.
fn settle(settle: &Settle) -> String {
    let mut parts = Vec::new();
    parts.extend(settle.runnable.map(|tasks| match tasks {
        1 => "1 other task that wants a CPU".to_owned(),
        n => format!("{n} other tasks that want a CPU"),
    }));
    parts.extend(settle.temperature.map(|degrees| format!("{degrees:.0} degrees Celsius")));
    parts.extend(settle.stalled.map(|share| {
        format!("{:.0} % of the time with a task that waits for memory or I/O", 100.0 * share)
    }));
    let until = if parts.is_empty() { "nothing known".to_owned() } else { parts.join(", ") };
    format!("at most {} s, until {until}", settle.maximum)
}

/// Says how the pace was sampled.
fn pace(every_us: u64) -> String {
    format!("sampled about every {every_us} us during each run")
}

/// Says what happened to disturbed rounds, if not the default.
fn on_disturbance(policy: Option<OnDisturbance>) -> String {
    match policy {
        Some(OnDisturbance::Redo) => "repeated, at most a third more in total".to_owned(),
        Some(OnDisturbance::Keep) | None => String::new(),
    }
}

/// Says what becalm changed; nothing if it changed nothing.
fn tuned(knobs: &KnobRecord) -> String {
    match knobs.tuned.len() {
        0 => String::new(),
        n => format!("{}, put back afterwards", counted(n, "setting")),
    }
}

/// Returns the settings that differ from one machine to the next and matter most.
fn settings(knobs: &KnobRecord) -> String {
    let of = |knob: &'static str| knobs.states.iter().filter(move |state| state.knob == knob);
    let named = |state: &KnobState| format!("{} {}", state.setting, state.value);
    let huge_pages = of("thp")
        .filter(|state| state.setting == "enabled")
        .map(|state| format!("transparent huge pages {}", state.value));
    let rows: Vec<String> =
        of("governor").chain(of("turbo")).map(named).chain(huge_pages).collect();
    rows.join(", ")
}

/// Returns the request: command line, time, seed, confidence and margin. For what another tool
/// measured, the request is unknown.
pub(crate) fn session(record: &Record) -> Vec<(&'static str, String)> {
    if record.kind == RecordKind::Import {
        return vec![
            ("measured by", tool(record).to_owned()),
            ("started", started(record)),
            ("read by becalm", record.version.clone()),
        ];
    }
    // Where nothing was measured there was no order to draw.
    let seed = if record.is_of_one_program() { "none" } else { &record.seed.to_string() };
    vec![
        ("command", command_line(record)),
        ("started", started(record)),
        ("becalm", record.version.clone()),
        ("seed", seed.to_owned()),
        ("confidence", confidence(record.confidence)),
        ("margin", crate::quantity::percent(record.margin)),
    ]
}

/// Returns which tool measured what was imported.
fn tool(record: &Record) -> &str {
    record.source.as_ref().map_or("another tool", |source| source.tool.as_str())
}

/// Returns when the measurement started, which files of other tools often do not say.
pub(crate) fn started(record: &Record) -> String {
    if record.started_at > 0.0 { moment::utc(record.started_at) } else { "unknown".to_owned() }
}

/// Returns the command line as a shell would read it; for what another tool measured, the name of
/// that tool.
pub(crate) fn command_line(record: &Record) -> String {
    if record.kind == RecordKind::Import {
        return tool(record).to_owned();
    }
    let line = becalm_model::shell_line(&record.arguments);
    if line.is_empty() { "becalm".to_owned() } else { format!("becalm {line}") }
}

/// Writes a number of loops: `2^20` if it is such a power, which calibrations always find.
pub fn loops_in_words(loops: u64) -> String {
    if loops.is_power_of_two() && loops > 1 << 9 {
        format!("2^{}", loops.trailing_zeros())
    } else {
        loops.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_timing_is_told_with_what_was_added() {
        let harness = |added: &[&str], reads_output| OwnTiming::Harness {
            name: "pytest".to_owned(),
            added: added.iter().map(|word| (*word).to_owned()).collect(),
            reads_output,
        };
        let both = [harness(&["--min", "a b"], false), harness(&[], true)];
        let told = own_timing(&both).unwrap();
        assert_eq!(told, "pytest with --min 'a b'; pytest, its output is read");
        assert_eq!(own_timing(&[]), None);
    }

    #[test]
    fn what_was_waited_for_is_told() {
        let all = Settle {
            maximum: 2.5,
            runnable: Some(1),
            temperature: Some(43.0),
            stalled: Some(0.05),
        };
        assert_eq!(
            settle(&all),
            "at most 2.5 s, until 1 other task that wants a CPU, 43 degrees Celsius, 5 % of the time with a \
             task that waits for memory or I/O"
        );
        let nothing = Settle { runnable: None, temperature: None, stalled: None, ..all };
        assert_eq!(settle(&nothing), "at most 2.5 s, until nothing known");
    }
}
