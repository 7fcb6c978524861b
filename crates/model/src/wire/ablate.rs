//! What `becalm noise ablate --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MachineDocument;
use super::worded::{Worded, Words, worded};
use crate::note::Limit;

/// Which mitigation helps on one machine with one subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AblateDocument {
    /// `becalm/noise-ablate/1`.
    pub schema: String,
    /// Version of becalm.
    pub becalm: String,
    /// Seconds since 1970.
    pub started_at: f64,
    /// Seconds that it took.
    pub duration: f64,
    /// Arguments of becalm.
    pub arguments: Vec<String>,
    /// Seed of the order in each block.
    pub seed: u64,
    /// Confidence of the intervals, and of all tests of one family together.
    pub confidence: f64,
    /// What was run.
    pub subject: AblateSubject,
    /// Whose spread is compared: `iterations` (inside of runs) or `runs` (between them).
    pub spread_of: String,
    /// Every mitigation, possible here or not.
    pub mitigations: Vec<AblateMitigation>,
    /// Every way in which the subject was run, in the order of the stages.
    pub configurations: Vec<AblateConfiguration>,
    /// What is recommended; absent where nothing demonstrably helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<AblateRecommendation>,
    /// What could not be had or done.
    pub limits: Vec<Worded<Limit>>,
    /// What kept the experiment from being finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<String>,
    /// The machine.
    pub machine: MachineDocument,
    /// Names of the counters of the runs.
    pub counters: Vec<String>,
    /// Every run that counts, in time order.
    pub runs: Vec<AblateRun>,
    /// Further runs, which no figure counts: those that tried what is possible, and those of a block
    /// that was broken off.
    pub uncounted_runs: u32,
    /// Where the effects were saved, for `becalm check`; absent where they were not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
}

impl AblateDocument {
    /// Returns the same with its sentences, for people and scripts.
    #[must_use]
    pub fn with_words(&self, words: &Words) -> Self {
        let limits: Vec<Limit> = self.limits.iter().map(Worded::get).cloned().collect();
        Self { limits: worded(&limits, words.limit), ..self.clone() }
    }
}

/// What was run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AblateSubject {
    /// Its name.
    pub name: String,
    /// The command without any mitigation.
    pub command: Vec<String>,
    /// Iterations of each run; absent where runs are timed as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Busy processes that becalm itself kept running meanwhile.
    pub hogs: u32,
}

/// One mitigation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AblateMitigation {
    /// Its name.
    pub name: String,
    /// What it does.
    pub summary: String,
    /// Whether nearly every guide recommends it.
    pub popular: bool,
    /// Why it was not tried; absent if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_tried: Option<String>,
}

/// One way in which the subject was run. Times are in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AblateConfiguration {
    /// `singly`, `cumulatively`, `without`, `fewer` or `again`.
    pub stage: String,
    /// Its name, unique within its stage.
    pub name: String,
    /// A short name, which the rows before it explain.
    pub label: String,
    /// The mitigations at work; none for the untuned machine.
    pub mitigations: Vec<String>,
    /// Number of runs.
    pub n_runs: usize,
    /// Mean; of a typical run where runs have iterations.
    pub mean: f64,
    /// Standard deviation, likewise.
    pub standard_deviation: Option<f64>,
    /// Standard deviation / mean, likewise.
    pub cv: Option<f64>,
    /// Smallest value of all runs.
    pub minimum: f64,
    /// Largest value of all runs.
    pub maximum: f64,
    /// `maximum` - `minimum`.
    pub range: f64,
    /// Coefficient of variation of the smallest values of the runs.
    pub cv_of_minimums: Option<f64>,
    /// Coefficient of variation of the means of the runs.
    pub cv_of_means: Option<f64>,
    /// Spread / spread of the first configuration of the stage; absent for that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_ratio: Option<AblateRatio>,
    /// Mean time / mean time of the first configuration of the stage; absent for that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ratio: Option<AblateRatio>,
    /// What it does to the spread: `helps`, `harms`, `nothing` (less than a factor of 1.25) or
    /// `undecided`; absent where there is no ratio, and for the baseline that is run once more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Counters of its runs.
    pub counters: Vec<AblateCounter>,
}

/// A ratio with its interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AblateRatio {
    /// The ratio.
    pub ratio: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence of the interval, which follows from the correction.
    pub confidence: f64,
    /// Probability of a ratio as far from 1 by chance, corrected for the number of configurations.
    pub p: f64,
}

/// A counter of the runs of one configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AblateCounter {
    /// Its name.
    pub name: String,
    /// Mean of the runs.
    pub mean: f64,
    /// Coefficient of variation of the runs; absent for a mean of 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv: Option<f64>,
}

/// The smallest set that is nearly as good as the best.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AblateRecommendation {
    /// The mitigations.
    pub mitigations: Vec<String>,
    /// The set that had the smallest spread.
    pub best: Vec<String>,
    /// Spread of `best` / spread of the untuned machine, flattered by having been the smallest.
    pub best_ratio: f64,
    /// Flags of `becalm run` and `becalm compare` that measure so.
    pub flags: Vec<String>,
    /// Profile for `becalm tune`, as TOML.
    pub profile: String,
}

/// One run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AblateRun {
    /// Index into `configurations`.
    pub configuration: usize,
    /// Block within its stage, from 0.
    pub block: u32,
    /// Place in its block, from 0.
    pub place: u32,
    /// Seconds after the start.
    pub started: f64,
    /// Seconds of each iteration, or of the whole run.
    pub values: Vec<f64>,
    /// One value for each of `counters`.
    pub counters: Vec<Option<f64>>,
}
