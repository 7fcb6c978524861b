//! The names and versions of the documents.

/// What `becalm compare` writes.
pub const COMPARISON_SCHEMA: &str = "becalm/comparison/2";
/// What `becalm run` writes.
pub const RUN_SCHEMA: &str = "becalm/run/2";
/// What `becalm diff --json` prints.
pub const DIFF_SCHEMA: &str = "becalm/diff/2";
/// What `becalm history list --json` prints.
pub const HISTORY_SCHEMA: &str = "becalm/history/1";
/// What `becalm import` writes.
pub const IMPORT_SCHEMA: &str = "becalm/import/2";
/// What `becalm load` writes.
pub const LOAD_SCHEMA: &str = "becalm/load/1";

/// What `becalm load --find` writes.
pub const LOAD_FIND_SCHEMA: &str = "becalm/load-find/1";
/// The log that grows while a session runs. Version 2 has lines for discarded rounds, version 3 for
/// metrics that the runs show, version 4 has kinds and fields beside the sentences of notes, and conditions as values.
pub const LOG_SCHEMA: &str = "becalm/log/4";
/// The journal of changes to the machine.
pub const JOURNAL_SCHEMA: &str = "becalm/journal/1";
/// What `becalm bisect` keeps while it searches, and prints with `--json`.
pub const BISECT_SCHEMA: &str = "becalm/bisect/1";
/// What `becalm boot-params --json` prints.
pub const BOOT_SCHEMA: &str = "becalm/boot-params/1";
/// What `becalm changes --json` prints.
pub const CHANGES_SCHEMA: &str = "becalm/changes/1";
/// What `becalm check --json` prints.
pub const CHECK_SCHEMA: &str = "becalm/check/1";
/// What `becalm ci --json` prints and `becalm ci --save` keeps.
pub const CI_SCHEMA: &str = "becalm/ci/1";
/// What `becalm noise probe` keeps of the machine's CPUs.
pub const CPU_NOISE_SCHEMA: &str = "becalm/cpu-noise/1";
/// What `becalm noise ablate` saves for `becalm check`.
pub const EFFECTS_SCHEMA: &str = "becalm/mitigation-effects/1";
/// What `becalm fleet canaries --json` prints.
pub const CANARIES_SCHEMA: &str = "becalm/canaries/1";
/// What `becalm fleet` prints with `--json`.
pub const FLEET_SCHEMA: &str = "becalm/fleet/1";
/// What `becalm gate --json` prints.
pub const GATE_SCHEMA: &str = "becalm/gate/1";
/// What `becalm noise ablate --json` prints.
pub const ABLATE_SCHEMA: &str = "becalm/noise-ablate/1";
/// What `becalm noise probe --json` prints.
pub const PROBE_SCHEMA: &str = "becalm/noise-probe/1";
/// What `becalm noise reproduce ARTICLE --json` prints.
pub const REPRODUCE_SCHEMA: &str = "becalm/noise-reproduce/1";
/// What `becalm noise trace --json` prints.
pub const TRACE_SCHEMA: &str = "becalm/noise-trace/1";
/// What `becalm plan --json` prints.
pub const PLAN_SCHEMA: &str = "becalm/plan/1";
/// What `becalm machine service status --json` prints.
pub const MACHINE_SERVICE_SCHEMA: &str = "becalm/machine-service/1";
/// What `becalm services --json` prints.
pub const SERVICES_SCHEMA: &str = "becalm/services/1";
/// Version of the document that `becalm hosts` prints.
pub const HOSTS_SCHEMA: &str = "becalm/hosts/1";
/// What `becalm stats --json` prints.
pub const STATS_SCHEMA: &str = "becalm/stats/1";
/// What `becalm stats --steady --json` prints.
pub const STEADY_SCHEMA: &str = "becalm/steady/1";
/// What `becalm topology --json` prints.
pub const TOPOLOGY_SCHEMA: &str = "becalm/topology/1";
/// What `becalm tune --json` prints.
pub const TUNE_SCHEMA: &str = "becalm/tune/1";
/// What `/api/benchmarks` of `becalm serve` answers.
pub const WEB_BENCHMARKS_SCHEMA: &str = "becalm/web-benchmarks/1";
/// What `/api/changes` of `becalm serve` answers.
pub const WEB_CHANGES_SCHEMA: &str = "becalm/web-changes/1";
/// What `/api/compare` of `becalm serve` answers.
pub const WEB_COMPARE_SCHEMA: &str = "becalm/web-compare/1";
/// What `/api/entries` of `becalm serve` answers.
pub const WEB_ENTRIES_SCHEMA: &str = "becalm/web-entries/1";
/// What `/api/entry/N` of `becalm serve` answers.
pub const WEB_ENTRY_SCHEMA: &str = "becalm/web-entry/1";
/// What `/api/machines` of `becalm serve` answers.
pub const WEB_MACHINES_SCHEMA: &str = "becalm/web-machines/1";
/// What `/api/projects` of a `becalm serve` with several projects answers.
pub const WEB_PROJECTS_SCHEMA: &str = "becalm/web-projects/1";
/// What `/api/series/N` of `becalm serve` answers.
pub const WEB_SERIES_SCHEMA: &str = "becalm/web-series/1";
/// What `/api/suites` of `becalm serve` answers.
pub const WEB_SUITES_SCHEMA: &str = "becalm/web-suites/1";
/// What `becalm serve` answers to a record that is sent to `/api/entries`.
pub const WEB_UPLOAD_SCHEMA: &str = "becalm/web-upload/1";
/// What `becalm workload NAME --iterations N --json` prints.
pub const WORKLOAD_SCHEMA: &str = "becalm/workload/1";
