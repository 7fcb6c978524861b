//! Flags that `run` and `compare` share. Where hyperfine or pyperf made a name familiar, it is kept.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use becalm_machine::Width;
use becalm_model::{CpuSet, parse_duration, parse_share};
use becalm_runner::harness::{HARNESSES, Harness, harness};
use becalm_runner::session::{Conditioning, Rest};
use becalm_runner::{Scheduler, SeriesRule};

use crate::memory::MemoryFlags;
use crate::tuning::{ProfileFlag, WaitFlag, parse_profile};

/// JSON readers that keep numbers as floating point get whole numbers up to this right.
pub(crate) const LARGEST_SEED: u64 = (1 << 53) - 1;

/// Flags about what is run and how.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
#[derive(Debug, clap::Args)]
pub(crate) struct MeasureFlags {
    /// Rounds before the measured ones; the first also teaches whether a subject is
    /// single-threaded
    #[arg(short, long, value_name = "N", default_value_t = 1, help_heading = "Rounds")]
    pub(crate) warmup: u32,

    /// Make exactly N rounds and decide once, at the end
    #[arg(short, long, alias = "runs", value_name = "N", help_heading = "Rounds")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = ["min_rounds", "max_rounds", "max_time"])]
    pub(crate) rounds: Option<u32>,

    /// Make at least N rounds
    #[arg(short = 'm', long, alias = "min-runs", value_name = "N", help_heading = "Rounds")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) min_rounds: Option<u32>,

    /// Make at most N rounds
    #[arg(short = 'M', long, alias = "max-runs", value_name = "N", help_heading = "Rounds")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_rounds: Option<u32>,

