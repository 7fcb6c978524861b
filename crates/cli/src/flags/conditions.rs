//! Flags about how the subjects are started, of every command that starts them repeatedly.

use std::num::NonZeroUsize;
use std::time::Duration;

use becalm_model::conditions::{
    Affinity, Aslr, Cache, Membind, OnDisturbance, Pace, Padding, Rest, Scheduler, SchedulerError,
    Thp,
};
use becalm_model::parse_duration;
use becalm_model::terms::{RunTerms, TuneProfile};
use becalm_session::LARGEST_SEED;

use super::choices::{ASLR, CACHE, LAYOUT, ON_DISTURBANCE, PACE, THP, one_of};
use super::memory::MemoryFlags;
use super::tune::{WaitFlag, parse_profile};
use super::{replace, replace_all};

/// Flags about how the subjects are started.
#[derive(Debug, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the command line")]
pub(crate) struct ConditionFlags {
    /// Start the subjects with only PATH, HOME, USER, LOGNAME, SHELL, TMPDIR, TZ and the locale
    #[arg(long, help_heading = "Subject")]
    pub(crate) env_clear: bool,

    /// Set a variable for the subjects
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Subject")]
    pub(crate) env: Vec<String>,

    /// CPUs of the subjects: `auto`, `none` or a list such as 2-3 [default: auto]
    #[arg(long, help_heading = "Conditions")]
    pub(crate) affinity: Option<Affinity>,

    /// Reserve CPUs for the subjects alone, through control groups (needs root), and put everything
    /// back afterwards
    #[arg(long, help_heading = "Conditions")]
    pub(crate) isolate: bool,

    /// How many threads a subject has [default: detected in the warm-up, one or more]
    #[arg(long, value_name = "N", help_heading = "Conditions")]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Scheduling class: `auto` (fifo:1 if other programs compete and it is permitted and safe),
    /// `other` or `fifo:N` [default: auto]
    #[arg(long, value_parser = scheduler, help_heading = "Conditions")]
    pub(crate) scheduler: Option<SchedulerFlag>,

    /// Niceness of the subjects
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19), help_heading = "Conditions")]
    pub(crate) nice: Option<i32>,

    /// Address space layout randomisation of the subjects [default: on]
    #[arg(long, value_parser = one_of(ASLR, Aslr::name), help_heading = "Conditions")]
    pub(crate) aslr: Option<Aslr>,

    #[command(flatten, next_help_heading = "Conditions")]
    pub(crate) memory: MemoryFlags,

    /// NUMA nodes for the subjects' memory: `auto` (those of their CPUs), `off` or a list such as
    /// 0-1 [default: off; with --isolate auto]
    #[arg(long, value_name = "NODES", help_heading = "Conditions")]
    pub(crate) membind: Option<Membind>,

    /// Transparent huge pages of the subjects [default: inherit]
    #[arg(long, value_parser = one_of(THP, Thp::name), value_name = "WHAT", help_heading = "Conditions")]
    pub(crate) thp: Option<Thp>,

    /// Vary the size of the environment, and with it the start of the stack, from round to round [default: randomise]
    #[arg(long, value_parser = one_of(LAYOUT, Padding::name), help_heading = "Conditions")]
    pub(crate) layout: Option<Padding>,

    /// Page cache before each run: as it is, warmed by an extra run, or dropped (root) [default: as-is]
    #[arg(long, value_parser = one_of(CACHE, Cache::name), help_heading = "Conditions")]
    pub(crate) cache: Option<Cache>,

    /// Rest after each run, as a share of its duration: `auto` (7 % under fifo, else none) or a
    /// share such as 5% [default: auto]
    #[arg(long, help_heading = "Conditions")]
    pub(crate) rest: Option<Rest>,

    /// Before each round, wait until temperature, load and pressure are back to where they were at
    /// the start of the session, but no longer than this
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "Conditions")]
    pub(crate) settle: Option<Duration>,

    /// Sample during each run how fast its core is, and correct comparisons of CPU time for it:
    /// `auto` (if a virtual machine hides the other half of the core) [default: auto]
    #[arg(long, value_parser = one_of(PACE, Pace::name), help_heading = "Conditions")]
    pub(crate) pace: Option<Pace>,

    /// What to do with a round in which a run was disturbed, judged by the evidence alone: `redo`
    /// discards it and makes another, up to a third more rounds in total [default: keep]
    #[arg(long, value_parser = one_of(ON_DISTURBANCE, OnDisturbance::name), help_heading = "Conditions")]
    pub(crate) on_disturbance: Option<OnDisturbance>,

    /// Quiet the machine for the session, and put everything back: `safe` (without a value),
    /// `strict` or a TOML file; `becalm tune --plan` shows what each does
    #[arg(long, value_name = "PROFILE", num_args = 0..=1, require_equals = true, default_missing_value = "safe", value_parser = parse_profile, help_heading = "Conditions")]
    pub(crate) tune: Option<TuneProfile>,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    /// Under sudo, run the subjects and becalm as root, and not as the user who called sudo
    #[arg(long, help_heading = "Conditions")]
    pub(crate) keep_root: bool,

    /// Under sudo, allow subjects, hooks and builds to start setuid programs such as `sudo`
    #[arg(long, help_heading = "Conditions")]
    keep_privileges: bool,

    /// Seed of order and padding [default: random, and recorded]
    #[arg(long, value_name = "N", help_heading = "Conditions")]
    #[arg(value_parser = clap::value_parser!(u64).range(..=LARGEST_SEED))]
    pub(crate) seed: Option<u64>,
}

impl ConditionFlags {
    /// Puts what was given into the terms of the runs.
    pub(crate) fn apply(&self, runs: &mut RunTerms) {
        runs.env_clear |= self.env_clear;
        runs.isolate |= self.isolate;
        runs.in_memory |= self.memory.in_memory;
        runs.keep_root |= self.keep_root;
        replace_all(&mut runs.env, &self.env);
        replace(&mut runs.affinity, self.affinity.clone());
        replace(&mut runs.scheduler, self.scheduler.map(SchedulerFlag::given));
        replace(&mut runs.aslr, self.aslr);
        replace(&mut runs.malloc, self.memory.malloc);
        replace(&mut runs.thp, self.thp);
        replace(&mut runs.membind, self.membind.clone().map(Some));
        replace(&mut runs.layout, self.layout);
        replace(&mut runs.cache, self.cache);
        replace(&mut runs.rest, self.rest);
        replace(&mut runs.pace, self.pace);
        replace(&mut runs.on_disturbance, self.on_disturbance);
        replace(&mut runs.wait, self.wait.wait);
        runs.threads = self.threads.or(runs.threads);
        runs.nice = self.nice.or(runs.nice);
        runs.settle = self.settle.or(runs.settle);
        runs.seed = self.seed.or(runs.seed);
        replace(&mut runs.tune, self.tune.clone().map(Some));
    }
}

/// Which scheduling class the subjects get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchedulerFlag {
    /// As learnt in the warm-up, if the machine permits it.
    Auto,
    /// This one.
    Given(Scheduler),
}

impl SchedulerFlag {
    fn given(self) -> Option<Scheduler> {
        match self {
            Self::Auto => None,
            Self::Given(scheduler) => Some(scheduler),
        }
    }
}

fn scheduler(text: &str) -> Result<SchedulerFlag, String> {
    match text {
        "auto" => Ok(SchedulerFlag::Auto),
        _ => text
            .parse()
            .map(SchedulerFlag::Given)
            .map_err(|error: SchedulerError| format!("{error}, or auto")),
    }
}
