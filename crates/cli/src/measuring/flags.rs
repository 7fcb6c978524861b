//! Flags that `run` and `compare` share. Where hyperfine or pyperf made a name familiar, it is kept.

use std::path::PathBuf;
use std::time::Duration;

use becalm_machine::Width;
use becalm_model::conditions::{Affinity, Pace};
use becalm_model::terms::FailurePolicy;
use becalm_model::{parse_duration, parse_share};
use becalm_runner::SeriesRule;
use becalm_runner::harness::{HARNESSES, Harness, harness};
use becalm_runner::rounds::Conditioning;
use clap::Parser as _;

use super::conditions::{ConditionFlags, PaceFlag, SchedulerFlag};
use super::exports::ExportFlags;

/// JSON readers that keep numbers as floating point get whole numbers up to this right.
pub(crate) const LARGEST_SEED: u64 = (1 << 53) - 1;

/// Flags about what is run and how.
#[derive(Debug, Clone, clap::Args)]
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

    /// Build before measuring, by `sh -c`: with --rev in the worktree of each revision, else here. With
    /// `{link_seed}` in it it is run for each of --layouts seeds, and every round runs the programs of another
    /// one, so that the verdict does not depend on where one lucky link has put the code; for example
    /// `-Wl,--shuffle-sections={link_seed}` with mold, or objects in the order of `shuf`
    #[arg(long, value_name = "CMD", help_heading = "Build")]
    pub(crate) build: Option<String>,

    /// In how many layouts to build, where the build command has a `{link_seed}`; 10 unless said otherwise
    #[arg(long, value_name = "N", requires = "build", help_heading = "Build")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) layouts: Option<u32>,

    /// The subjects are programs of this harness and time themselves: each of their benchmarks is
    /// compared over the runs, with a value per process. `auto` finds out which one it is
    #[arg(long, value_name = "NAME", value_parser = harness_name, help_heading = "Harness")]
    pub(crate) harness: Option<HarnessFlag>,
    /// Which benchmarks of the harness to run, written as it wants it
    #[arg(long, value_name = "PATTERN", requires = "harness", help_heading = "Harness")]
    pub(crate) filter: Option<String>,
    /// How long each benchmark may be timed in one process, for harnesses that can be told; becalm makes
    /// more processes, not longer ones. Processes of at most half a second can have a real-time class
    #[arg(long, value_name = "DURATION", value_parser = timeout, default_value = "20ms", help_heading = "Harness")]
    pub(crate) harness_time: Duration,
    /// What counts instructions: the processor, where it lets itself be asked, or `callgrind`, which
    /// simulates each run (about 50 times slower), sees the program and not the kernel, and counts the
    /// same on a noisy machine too. Its figures of caches and branches are of a model
    #[arg(long, value_enum, default_value_t = BackendFlag::Processor, help_heading = "Metrics")]
    pub(crate) backend: BackendFlag,

    /// Counters to record per run
    #[arg(long, value_enum, default_value_t = CountersFlag::All, help_heading = "Metrics")]
    pub(crate) counters: CountersFlag,

    /// Fail unless a run prints just this: a file with the expected output, or `same` for what the
    /// first run prints
    #[arg(long, value_name = "FILE|same", help_heading = "Metrics")]
    pub(crate) expect_output: Option<String>,

    /// Run CMD (by `sh -c`) once for each subject, all before the warm-up; it may build the program
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) setup: Option<String>,

    /// Run CMD before each run
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) prepare: Option<String>,

    /// Run CMD after each run
    #[arg(short = 'C', long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) conclude: Option<String>,

    /// Run CMD once for each subject after the last run, also after a failed one
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) cleanup: Option<String>,

    /// Put each of these comma-separated values in place of {NAME}
    #[arg(short = 'L', long, num_args = 2, value_names = ["NAME", "VALUES"], action = clap::ArgAction::Append, help_heading = "Parameters")]
    pub(crate) parameter_list: Vec<String>,

    /// Put each number from MIN to MAX in place of {NAME}
    #[arg(short = 'P', long, num_args = 3, value_names = ["NAME", "MIN", "MAX"], action = clap::ArgAction::Append, allow_negative_numbers = true, help_heading = "Parameters")]
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

    #[command(flatten)]
    pub(crate) conditions: ConditionFlags,

    /// Trace the kernel's scheduler, interrupts and page faults (needs root), and tell by name who took
    /// time from each run
    #[arg(long, help_heading = "Metrics")]
    pub(crate) trace: bool,

    #[command(flatten)]
    pub(crate) exports: ExportFlags,

    /// Continue the session saved in FILE, and save it there; further flags say what it takes to decide, and not how
    /// runs are made. --rounds and --max-time count from the beginning of the session
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) resume: Option<PathBuf>,
}

