//! The JSON Schemas that are published of the documents.

use schemars::JsonSchema;
use serde_json::Value;

use super::{
    BisectDocument, BootDocument, CanariesDocument, ChangesDocument, CheckDocument, CiDocument,
    CpuNoiseDocument, DiffDocument, Document, FleetDocument, GateDocument, HistoryDocument,
    HostsDocument, MachineServiceDocument, PlanDocument, ProbeDocument, ReproduceDocument,
    ServicesDocument, StatsDocument, SteadyDocument, SuiteDocument, TopologyDocument,
    TraceDocument, TuneDocument, WebBenchmarksDocument, WebChangesDocument, WebCompareDocument,
    WebEntriesDocument, WebEntryDocument, WebMachinesDocument, WebProjectsDocument,
    WebSeriesDocument, WebSuitesDocument, WebUploadDocument, WorkloadDocument,
};
use crate::ablate::{AblateDocument, MitigationEffects};
use crate::load::{LoadFindDocument, LoadRunDocument};

/// The names; `becalm schema` lists them in this order. Apart from what makes the schemas, so that a program that has
/// them as text does without.
const NAMES: [&str; 39] = [
    "record",
    "bisect",
    "boot-params",
    "canaries",
    "check",
    "ci",
    "cpu-noise",
    "mitigation-effects",
    "diff",
    "changes",
    "fleet",
    "gate",
    "history",
    "hosts",
    "load",
    "load-find",
    "machine-service",
    "noise-ablate",
    "noise-probe",
    "noise-reproduce",
    "noise-trace",
    "plan",
    "services",
    "stats",
    "steady",
    "suite",
    "topology",
    "tune",
    "web-benchmarks",
    "web-changes",
    "web-compare",
    "web-entries",
    "web-entry",
    "web-machines",
    "web-projects",
    "web-series",
    "web-suites",
    "web-upload",
    "workload",
];

fn of<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// Returns the names of the published JSON Schemas, each for `docs/schema/NAME.schema.json` and
/// `becalm schema NAME`.
pub fn schema_names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter()
}

/// Returns the JSON Schema of that name, if there is one.
pub fn json_schema(name: &str) -> Option<Value> {
    Some(match name {
        "record" => of::<Document>(),
        "bisect" => of::<BisectDocument>(),
        "boot-params" => of::<BootDocument>(),
        "canaries" => of::<CanariesDocument>(),
        "check" => of::<CheckDocument<'_>>(),
        "ci" => of::<CiDocument>(),
        "cpu-noise" => of::<CpuNoiseDocument>(),
        "mitigation-effects" => of::<MitigationEffects>(),
        "diff" => of::<DiffDocument>(),
        "changes" => of::<ChangesDocument>(),
        "fleet" => of::<FleetDocument>(),
        "gate" => of::<GateDocument>(),
        "history" => of::<HistoryDocument>(),
        "hosts" => of::<HostsDocument>(),
        "load" => of::<LoadRunDocument>(),
        "load-find" => of::<LoadFindDocument>(),
        "machine-service" => of::<MachineServiceDocument>(),
        "noise-ablate" => of::<AblateDocument>(),
        "noise-probe" => of::<ProbeDocument>(),
        "noise-reproduce" => of::<ReproduceDocument>(),
        "noise-trace" => of::<TraceDocument>(),
        "plan" => of::<PlanDocument>(),
        "services" => of::<ServicesDocument>(),
        "stats" => of::<StatsDocument>(),
        "steady" => of::<SteadyDocument>(),
        "suite" => of::<SuiteDocument>(),
        "topology" => of::<TopologyDocument>(),
        "tune" => of::<TuneDocument>(),
        "web-benchmarks" => of::<WebBenchmarksDocument>(),
        "web-changes" => of::<WebChangesDocument>(),
        "web-compare" => of::<WebCompareDocument>(),
        "web-entries" => of::<WebEntriesDocument>(),
        "web-entry" => of::<WebEntryDocument>(),
        "web-machines" => of::<WebMachinesDocument>(),
        "web-projects" => of::<WebProjectsDocument>(),
        "web-series" => of::<WebSeriesDocument>(),
        "web-suites" => of::<WebSuitesDocument>(),
        "web-upload" => of::<WebUploadDocument>(),
        "workload" => of::<WorkloadDocument>(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_schema() {
        assert!(schema_names().all(|name| json_schema(name).is_some()));
        assert!(json_schema("unheard-of").is_none());
    }
}
