//! Shape of the JSON document that `becalm run` and `becalm compare` write.
//!
//! Only what readers rely on is required; everything else has a default, so that an older document
//! still reads.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::old_settings::OldSettings;
use super::ratio::RatioFields;
use super::trace::TraceNoteDocument;
use super::worded::Worded;
use crate::load::RunLoad;
use crate::note::{Interruption, Limit, Note};
use crate::terms::Terms;
use crate::trace::TracedRun;
use crate::{Conditions, MachineFacts, Metric, Revision, Source, SubjectTerms, Unit, Verdict};

/// A whole record. Times are in seconds, sizes in bytes, shares and margins as fractions of 1.
///
/// `R` is how the runs of a subject are held: read they are a list, written they are made one by one,
/// because an imported record may have a million.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Document")]
pub struct Document<R = Vec<RunDocument>> {
    /// `becalm/comparison/2`, `becalm/run/2` or `becalm/import/2`.
    pub schema: String,
    /// Version of becalm that wrote it.
    #[serde(default)]
    pub becalm: String,
    /// Start of the session in seconds since the Unix epoch.
    #[serde(default)]
    pub started_at: f64,
    /// Command line after the program name.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Seed of the schedule and of the padding.
    #[serde(default)]
    pub seed: u64,
    /// Confidence asked for.
    pub confidence: f64,
    /// Smallest relative change that matters to the user.
    #[serde(default)]
    pub margin: f64,
    /// Whether all subjects are the same program.
    #[serde(default)]
    pub aa: bool,
    /// Why the session ended early, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Worded<Interruption>>,
    /// What the reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Worded<Note>>,
    /// Where an imported record comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Conclusions; only in a comparison.
    #[serde(default)]
    pub comparisons: Vec<ComparisonDocument>,
    /// Estimates per subject and metric, derived from the runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub estimates: Vec<EstimateDocument>,
    /// What was recorded per run.
    #[serde(default)]
    pub metrics: Vec<Metric>,
    /// What was settled before the first run; absent in records of other tools and of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Terms>,
    /// Facts about the machine.
    #[serde(default)]
    pub machine: MachineFacts,
    /// How the subjects were started.
    #[serde(default)]
    pub conditions: ConditionsDocument,
    /// The same in documents of version 1.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub settings: Option<OldSettings>,
    /// How well the runs were traced; absent if they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceNoteDocument>,
    /// What the imported tool concluded itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<SummaryDocument>,
    /// What was measured, with the raw runs in time order; nothing if all sides of a comparison are
    /// one program.
    pub subjects: Vec<SubjectDocument<R>>,
}

/// What another tool itself concluded about one metric of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryDocument {
    /// Name of the subject.
    pub subject: String,
    /// Name of the metric.
    pub metric: String,
    /// Figures in the unit of the metric, by name; `samples` and `iterations` are counts.
    pub figures: BTreeMap<String, f64>,
}

/// One comparison of a candidate with the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonDocument {
    /// Name of the baseline subject.
    pub baseline: String,
    /// Name of the candidate subject.
    pub candidate: String,
    /// Name of the metric.
    pub metric: String,
    /// The function inside a harness that the metric is of; absent if it is of the whole process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// Unit of the metric; empty for plain counts.
    pub unit: Unit,
    /// Candidate / baseline.
    #[serde(flatten)]
    pub ratio: RatioFields,
    /// The answer.
    pub verdict: Verdict,
    /// Rounds used; layouts, where there are several.
    pub rounds: u32,
    /// Rounds that were not used.
    pub discarded_rounds: u32,
    /// Smallest relative change that was detectable.
    pub noise_floor: Option<f64>,
    /// Whether this comparison decides the exit code.
    #[serde(default)]
    pub primary: bool,
    /// Confidence of this interval after correction for several comparisons and looks.
    #[serde(default)]
    pub confidence: f64,
    /// Rounds that are missing for a decision, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_needed: Option<u64>,
    /// What the reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Worded<Note>>,
}

/// Estimates of one metric of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimateDocument {
    /// Name of the subject.
    pub subject: String,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the metric.
    pub unit: Unit,
    /// Which statistic each value is, where another tool has computed it: `mean`; absent for values as measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<String>,
    /// Number of runs.
    pub runs: usize,
    /// Smallest value.
    pub minimum: f64,
    /// Median.
    pub median: f64,
    /// Lower end of the interval of the median; `null` with too few runs.
    pub median_low: Option<f64>,
    /// Upper end of the interval of the median; `null` with too few runs.
    pub median_high: Option<f64>,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation (n - 1); `null` for one run.
    pub standard_deviation: Option<f64>,
    /// Standard deviation / mean; `null` for one run or a mean of zero.
    pub cv: Option<f64>,
    /// Median absolute deviation from the median, unscaled.
    pub mad: f64,
    /// Largest value.
    pub maximum: f64,
}

/// How the subjects were started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConditionsDocument {
    /// What is known about it.
    #[serde(flatten)]
    pub known: Conditions,
    /// What could not be controlled or observed.
    pub limits: Vec<Worded<Limit>>,
}

/// One subject and its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SubjectDocument")]
pub struct SubjectDocument<R = Vec<RunDocument>> {
    /// Name, unique in the document.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Parameter values by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, String)>,
    /// Which build of a repository it is; absent if it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// What the suite says that it is a benchmark of; absent if it is of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SubjectTerms>,
    /// Runs in time order.
    pub runs: R,
}

/// One run. Evidence that could not be read is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunDocument {
    /// Round, from 0. A round that replaces a discarded one has its own number.
    pub round: u32,
    /// Place in the round, from 0.
    pub order: u32,
    /// Whether this was a warm-up run.
    #[serde(skip_serializing_if = "is_false")]
    pub warmup: bool,
    /// Whether the run belongs to a round that was disturbed and repeated; no estimate uses it.
    #[serde(skip_serializing_if = "is_false")]
    pub discarded: bool,
    /// Seconds from the start of the session to the release of the process.
    pub started: f64,
    /// Elapsed seconds from release to exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_time: Option<f64>,
    /// User + system CPU seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_time: Option<f64>,
    /// CPU seconds in user mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_time: Option<f64>,
    /// CPU seconds in the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_time: Option<f64>,
    /// Largest resident set in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rss: Option<f64>,
    /// Counters, metrics named by the user, and what benchmarks inside the process gave: one value for
    /// the process each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// The single values that the harness gave of a benchmark, in time order, by metric; the value in
    /// `metrics` is their median.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub samples: BTreeMap<String, Vec<f64>>,
    /// Iterations that the program timed itself, in seconds and in time order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<f64>,
    /// Exit code; `null` if it was ended by a signal, or if an imported file does not say.
    pub exit_code: Option<i32>,
    /// Signal that ended the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whether `--timeout` cut the run off: the times are lower bounds.
    #[serde(skip_serializing_if = "is_false")]
    pub timed_out: bool,
    /// Bytes of padding in the environment.
    pub padding: u32,
    /// The link seed of the build that ran; absent if there was one build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<u32>,
    /// What was sent to it; absent unless the subject is a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<RunLoad>>,
    /// What happened on the machine meanwhile, by the names of the evidence.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub evidence: BTreeMap<String, f64>,
    /// What took time from it, with `--trace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TracedRun>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
