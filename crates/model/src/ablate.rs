//! Which mitigation helps on one machine: what `becalm noise ablate` found, and what it keeps of that for
//! `becalm check`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::MachineFacts;
use crate::note::Limit;
use crate::wire::{Worded, Words, worded};
use crate::words::words;

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
    /// What the spread is measured between.
    pub spread_of: Timing,
    /// Every mitigation, possible here or not.
    pub mitigations: Vec<AblateMitigation>,
    /// Every way in which the subject was run, in the order of the stages.
    pub configurations: Vec<AblateConfiguration>,
    /// What is recommended; absent if nothing demonstrably helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<AblateRecommendation>,
    /// What could not be had or done.
    pub limits: Vec<Worded<Limit>>,
    /// What kept the experiment from being finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<String>,
    /// The machine.
    pub machine: MachineFacts,
    /// Names of the counters of the runs.
    pub counters: Vec<String>,
    /// Every run that counts, in time order.
    pub runs: Vec<AblateRun>,
    /// Further runs that no figure includes: those that tried out what is possible, and those of a
    /// block that was broken off.
    pub uncounted_runs: u32,
    /// Where the effects were saved, for `becalm check`; absent if they were not.
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
    /// Iterations of each run; absent if runs are timed as a whole.
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
    /// In which stage.
    pub stage: Stage,
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
    /// Standard deviation, in the same way.
    pub standard_deviation: Option<f64>,
    /// Standard deviation / mean, in the same way.
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
    /// What it does to the spread; absent if there is no ratio, and for the baseline that is run
    /// once more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<MitigationVerdict>,
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
    /// Spread of `best` / spread of the untuned machine; flattered by chance, because it is the
    /// smallest of many.
    pub best_ratio: f64,
    /// Flags of `becalm run` and `becalm compare` that measure with these.
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

/// A part of the experiment.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Each mitigation alone.
    #[default]
    Singly,
    /// One on top of the other.
    Cumulatively,
    /// The chosen stack without each of its members.
    Without,
    /// The members that matter most, one more at a time.
    Fewer,
    /// Baseline against recommendation.
    Again,
}

/// How runs are timed, and so what the spread is measured between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Every iteration inside of a run.
    #[default]
    Iterations,
    /// Every run as a whole.
    Runs,
}

/// What a mitigation does to the spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MitigationVerdict {
    /// The spread is demonstrably smaller.
    Helps,
    /// The spread is demonstrably larger.
    Harms,
    /// The spread is demonstrably the same, within a factor of 1.25.
    Nothing,
    /// Nothing can be said.
    #[default]
    Undecided,
}

/// What the remedies for sources of noise did on one machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MitigationEffects {
    /// `becalm/mitigation-effects/1`.
    pub schema: String,
    /// The kernel, as `uname -r` prints it.
    pub kernel: String,
    /// The model of the CPU; empty if the kernel names none.
    pub cpu_model: String,
    /// The effects, the newest first.
    pub effects: Vec<MitigationEffect>,
}

/// What one mitigation, tried alone, did to the scatter of one subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MitigationEffect {
    /// Its name, as `becalm noise ablate --list` has it.
    pub mitigation: String,
    /// The findings of `becalm check` that it addresses, all together.
    pub mends: Vec<String>,
    /// What was run.
    pub subject: String,
    /// Busy processes that becalm kept running meanwhile.
    pub hogs: u32,
    /// What the spread is measured between.
    pub spread_of: Timing,
    /// Spread with the mitigation / spread without.
    pub ratio: f64,
    /// Lower end of the interval of the ratio.
    pub low: f64,
    /// Upper end of the interval of the ratio.
    pub high: f64,
    /// Confidence of the interval, corrected for the number of mitigations that were tried.
    pub confidence: f64,
    /// What it does.
    pub verdict: MitigationVerdict,
    /// When it was measured, in seconds since 1970.
    pub measured_at: u64,
}

impl MitigationEffect {
    /// Says whether both are the same mitigation with the same subject, so that the newer one counts.
    pub fn is_about_the_same(&self, other: &Self) -> bool {
        (&self.mitigation, &self.subject, self.hogs)
            == (&other.mitigation, &other.subject, other.hogs)
    }
}

words! {
    Stage {
        Singly = "singly", Cumulatively = "cumulatively", Without = "without", Fewer = "fewer", Again = "again"
    }
    MitigationVerdict {
        Helps = "helps", Harms = "harms", Nothing = "nothing", Undecided = "undecided"
    }
}