    /// Start no further round after this time
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "Rounds")]
    pub(crate) max_time: Option<Duration>,

    /// Confidence of intervals and verdicts
    #[arg(long, value_name = "SHARE", value_parser = confidence, default_value = "95%", help_heading = "Deciding")]
    pub(crate) confidence: f64,

    /// What to record or decide on: `auto`, a recorded metric such as `wall_time`, or
    /// NAME[UNIT,higher|lower,exact]=REGEX to read it from the subject's output (the brackets may
    /// be left out; the first group counts, of several matches the last)
    #[arg(long, value_name = "METRIC", help_heading = "Metrics")]
    pub(crate) metric: Vec<String>,

    /// Read a metric from a subject's JSON output: NAME[UNIT,...]=/json/pointer
    #[arg(long, value_name = "NAME=POINTER", help_heading = "Metrics")]
    pub(crate) metric_json: Vec<String>,

    /// Read the times of the iterations that a subject timed itself from its output, in seconds:
    /// JSON with an array of `values` or one number a line, or by a JSON pointer to an array, or by
    /// a regular expression of which every match counts
    #[arg(long, value_name = "RULE", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = series_rule, help_heading = "Metrics")]
    pub(crate) iterations: Option<SeriesRule>,

    /// The subjects are programs of this harness and time themselves: each of their benchmarks is
    /// compared over the runs, with a value per process. `auto` finds out which one it is
    #[arg(long, value_name = "NAME", value_parser = harness_name, help_heading = "Harness")]
    pub(crate) harness: Option<HarnessFlag>,
    /// Which benchmarks of the harness to run, written as it wants it
    #[arg(long, value_name = "PATTERN", requires = "harness", help_heading = "Harness")]
    pub(crate) filter: Option<String>,
    /// How long each benchmark may be timed in one process, for harnesses that can be told; becalm makes
    /// more processes, not longer ones
    #[arg(long, value_name = "DURATION", value_parser = timeout, default_value = "100ms", help_heading = "Harness")]
    pub(crate) harness_time: Duration,
    /// Counters to record per run
    #[arg(long, value_enum, default_value_t = CountersFlag::All, help_heading = "Metrics")]
    pub(crate) counters: CountersFlag,

    /// Fail unless a run prints just this: a file with the expected output, or `same` for what the
    /// first run prints
    #[arg(long, value_name = "FILE|same", help_heading = "Metrics")]
    pub(crate) expect_output: Option<String>,

    /// Run CMD (by `sh -c`) once before the warm-up
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) setup: Option<String>,

    /// Run CMD before each run
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) prepare: Option<String>,

    /// Run CMD after each run
    #[arg(short = 'C', long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) conclude: Option<String>,

    /// Run CMD once after the last run, also after a failed one
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) cleanup: Option<String>,

    /// Put each of these comma-separated values in place of {NAME}
    #[arg(short = 'L', long, num_args = 2, value_names = ["NAME", "VALUES"], action = clap::ArgAction::Append, help_heading = "Parameters")]
    pub(crate) parameter_list: Vec<String>,

    /// Put each number from MIN to MAX in place of {NAME}
    #[arg(short = 'P', long, num_args = 3, value_names = ["NAME", "MIN", "MAX"], action = clap::ArgAction::Append, help_heading = "Parameters")]
    pub(crate) parameter_scan: Vec<String>,

    /// Step of --parameter-scan
    #[arg(
        short = 'D',
        long,
        value_name = "STEP",
        default_value_t = 1.0,
        help_heading = "Parameters"
    )]
    pub(crate) parameter_step_size: f64,

    /// Run the subjects through a shell, whose start is then part of what is measured
    #[arg(short = 'S', long, value_name = "SHELL", num_args = 0..=1, default_missing_value = "sh", require_equals = true, help_heading = "Subject")]
    pub(crate) shell: Option<String>,

    /// Name of a subject in reports, once per subject
    #[arg(
        short = 'n',
        long = "name",
        alias = "command-name",
        value_name = "NAME",
        help_heading = "Subject"
    )]
    pub(crate) names: Vec<String>,

    /// File for the subjects' standard input; without it, it is empty
    #[arg(long, value_name = "FILE", help_heading = "Subject")]
    pub(crate) input: Option<PathBuf>,

    /// Where the subjects' output goes: `null`, `inherit` or a file
    #[arg(long, value_name = "WHERE", default_value = "null", help_heading = "Subject")]
    pub(crate) output: String,

    /// Use runs that fail; with codes, only those that exit so
    #[arg(short, long, value_name = "CODES", num_args = 0..=1, require_equals = true, value_delimiter = ',', help_heading = "Subject")]
    pub(crate) ignore_failure: Option<Vec<i32>>,

    /// End a run after this time; its time then counts as a lower bound
    #[arg(long, value_name = "DURATION", value_parser = timeout, help_heading = "Subject")]
    pub(crate) timeout: Option<Duration>,

    /// Start the subjects with PATH, HOME, USER, LOGNAME, SHELL, TMPDIR, TZ and the locale only
    #[arg(long, help_heading = "Subject")]
    pub(crate) env_clear: bool,

    /// Set a variable for the subjects
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Subject")]
    pub(crate) env: Vec<String>,

    /// CPUs of the subjects: `auto`, `none` or a list such as 2-3
    #[arg(long, value_parser = affinity, default_value = "auto", help_heading = "Conditions")]
    pub(crate) affinity: Affinity,

    /// Give the subjects CPUs on which nothing else may run, by control groups (needs root), and put
    /// everything back
    #[arg(long, help_heading = "Conditions")]
    pub(crate) isolate: bool,

    /// How many threads a subject has, instead of learning in the warm-up whether it is one
    #[arg(long, value_name = "N", help_heading = "Conditions")]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Scheduling class: `auto` (fifo:1 where other programs compete
    /// and it is allowed and safe), `other` or `fifo:N`
    #[arg(long, value_parser = scheduler, default_value = "auto", help_heading = "Conditions")]
    pub(crate) scheduler: SchedulerFlag,

    /// Niceness of the subjects
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19), help_heading = "Conditions")]
    pub(crate) nice: Option<i32>,

    /// Address space layout randomisation of the subjects
    #[arg(long, value_enum, default_value_t = Switch::On, help_heading = "Conditions")]
    pub(crate) aslr: Switch,

    #[command(flatten, next_help_heading = "Conditions")]
    pub(crate) memory: MemoryFlags,

    /// Vary the size of the environment, and with it the start of the stack, from round to round
    #[arg(long, value_enum, default_value_t = LayoutFlag::Randomise, help_heading = "Conditions")]
    pub(crate) layout: LayoutFlag,

    /// Page cache before each run: as it is, warmed by an extra run, or dropped (root)
    #[arg(long, value_enum, default_value_t = CacheFlag::AsIs, help_heading = "Conditions")]
    pub(crate) cache: CacheFlag,

    /// Rest after each run, as a share of its duration: `auto` (7 % under fifo, else none) or 5%
    #[arg(long, value_parser = rest, default_value = "auto", help_heading = "Conditions")]
    pub(crate) rest: Rest,

    /// Before each round wait until temperature, load and pressure are back where they were at the start
    /// of the session, at most for this time
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "Conditions")]
    pub(crate) settle: Option<Duration>,

    /// What becomes of a round in which a run was disturbed, by the evidence alone: `redo` discards it
    /// and makes another one, at most a third more rounds in all
    #[arg(long, value_enum, default_value_t = OnDisturbanceFlag::Keep, help_heading = "Conditions")]
    pub(crate) on_disturbance: OnDisturbanceFlag,

    /// Quiet the machine for the session and put everything back: `safe` (without a value), `strict`
    /// or a TOML file; `becalm tune --plan` shows what that does
    #[arg(long, value_name = "PROFILE", num_args = 0..=1, require_equals = true, default_missing_value = "safe", value_parser = parse_profile, help_heading = "Conditions")]
    pub(crate) tune: Option<ProfileFlag>,

    #[command(flatten)]
    pub(crate) wait: WaitFlag,

    /// Under sudo, run the subjects as root and not as the user who called sudo
    #[arg(long, help_heading = "Conditions")]
    pub(crate) keep_root: bool,

    /// Seed of order and padding; a random one is taken and recorded otherwise
    #[arg(long, value_name = "N", help_heading = "Conditions")]
    #[arg(value_parser = clap::value_parser!(u64).range(..=LARGEST_SEED))]
    pub(crate) seed: Option<u64>,

    /// Trace the kernel's scheduler, interrupts and page faults (needs root), and tell by name who took
    /// time from each run
    #[arg(long, help_heading = "Metrics")]
    pub(crate) trace: bool,

    /// Print the whole record as JSON to standard output
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Save the whole record; while measuring, every finished run is in FILE.partial
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) export_json: Option<PathBuf>,

    /// Save an HTML report
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) export_html: Option<PathBuf>,

    /// Save a short Markdown report
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) export_markdown: Option<PathBuf>,

    /// Continue the session saved in FILE; further flags override its own
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) resume: Option<PathBuf>,
}

