//! The JSON Schemas that are published of the documents.

use schemars::JsonSchema;
use serde_json::Value;

use super::{
    BisectDocument, BootDocument, ChangesDocument, CheckDocument, CiDocument, CpuNoiseDocument,
    DiffDocument, Document, GateDocument, HistoryDocument, HostsDocument, MachineServiceDocument,
    PlanDocument, ProbeDocument, ReproduceDocument, ServicesDocument, StatsDocument,
    SteadyDocument, SuiteDocument, TopologyDocument, TraceDocument, TuneDocument, WorkloadDocument,
};
use crate::ablate::{AblateDocument, MitigationEffects};

/// A published schema: its name, and how it is made.
type Published = (&'static str, fn() -> Value);

const PUBLISHED: &[Published] = &[
    ("record", of::<Document>),
    ("bisect", of::<BisectDocument>),
    ("boot-params", of::<BootDocument>),
    ("check", of::<CheckDocument<'_>>),
    ("ci", of::<CiDocument>),
    ("cpu-noise", of::<CpuNoiseDocument>),
    ("mitigation-effects", of::<MitigationEffects>),
    ("diff", of::<DiffDocument>),
    ("changes", of::<ChangesDocument>),
    ("gate", of::<GateDocument>),
    ("history", of::<HistoryDocument>),
    ("hosts", of::<HostsDocument>),
    ("machine-service", of::<MachineServiceDocument>),
    ("noise-ablate", of::<AblateDocument>),
    ("noise-probe", of::<ProbeDocument>),
    ("noise-reproduce", of::<ReproduceDocument>),
    ("noise-trace", of::<TraceDocument>),
    ("plan", of::<PlanDocument>),
    ("services", of::<ServicesDocument>),
    ("stats", of::<StatsDocument>),
    ("steady", of::<SteadyDocument>),
    ("suite", of::<SuiteDocument>),
    ("topology", of::<TopologyDocument>),
    ("tune", of::<TuneDocument>),
    ("workload", of::<WorkloadDocument>),
];

fn of<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// Returns the names of the published JSON Schemas, each for `docs/schema/NAME.schema.json` and
/// `becalm schema NAME`.
pub fn schema_names() -> impl Iterator<Item = &'static str> {
    PUBLISHED.iter().map(|(name, _)| *name)
}

/// Returns the JSON Schema of that name, if there is one.
pub fn json_schema(name: &str) -> Option<Value> {
    PUBLISHED.iter().find(|(published, _)| *published == name).map(|(_, schema)| schema())
}
