//! The JSON documents that leave the process. Each has a `schema` of the form
//! `becalm/NAME/VERSION`; a reader takes its own version and older ones and refuses newer ones.

mod bisect;
mod boot;
mod changes;
mod check;
mod checked;
mod ci;
mod diff;
mod document;
mod earlier;
mod fleet;
mod gate;
mod history;
mod hosts;
mod journal;
mod load;
mod log;
mod machine_service;
mod old_settings;
mod plan;
mod probe;
mod published;
pub(crate) mod ratio;
mod read;
mod read_error;
mod reproduce;
mod saved_load;
mod schema;
mod services;
mod stats;
mod steady;
mod suite;
mod suite_load;
mod suite_values;
mod text;
mod topology;
mod trace;
mod tune;
mod version;
mod web;
mod web_overviews;
mod worded;
mod workload;
mod write;

pub use bisect::{
    BisectDocument, BisectRoundDocument, BisectState, BisectStepDocument, BuiltDocument,
    CandidateDocument, CommitDocument, FoundDocument, SkippedDocument,
};
pub use boot::{BootAdvice, BootDocument, BootLoader, BootOption, BootParameter};
pub use changes::{
    ChangeInHistoryDocument, ChangePointDocument, ChangesDocument, ModesOfChangeDocument, NOISIER,
    QUIETER, SeriesStateDocument, SpreadChangeDocument, SpreadInHistoryDocument,
    StateInHistoryDocument, TooFewValues,
};
pub use check::{CheckDocument, check_document};
pub use ci::{CiDocument, CiMessage, CiReadError, ci_document, read_ci};
pub use diff::{DiffDocument, DiffedDocument, Middles, diff_document};
pub use document::{
    ComparisonDocument, ConditionsDocument, Document, EstimateDocument, RunDocument,
    SubjectDocument, SummaryDocument,
};
pub use fleet::{
    CanariesDocument, Canary, CanaryPoint, CanarySeries, FleetComparison, FleetDocument,
    FleetLevel, FleetMachine, FleetState, FleetTry, LeftOutFor, MachineLevel, MachineRatio,
    TryState,
};
pub use gate::{GateDocument, GateResultDocument, gate_document};
pub use history::{HistoryDocument, HistoryEntryDocument, HistorySeriesDocument};
pub use hosts::{HostDocument, HostFloor, HostStatus, HostsDocument};
pub use journal::{
    Holder, Journal, JournalError, JournalHeader, JournalLine, boot_of_journal, read_journal,
};
pub use log::{LogDiscard, LogError, LogHeader, LogMetric, LogRun, read_log};
pub use machine_service::{MachineHolderDocument, MachineServiceDocument, MachineWaiterDocument};
pub use plan::{PlanChoiceDocument, PlanDocument, PlanGoalDocument, PlanLevelDocument};
pub use probe::{
    CpuNoiseDocument, LengthBin, LengthClass, ProbeDocument, ProbeWindow, ProbedCpu, RankedCpu,
    TracerCounters,
};
pub use published::{json_schema, schema_names};
pub use ratio::RatioFields;
pub use read::read_document;
pub use read_error::{MAX_ROUND, ReadError};
pub use reproduce::{
    ArticleDocument, ContradictionDocument, ExperimentDocument, FigureDocument, LoadDocument,
    ReproduceDocument, ReproducedRow,
};
pub use saved_load::{SavedLoad, is_search, read_load};
pub use schema::{
    ABLATE_SCHEMA, BISECT_SCHEMA, BOOT_SCHEMA, CANARIES_SCHEMA, CHANGES_SCHEMA, CHECK_SCHEMA,
    CI_SCHEMA, COMPARISON_SCHEMA, CPU_NOISE_SCHEMA, DIFF_SCHEMA, EFFECTS_SCHEMA, FLEET_SCHEMA,
    GATE_SCHEMA, HISTORY_SCHEMA, HOSTS_SCHEMA, IMPORT_SCHEMA, JOURNAL_SCHEMA, LOAD_FIND_SCHEMA,
    LOAD_SCHEMA, LOG_SCHEMA, MACHINE_SERVICE_SCHEMA, PLAN_SCHEMA, PROBE_SCHEMA, REPRODUCE_SCHEMA,
    RUN_SCHEMA, SERVICES_SCHEMA, STATS_SCHEMA, STEADY_SCHEMA, TOPOLOGY_SCHEMA, TRACE_SCHEMA,
    TUNE_SCHEMA, WEB_BENCHMARKS_SCHEMA, WEB_CHANGES_SCHEMA, WEB_COMPARE_SCHEMA, WEB_ENTRIES_SCHEMA,
    WEB_ENTRY_SCHEMA, WEB_MACHINES_SCHEMA, WEB_PROJECTS_SCHEMA, WEB_SERIES_SCHEMA,
    WEB_SUITES_SCHEMA, WEB_UPLOAD_SCHEMA, WORKLOAD_SCHEMA,
};
pub use services::{ProgramDocument, ServicesDocument};
pub use stats::{StatsDocument, stats_document};
pub use steady::{SteadyDocument, SteadyRunDocument, SteadySegmentDocument};
pub use suite::{
    SUITE_VERSION, SuiteBenchmark, SuiteChanges, SuiteCommand, SuiteDocument, SuiteGate,
    SuiteGateChanges, SuiteGateRule, SuiteHistory, SuiteMetric, SuiteShare, SuiteSize,
};

pub use suite_load::{
    LoadBodies, LoadFiles, MixOf, Statuses, SuiteArrivals, SuiteLoad, SuiteLoadError, SuiteRequest,
};
pub use suite_values::{SuiteDuration, SuiteValue};
pub use text::json_text;
pub use topology::{
    TopologyCache, TopologyChoice, TopologyCore, TopologyCpu, TopologyDevice, TopologyDocument,
    TopologyGroup, TopologyKind, TopologyNode, TopologySideCache,
};
pub use trace::{
    LaneDocument, LaneSpan, RunNamed, TimelineDocument, TraceDocument, TraceNoteDocument,
};
pub use tune::{TuneChangeDocument, TuneDocument, TuneNoteDocument, tune_document};
pub use version::{VersionError, check_readable};
pub use web::{
    WebBenchmarkDocument, WebBenchmarksDocument, WebChangeCounts, WebChangeDocument,
    WebChangesDocument, WebElsewhereDocument, WebEntriesDocument, WebEntryDocument,
    WebEntryValueDocument, WebLevelDocument, WebPart, WebPointDocument, WebSeriesDocument,
    WebUncountedDocument, WebUploadDocument, WebWholeDocument,
};
pub use web_overviews::{
    WebChoiceDocument, WebCompareCounts, WebCompareDocument, WebComparisonDocument,
    WebMachineBranchDocument, WebMachineDocument, WebMachinesDocument, WebNoiseDocument,
    WebProjectDocument, WebProjectStanding, WebProjectsDocument, WebSideDocument,
    WebSuiteBenchmarkDocument, WebSuiteDocument, WebSuitesDocument, WebTurnDocument,
};
pub(crate) use worded::read_worded;
pub use worded::{Worded, Words, worded};
pub use workload::{WorkloadDocument, WorkloadReadError, WorkloadTaskDocument, read_workload};
pub use write::{Runs, document, log_header, log_metric, log_run, unworded};
