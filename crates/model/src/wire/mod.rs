//! The JSON documents that leave the process. Each has a `schema` of the form
//! `becalm/NAME/VERSION`; a reader takes its own version and older ones and refuses newer ones.

mod ablate;
mod boot;
mod check;
mod document;
mod journal;
mod log;
mod plan;
mod probe;
mod read;
mod reproduce;
mod services;
mod steady;
mod topology;
mod trace;
mod tune;
mod version;
mod workload;
mod write;

pub use ablate::{
    AblateConfiguration, AblateCounter, AblateDocument, AblateMitigation, AblateRatio,
    AblateRecommendation, AblateRun, AblateSubject,
};
pub use boot::{BootDocument, BootLoader, BootParameter};
pub use check::{CheckDocument, FindingDocument, check_document, check_json_schema};
pub use document::{
    ComparisonDocument, Document, EstimateDocument, KnobStateDocument, MachineDocument,
    MetricDocument, MovedDocument, RunDocument, SettingsDocument, SubjectDocument,
};
pub use journal::{
    ChangeDocument, Holder, Journal, JournalError, JournalHeader, JournalLine, NatureDocument,
    ProcessDocument, TargetDocument, read_journal,
};
pub use log::{LogDiscard, LogError, LogHeader, LogRun, read_log};
pub use plan::{PlanChoiceDocument, PlanDocument, PlanGoalDocument, PlanLevelDocument};
pub use probe::{
    CPU_NOISE_SCHEMA, CpuNoiseDocument, LengthBin, LengthClass, PROBE_SCHEMA, ProbeDocument,
    ProbeWindow, ProbedCpu, RankedCpu, TracerCounters, cpu_noise_json_schema, probe_json_schema,
};
pub use read::{MAX_ROUND, ReadError, read_document};
pub use reproduce::{
    ArticleDocument, ExperimentDocument, FigureDocument, ReproduceDocument, ReproducedRow,
    reproduce_json_schema,
};
pub use services::{ProgramDocument, ServicesDocument};
pub use steady::{SteadyDocument, SteadyRunDocument, SteadySegmentDocument};
pub use topology::{
    TopologyCache, TopologyChoice, TopologyCore, TopologyCpu, TopologyDocument, TopologyGroup,
    TopologyKind, TopologyNode,
};
pub use trace::{
    CauseDocument, CulpritDocument, LongerRunDocument, RunTraceDocument, TakenDocument,
    TraceCostDocument, TraceDocument, TraceNoteDocument, TracedRunDocument, WatchedCpuDocument,
    WorstDocument, trace_document, watch_document,
};
pub use tune::{TuneChangeDocument, TuneDocument, TuneNoteDocument, tune_document};
pub use version::{VersionError, check_readable};
pub use workload::{
    WorkloadDocument, WorkloadReadError, WorkloadTaskDocument, read_workload, workload_json_schema,
};
pub use write::{document, log_header, log_run};

/// The published JSON Schemas by name: `docs/schema/NAME.schema.json`, `becalm schema NAME`.
pub const SCHEMAS: &[(&str, fn() -> serde_json::Value)] = &[
    ("record", json_schema),
    ("boot-params", boot_json_schema),
    ("check", check_json_schema),
    ("cpu-noise", cpu_noise_json_schema),
    ("noise-ablate", ablate_json_schema),
    ("noise-probe", probe_json_schema),
    ("plan", plan_json_schema),
    ("noise-reproduce", reproduce_json_schema),
    ("services", services_json_schema),
    ("steady", steady_json_schema),
    ("topology", topology_json_schema),
    ("tune", tune_json_schema),
    ("workload", workload_json_schema),
];

/// Schema of what `becalm compare` writes.
pub const COMPARISON_SCHEMA: &str = "becalm/comparison/1";
/// Schema of what `becalm run` writes.
pub const RUN_SCHEMA: &str = "becalm/run/1";
/// Schema of the log that grows while a session runs. Version 2 has lines for discarded rounds.
pub const LOG_SCHEMA: &str = "becalm/log/2";

/// Schema of the journal of changes to the machine.
pub const JOURNAL_SCHEMA: &str = "becalm/journal/1";

/// Schema of what `becalm check --json` prints.
pub const CHECK_SCHEMA: &str = "becalm/check/1";

/// Schema of what `becalm services --json` prints.
pub const SERVICES_SCHEMA: &str = "becalm/services/1";

/// Schema of what `becalm tune --json` prints.
pub const TUNE_SCHEMA: &str = "becalm/tune/1";

/// Schema of what `becalm workload NAME --iterations N --json` prints.
pub const WORKLOAD_SCHEMA: &str = "becalm/workload/1";

/// Schema of what `becalm noise reproduce ARTICLE --json` prints.
pub const REPRODUCE_SCHEMA: &str = "becalm/noise-reproduce/1";

/// Schema of what `becalm noise trace --json` prints.
pub const TRACE_SCHEMA: &str = "becalm/trace/1";

/// Schema of what `becalm boot-params --json` prints.
pub const BOOT_SCHEMA: &str = "becalm/boot-params/1";

/// Returns the JSON Schema of [`BootDocument`], for publication.
pub fn boot_json_schema() -> serde_json::Value {
    schemars::schema_for!(BootDocument).to_value()
}

/// Schema of what `becalm topology --json` prints.
pub const TOPOLOGY_SCHEMA: &str = "becalm/topology/1";

/// Returns the JSON Schema of [`TopologyDocument`], for publication.
pub fn topology_json_schema() -> serde_json::Value {
    schemars::schema_for!(TopologyDocument).to_value()
}

/// Schema of what `becalm stats --steady --json` prints.
pub const STEADY_SCHEMA: &str = "becalm/steady/1";

/// Schema of what `becalm plan --json` prints.
pub const PLAN_SCHEMA: &str = "becalm/plan/1";

/// Returns the JSON Schema of [`SteadyDocument`].
pub fn steady_json_schema() -> serde_json::Value {
    schemars::schema_for!(SteadyDocument).to_value()
}

/// Returns the JSON Schema of [`PlanDocument`].
pub fn plan_json_schema() -> serde_json::Value {
    schemars::schema_for!(PlanDocument).to_value()
}

/// Returns the JSON Schema of [`TraceDocument`], for publication.
pub fn trace_json_schema() -> serde_json::Value {
    schemars::schema_for!(TraceDocument).to_value()
}

/// Schema of what `becalm noise ablate --json` prints.
pub const ABLATE_SCHEMA: &str = "becalm/noise-ablate/1";

/// Returns the JSON Schema of [`AblateDocument`], for publication.
pub fn ablate_json_schema() -> serde_json::Value {
    schemars::schema_for!(AblateDocument).to_value()
}

/// Returns the JSON Schema of [`TuneDocument`].
pub fn tune_json_schema() -> serde_json::Value {
    schemars::schema_for!(TuneDocument).to_value()
}

/// Returns the JSON Schema of [`ServicesDocument`].
pub fn services_json_schema() -> serde_json::Value {
    schemars::schema_for!(ServicesDocument).to_value()
}

/// Returns the JSON Schema of [`Document`], for publication.
pub fn json_schema() -> serde_json::Value {
    schemars::schema_for!(Document).to_value()
}