impl MeasureFlags {
    /// Returns how many CPUs to choose; `None` where none are chosen, or the warm-up teaches it.
    pub(crate) fn width(&self) -> Option<Width> {
        match (&self.affinity, self.threads) {
            (Affinity::Auto, Some(threads)) => Some(Width::Several(threads)),
            (Affinity::Auto, None) if self.warmup == 0 => Some(Width::All),
            _ => None,
        }
    }

    /// Returns which conditions are left to what the warm-up teaches.
    pub(crate) fn conditioning(&self) -> Conditioning {
        let affinity = self.affinity == Affinity::Auto && self.width().is_none();
        let scheduler = self.scheduler == SchedulerFlag::Auto;
        if affinity || scheduler {
            Conditioning::Learn { affinity, scheduler }
        } else {
            Conditioning::Given
        }
    }
}

/// Which counters to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CountersFlag {
    /// Software and hardware counters, as far as the machine has them
    All,
    /// Software counters only
    Software,
    /// None
    None,
}

/// A setting that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Switch {
    /// On
    On,
    /// Off
    Off,
}

/// How environment size and stack start are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LayoutFlag {
    /// Another one in every round
    Randomise,
    /// Always the same
    Fixed,
}

/// What becomes of a disturbed round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnDisturbanceFlag {
    /// It is labelled and used
    Keep,
    /// It is labelled, discarded and made again
    Redo,
}

/// What happens to the page cache before each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CacheFlag {
    /// Nothing
    AsIs,
    /// An unmeasured run fills it
    Warm,
    /// It is emptied
    Drop,
}

/// Which CPUs the subjects may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Affinity {
    /// As the warm-up teaches.
    Auto,
    /// Those of becalm.
    None,
    /// These.
    Cpus(CpuSet),
}

/// Reads `--affinity`.
pub(crate) fn affinity(text: &str) -> Result<Affinity, String> {
    match text {
        "auto" => Ok(Affinity::Auto),
        "none" => Ok(Affinity::None),
        list => {
            let cpus: CpuSet =
                list.parse().map_err(|e: becalm_model::CpuListError| e.to_string())?;
            if cpus.is_empty() {
                Err("the list has no CPU".to_owned())
            } else {
                Ok(Affinity::Cpus(cpus))
            }
        }
    }
}

/// Which scheduling class the subjects get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchedulerFlag {
    /// As the warm-up teaches and the machine allows.
    Auto,
    /// This one.
    Given(Scheduler),
}

fn scheduler(text: &str) -> Result<SchedulerFlag, String> {
    match text {
        "auto" => Ok(SchedulerFlag::Auto),
        "other" => Ok(SchedulerFlag::Given(Scheduler::Other)),
        _ => match text.strip_prefix("fifo:").map(str::parse) {
            Some(Ok(priority @ 1..=99)) => Ok(SchedulerFlag::Given(Scheduler::Fifo(priority))),
            _ => Err("expected auto, other or fifo:N with N from 1 to 99".to_owned()),
        },
    }
}

fn series_rule(text: &str) -> Result<SeriesRule, String> {
    SeriesRule::parse(text).map_err(|error| crate::error::with_causes(&error))
}

/// Which harness the subjects are programs of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HarnessFlag {
    /// What they look like.
    Auto,
    /// This one.
    Given(&'static Harness),
}

fn harness_name(text: &str) -> Result<HarnessFlag, String> {
    if text == "auto" {
        return Ok(HarnessFlag::Auto);
    }
    let names = || HARNESSES.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
    harness(text)
        .map(HarnessFlag::Given)
        .ok_or_else(|| format!("there is no such harness; there are auto, {}", names()))
}

fn timeout(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(timeout) if timeout.is_zero() => Err("no run ends in no time".to_owned()),
        Ok(timeout) => Ok(timeout),
        Err(error) => Err(error.to_string()),
    }
}

fn rest(text: &str) -> Result<Rest, String> {
    if text == "auto" {
        return Ok(Rest::Auto);
    }
    match parse_share(text) {
        Ok(share) if share <= 10.0 => Ok(Rest::Share(share)),
        Ok(_) => Err("a rest of more than ten times the run is surely a mistake".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn confidence(text: &str) -> Result<f64, String> {
    match parse_share(text) {
        Ok(share) if (0.5..1.0).contains(&share) => Ok(share),
        Ok(_) => Err("expected at least 50% and less than 100%".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