impl MeasureFlags {
    /// Returns the flags of a session without a command line of its own.
    pub(crate) fn defaults() -> Self {
        #[derive(clap::Parser)]
        struct Defaults {
            #[command(flatten)]
            flags: MeasureFlags,
        }
        Defaults::parse_from(["becalm"]).flags
    }

    /// Returns the flags of one session among several of the same command: the one with this number, which is
    /// saved at `record`. What they say of rounds is for all sessions together.
    pub(crate) fn of_step(&self, number: u64, confidence: f64, record: PathBuf) -> Self {
        let mut flags = self.clone();
        flags.confidence = confidence;
        flags.exports.export_json = Some(record);
        (flags.rounds, flags.min_rounds) = (None, None);
        (flags.max_rounds, flags.max_time) = (None, None);
        // Their rounds are put together from values alone, which would leave the pace out.
        flags.conditions.pace = PaceFlag::Off;
        // No session has the schedule of another.
        let seed = &mut flags.conditions.seed;
        *seed = seed.map(|seed| seed.wrapping_add(number) & LARGEST_SEED);
        flags
    }

    /// Returns what becomes of runs that fail.
    pub(crate) fn failure_policy(&self) -> FailurePolicy {
        match &self.ignore_failure {
            None => FailurePolicy::Stop,
            Some(codes) if codes.is_empty() => FailurePolicy::Ignore,
            Some(codes) => FailurePolicy::IgnoreCodes(codes.clone()),
        }
    }

    /// Returns how many CPUs to choose; `None` where none are chosen, or the warm-up teaches it.
    pub(crate) fn width(&self) -> Option<Width> {
        match (&self.conditions.affinity, self.conditions.threads) {
            (Affinity::Auto, Some(threads)) => Some(Width::Several(threads)),
            (Affinity::Auto, None) if self.warmup == 0 => Some(Width::All),
            _ => None,
        }
    }

    /// Returns which conditions are left to what the warm-up teaches.
    pub(crate) fn conditioning(&self) -> Conditioning {
        let affinity = self.conditions.affinity == Affinity::Auto && self.width().is_none();
        let scheduler = self.conditions.scheduler == SchedulerFlag::Auto;
        let pace = Pace::from(self.conditions.pace);
        if affinity || scheduler || pace != Pace::Off {
            Conditioning::Learn { affinity, scheduler, pace }
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

fn series_rule(text: &str) -> Result<SeriesRule, String> {
    SeriesRule::parse(text).map_err(|error| becalm_model::with_causes(&error))
}

/// What counts instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BackendFlag {
    /// The counters of the processor
    Processor,
    /// Valgrind's callgrind
    Callgrind,
}

/// Which harness the subjects are programs of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HarnessFlag {
    /// What they look like.
    Auto,
    /// This one.
    Given(&'static Harness),
}

/// Reads `--harness`.
pub(crate) fn harness_name(text: &str) -> Result<HarnessFlag, String> {
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

/// Reads how often something is to hold: a confidence, a power.
pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    match parse_share(text) {
        Ok(share) if (0.5..1.0).contains(&share) => Ok(share),
        Ok(_) => Err("expected at least 50% and less than 100%".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
