//! How the subjects were started, and what could not be controlled.

use becalm_model::{Conditions, KnobRecord, KnobState, Record, RecordKind};

use crate::escape;
use crate::moment;
use crate::quantity::confidence;

/// Returns the conditions as pairs of name and text; none of what another tool measured, nor where nothing was.
pub(crate) fn rows(record: &Record) -> Vec<(&'static str, String)> {
    if record.kind == RecordKind::Import || record.is_of_one_program() {
        return Vec::new();
    }
    let conditions = &record.conditions;
    let cpus = match &conditions.affinity {
        Some(list) => list.clone(),
        None => "not pinned".to_owned(),
    };
    let cpus = if conditions.affinity_reason.is_empty() {
        cpus
    } else {
        format!("{cpus} ({})", conditions.affinity_reason)
    };
    let environment = match conditions.environment.len() {
        0 => "empty".to_owned(),
        1 => "1 variable, named in the saved record".to_owned(),
        n => format!("{n} variables, named in the saved record"),
    };
    let rows = [
        ("CPUs", cpus),
        ("isolated", conditions.isolation.clone().unwrap_or_default()),
        ("scheduler", conditions.scheduler.clone()),
        ("nice", conditions.nice.to_string()),
        ("ASLR", conditions.aslr.clone()),
        ("freed memory", malloc(conditions)),
        ("working folder", conditions.in_memory.clone().unwrap_or_default()),
        ("counted by", conditions.backend.clone().unwrap_or_default()),
        ("harness", conditions.harness.clone().unwrap_or_default()),
        ("layout", conditions.layout.clone()),
        ("page cache", conditions.cache.clone()),
        ("rest after a run", conditions.rest.clone()),
        ("settled before a round", conditions.settle.clone().unwrap_or_default()),
        ("pace of the CPU", conditions.pace.clone().unwrap_or_default()),
        ("disturbed rounds", on_disturbance(conditions)),
        ("environment", environment),
        ("tuned", tuned(&conditions.knobs)),
        ("settings", settings(&conditions.knobs)),
    ];
    rows.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// Says what becomes of freed memory where that is not left to the subjects' allocator.
fn malloc(conditions: &Conditions) -> String {
    match conditions.malloc.as_str() {
        "keep" => "kept by the allocator (GLIBC_TUNABLES)".to_owned(),
        _ => String::new(),
    }
}

/// Says what became of disturbed rounds where that is not the usual.
fn on_disturbance(conditions: &Conditions) -> String {
    match conditions.on_disturbance.as_str() {
        "redo" => "made again, at most a third more in all".to_owned(),
        _ => String::new(),
    }
}

/// Says what becalm had changed; nothing where it had not.
fn tuned(knobs: &KnobRecord) -> String {
    match knobs.tuned.len() {
        0 => String::new(),
        1 => "1 setting, put back afterwards".to_owned(),
        n => format!("{n} settings, put back afterwards"),
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

/// Returns what was asked for: command line, time, seed, confidence and margin. Of what another tool measured
/// it is not known what was asked for.
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

/// Returns when the measuring began, which files of other tools often do not tell.
pub(crate) fn started(record: &Record) -> String {
    if record.started_at > 0.0 { moment::utc(record.started_at) } else { "not known".to_owned() }
}

/// Returns the command line as a shell would read it; of what another tool measured the name of that tool.
pub(crate) fn command_line(record: &Record) -> String {
    if record.kind == RecordKind::Import {
        return tool(record).to_owned();
    }
    let line = escape::shell(&record.arguments);
    if line.is_empty() { "becalm".to_owned() } else { format!("becalm {line}") }
}
