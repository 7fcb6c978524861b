//! How each run of a session is made. All its runs are made so: others would be no sample of the same thing.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Counters;
use crate::conditions::{
    Affinity, Aslr, Backend, Cache, Malloc, Membind, OnDisturbance, Pace, Padding, Rest, Scheduler,
    Thp,
};
use crate::load::ServerTerms;
use crate::seconds;

/// How far a machine is tuned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TuneProfile {
    /// Nobody else will miss it.
    Safe,
    /// Whatever helps.
    Strict,
    /// As a TOML file says.
    File(PathBuf),
}

/// How long to queue while another becalm tunes the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TuneWait {
    /// Not at all.
    #[default]
    No,
    /// For this many seconds.
    For(
        #[serde(with = "seconds")]
        #[schemars(with = "f64")]
        Duration,
    ),
    /// As long as it takes.
    Forever,
}

/// How each run is made. The fields have the names of the flags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own, named by its field")]
pub struct RunTerms {
    /// Shell that each command is given to, with arguments of its own; `null` for none.
    pub shell: Option<String>,
    /// Values by parameter, put in place of `{NAME}`.
    pub parameters: Vec<(String, Vec<String>)>,
    /// Names of the subjects, in their order.
    pub names: Vec<String>,
    /// File for the subjects' standard input.
    pub input: Option<PathBuf>,
    /// Where the subjects' output goes: `null`, `inherit` or a file.
    pub output: String,
    /// File with what each run must print, or `same` for what the first one prints.
    pub expect_output: Option<String>,
    /// How the iterations that a subject timed itself are found in its output.
    pub iterations: Option<String>,
    /// What counts instructions.
    pub backend: Backend,
    /// Which counters are opened.
    pub counters: Counters,
    /// Whether the kernel's scheduler, interrupts and page faults are traced.
    pub trace: bool,
    /// Command that builds the program before anything is measured.
    pub build: Option<String>,
    /// In how many layouts, where that has a `{link_seed}`.
    pub layouts: Option<u32>,
    /// Name of the harness that the subjects are programs of, or `auto`.
    pub harness: Option<String>,
    /// Which benchmarks of the harness run.
    pub filter: Option<String>,
    /// Seconds for which a harness may time each benchmark in one process.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub harness_time: Duration,
    /// Command before the warm-up of each subject.
    pub setup: Option<String>,
    /// Command before each run.
    pub prepare: Option<String>,
    /// Command after each run.
    pub conclude: Option<String>,
    /// Command after the last run of each subject.
    pub cleanup: Option<String>,
    /// Whether the subjects see a few variables only.
    pub env_clear: bool,
    /// Variables set for the subjects, as `NAME=VALUE`.
    pub env: Vec<String>,
    /// CPUs of the subjects.
    pub affinity: Affinity,
    /// Whether nothing else may run on them.
    pub isolate: bool,
    /// The load that is sent to the subjects, where these are servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<ServerTerms>>,
    /// How many threads a subject has; `null` where the warm-up shows it.
    pub threads: Option<NonZeroUsize>,
    /// Scheduling class; `null` where the warm-up shows it.
    pub scheduler: Option<Scheduler>,
    /// Niceness; `null` for that of becalm.
    pub nice: Option<i32>,
    /// Address space layout randomisation.
    pub aslr: Aslr,
    /// Whether the subjects work in a folder in memory.
    pub in_memory: bool,
    /// What the subjects' allocator does with freed memory.
    pub malloc: Malloc,
    /// On which NUMA nodes their memory has to lie; `null` for those of isolated CPUs.
    pub membind: Option<Membind>,
    /// Which transparent huge pages they get.
    pub thp: Thp,
    /// How environment size and stack start are treated.
    pub layout: Padding,
    /// What happens to the page cache before each run.
    pub cache: Cache,
    /// How much of a run's duration is rested after it.
    pub rest: Rest,
    /// Seconds to wait at most, before each round, until the machine has settled.
    #[serde(with = "seconds::optional")]
    #[schemars(with = "Option<f64>")]
    pub settle: Option<Duration>,
    /// Whether the pace of the subjects' CPU is sampled.
    pub pace: Pace,
    /// What happens to disturbed rounds.
    pub on_disturbance: OnDisturbance,
    /// How far the machine is tuned for the session.
    pub tune: Option<TuneProfile>,
    /// How long to queue for that.
    pub wait: TuneWait,
    /// Whether the subjects are root where becalm was started by sudo.
    pub keep_root: bool,
    /// Seed of order and padding; `null` for a fresh one.
    pub seed: Option<u64>,
}

impl Default for RunTerms {
    fn default() -> Self {
        Self {
            shell: None,
            parameters: Vec::new(),
            names: Vec::new(),
            input: None,
            output: "null".to_owned(),
            expect_output: None,
            iterations: None,
            backend: Backend::Processor,
            counters: Counters::All,
            trace: false,
            build: None,
            layouts: None,
            harness: None,
            filter: None,
            harness_time: Duration::from_millis(20),
            setup: None,
            prepare: None,
            conclude: None,
            cleanup: None,
            env_clear: false,
            env: Vec::new(),
            affinity: Affinity::Auto,
            isolate: false,
            load: None,
            threads: None,
            scheduler: None,
            nice: None,
            aslr: Aslr::On,
            in_memory: false,
            malloc: Malloc::Left,
            membind: None,
            thp: Thp::Inherit,
            layout: Padding::Randomise,
            cache: Cache::AsIs,
            rest: Rest::Auto,
            settle: None,
            pace: Pace::Auto,
            on_disturbance: OnDisturbance::Keep,
            tune: None,
            wait: TuneWait::No,
            keep_root: false,
            seed: None,
        }
    }
}
