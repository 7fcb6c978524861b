//! Flags that `run`, `compare` and `bisect` share, and the terms of a session that they make. Names
//! that are familiar from hyperfine or pyperf are kept.

use std::path::PathBuf;
use std::time::Duration;

use becalm_model::conditions::Backend;
use becalm_model::terms::{
    CommandLine, Counters, FailurePolicy, RoundLimits, RunTerms, Stop, Terms, Unlimited,
};
use becalm_model::{parse_duration, parse_share};
use becalm_runner::SeriesRule;
use becalm_runner::harness::{HARNESSES, harness};
use becalm_session::ServerTermsError;

use super::choices::{BACKEND, COUNTERS, one_of};
use super::conditions::ConditionFlags;
use super::elsewhere::ElsewhereFlags;
use super::exports::ExportFlags;
use super::parameters::parameters;
use super::servers::ServerFlags;
use super::{checked, replace, replace_all};
use crate::error::CommandError;
use crate::optional_values::NO_SHELL;

/// Flags about what is run and how.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MeasureFlags {
    /// Rounds before the measured ones; the first also detects whether a subject is single-threaded
    /// [default: 1]
    #[arg(short, long, value_name = "N", help_heading = "Rounds")]
    pub(crate) warmup: Option<u32>,

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

    /// Confidence of intervals and verdicts [default: 95%]
    #[arg(long, value_name = "SHARE", value_parser = confidence, help_heading = "Deciding")]
    pub(crate) confidence: Option<f64>,

    /// What to record or decide on: `auto`, a recorded metric such as `wall_time`, or
    /// NAME[UNIT,higher|lower,exact]=REGEX to read it from the subject's output (the brackets are
    /// optional; the first group is the value, and of several matches the last counts)
    #[arg(long, value_name = "METRIC", help_heading = "Metrics")]
    pub(crate) metric: Vec<String>,

    /// Read a metric from a subject's JSON output: NAME[UNIT,...]=/json/pointer
    #[arg(long, value_name = "NAME=POINTER", help_heading = "Metrics")]
    pub(crate) metric_json: Vec<String>,

    /// Read from the subject's output the times of iterations that it measured itself, in seconds.
    /// RULE is empty (JSON with an array of `values`, or one number per line), a JSON pointer to an
    /// array, or a regular expression, of which every match counts
    #[arg(long, value_name = "RULE", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = series_rule, help_heading = "Metrics")]
    pub(crate) iterations: Option<String>,

    /// Build before measuring, with `sh -c`: in the worktree of each revision with --rev, otherwise
    /// in this folder. If CMD contains `{link_seed}`, it runs once for each of --layouts seeds, and
    /// every round uses the programs of a different one, so that chance in one link order does not decide the
    /// verdict. Examples: `-Wl,--shuffle-sections={link_seed}` with mold, or objects in the order
    /// of `shuf`
    #[arg(long, value_name = "CMD", help_heading = "Build")]
    pub(crate) build: Option<String>,

    /// Number of layouts to build, if the build command contains `{link_seed}` [default: 10]
    #[arg(long, value_name = "N", requires = "build", help_heading = "Build")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) layouts: Option<u32>,

    /// The subjects are programs of this harness and time themselves: each of their benchmarks is
    /// compared over the runs, with one value per process. `auto` detects the harness
    #[arg(long, value_name = "NAME", value_parser = harness_name, help_heading = "Harness")]
    pub(crate) harness: Option<String>,
    /// Which benchmarks of the harness to run, in the harness's own syntax
    #[arg(long, value_name = "PATTERN", requires = "harness", help_heading = "Harness")]
    pub(crate) filter: Option<String>,
    /// How long each benchmark may be timed in one process, for harnesses with such a setting;
    /// becalm makes more processes rather than longer ones. Processes of at most half a second can
    /// have a real-time class [default: 20ms]
    #[arg(long, value_name = "DURATION", value_parser = timeout, help_heading = "Harness")]
    pub(crate) harness_time: Option<Duration>,
    #[command(flatten)]
    pub(crate) servers: ServerFlags,

    /// What counts instructions: the counters of the processor, if available, or `callgrind`, which
    /// simulates each run (about 50 times slower), sees the program but not the kernel, and gives
    /// the same count on a noisy machine. Its figures for caches and branches come from a model
    /// [default: processor]
    #[arg(long, value_parser = one_of(BACKEND, Backend::name), help_heading = "Metrics")]
    pub(crate) backend: Option<Backend>,

    /// Counters to record per run [default: all]
    #[arg(long, value_parser = one_of(COUNTERS, Counters::name), help_heading = "Metrics")]
    pub(crate) counters: Option<Counters>,

    /// Fail unless every run prints exactly this: a file with the expected output, or `same` for
    /// what the first run prints
    #[arg(long, value_name = "FILE|same", help_heading = "Metrics")]
    pub(crate) expect_output: Option<String>,

    /// Run CMD (with `sh -c`) once for each subject, before any warm-up; it may build the program
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) setup: Option<String>,

    /// Run CMD before each run
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) prepare: Option<String>,

    /// Run CMD after each run
    #[arg(short = 'C', long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) conclude: Option<String>,

    /// Run CMD once for each subject after the last run, even if one failed
    #[arg(short, long, value_name = "CMD", help_heading = "Hooks")]
    pub(crate) cleanup: Option<String>,

    /// Substitute each of these comma-separated values for {NAME}
    #[arg(short = 'L', long, num_args = 2, value_names = ["NAME", "VALUES"], action = clap::ArgAction::Append, help_heading = "Parameters")]
    pub(crate) parameter_list: Vec<String>,

    /// Substitute each number from MIN to MAX for {NAME}
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

    /// Run the subjects through a shell; the measurement then includes its start
    #[arg(short = 'S', long, value_name = "SHELL", num_args = 0..=1, default_missing_value = "sh", require_equals = true, help_heading = "Subject")]
    pub(crate) shell: Option<String>,

    /// Use no shell, which is the default; for those who know this flag from hyperfine
    #[arg(short = 'N', long, hide = true, conflicts_with = "shell")]
    no_shell: bool,

    /// Name of a subject in reports, once per subject
    #[arg(
        short = 'n',
        long = "name",
        alias = "command-name",
        value_name = "NAME",
        help_heading = "Subject"
    )]
    pub(crate) names: Vec<String>,

    /// File for the subjects' standard input [default: empty]
    #[arg(long, value_name = "FILE", help_heading = "Subject")]
    pub(crate) input: Option<PathBuf>,

    /// Where the subjects' output goes: `null`, `inherit` or a file [default: null]
    #[arg(long, value_name = "WHERE", help_heading = "Subject")]
    pub(crate) output: Option<String>,

    /// Use runs that fail; with CODES, only these exit codes
    #[arg(short, long, value_name = "CODES", num_args = 0..=1, require_equals = true, value_delimiter = ',', help_heading = "Subject")]
    pub(crate) ignore_failure: Option<Vec<i32>>,

    /// End a run after this time; its time then counts as a lower bound
    #[arg(long, value_name = "DURATION", value_parser = timeout, help_heading = "Subject")]
    pub(crate) timeout: Option<Duration>,

    #[command(flatten)]
    pub(crate) conditions: ConditionFlags,

    /// Trace the kernel's scheduler, interrupts and page faults (needs root), and report by name
    /// who took time from each run
    #[arg(long, help_heading = "Metrics")]
    pub(crate) trace: bool,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,

    #[command(flatten)]
    pub(crate) exports: ExportFlags,

    /// Continue the session saved in FILE, and save it there; other flags may change when becalm stops and how it
    /// decides, but not how runs are made. --rounds and --max-time count from the beginning of
    /// the session
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) resume: Option<PathBuf>,
}

impl MeasureFlags {
    /// Puts what was given into the terms of a session, and leaves the rest unchanged.
    pub(crate) fn apply(&self, terms: &mut Terms) -> Result<(), CommandError> {
        terms.limits = terms.limits.followed_by(&self.limits());
        replace(&mut terms.confidence, self.confidence);
        replace_all(&mut terms.metrics, &self.metric);
        replace_all(&mut terms.metrics_json, &self.metric_json);
        replace(&mut terms.failure, self.failure_policy());
        terms.timeout = self.timeout.or(terms.timeout);
        self.servers.apply(terms)?;
        replace(&mut terms.warmup, self.warmup);
        if terms.runs.load.is_some() && terms.timeout.is_some() {
            return Err(CommandError::from(ServerTermsError::NotForServers("--timeout"))
                .hint("timeout=1s in --load is the time limit of each request"));
        }
        self.apply_to_runs(&mut terms.runs)?;
        self.elsewhere.apply(&mut terms.elsewhere);
        self.exports.apply(&mut terms.exports);
        Ok(())
    }

    /// Returns the limits that were given.
    pub(super) fn limits(&self) -> RoundLimits {
        RoundLimits {
            rounds: self.rounds,
            min_rounds: self.min_rounds,
            max_rounds: self.max_rounds,
            max_time: self.max_time,
            precision: None,
        }
    }

    fn apply_to_runs(&self, runs: &mut RunTerms) -> Result<(), CommandError> {
        self.conditions.apply(runs);
        let parameters =
            parameters(&self.parameter_list, &self.parameter_scan, self.parameter_step_size)?;
        replace_all(&mut runs.parameters, &parameters);
        replace_all(&mut runs.names, &self.names);
        replace(&mut runs.output, self.output.clone());
        replace(&mut runs.backend, self.backend);
        replace(&mut runs.counters, self.counters);
        replace(&mut runs.harness_time, self.harness_time);
        runs.trace |= self.trace;
        runs.layouts = self.layouts.or(runs.layouts);
        let shell = self.shell.clone().map(|shell| Some(shell).filter(|shell| shell != NO_SHELL));
        replace(&mut runs.shell, if self.no_shell { Some(None) } else { shell });
        replace(&mut runs.expect_output, self.expect_output.clone().map(Some));
        replace(&mut runs.iterations, self.iterations.clone().map(Some));
        replace(&mut runs.build, self.build.clone().map(Some));
        replace(&mut runs.harness, self.harness.clone().map(Some));
        replace(&mut runs.filter, self.filter.clone().map(Some));
        replace(&mut runs.setup, self.setup.clone().map(Some));
        replace(&mut runs.prepare, self.prepare.clone().map(Some));
        replace(&mut runs.conclude, self.conclude.clone().map(Some));
        replace(&mut runs.cleanup, self.cleanup.clone().map(Some));
        replace(&mut runs.input, self.input.clone().map(Some));
        Ok(())
    }

    /// Returns what happens to runs that fail, if that was given.
    fn failure_policy(&self) -> Option<FailurePolicy> {
        let codes = self.ignore_failure.as_ref()?;
        Some(if codes.is_empty() {
            FailurePolicy::Ignore
        } else {
            FailurePolicy::IgnoreCodes(codes.clone())
        })
    }
}

/// Rounds in which exact counts are made: enough to show that they are exact.
const COUNTED_ROUNDS: u32 = 2;

/// Returns when a session ends. A limit set by the user is kept even if it leaves no room for a
/// verdict.
pub(crate) fn stop(terms: &Terms, unlimited: &Unlimited) -> Result<Stop, CommandError> {
    if let (Some(least), Some(most)) = (terms.limits.min_rounds, terms.limits.max_rounds)
        && least > most
    {
        return Err(CommandError::usage(format!(
            "--min-rounds {least} is larger than --max-rounds {most}"
        )));
    }
    if terms.runs.backend == Backend::Callgrind && !terms.limits.is_any() {
        return Ok(Stop::Rounds(COUNTED_ROUNDS));
    }
    Ok(terms.limits.stop(unlimited))
}

/// Returns the command that the user gave in words, or as one line.
pub(crate) fn command_of(words: &[String], runs: &RunTerms) -> CommandLine {
    match words {
        [line] => CommandLine::Line(line.clone()),
        words => line_of(words, runs),
    }
}

/// Returns the command that the user gave in words: as one line if a shell should read it.
pub(crate) fn line_of(words: &[String], runs: &RunTerms) -> CommandLine {
    match words {
        [line] if runs.shell.is_some() => CommandLine::Line(line.clone()),
        words if runs.shell.is_some() => CommandLine::Line(shell_words::join(words)),
        words => CommandLine::Words(words.to_vec()),
    }
}

fn series_rule(text: &str) -> Result<String, String> {
    SeriesRule::parse(text)
        .map(|_| text.to_owned())
        .map_err(|error| becalm_model::with_causes(&error))
}

/// Checks the name of a harness.
fn harness_name(text: &str) -> Result<String, String> {
    if text == "auto" || harness(text).is_some() {
        return Ok(text.to_owned());
    }
    let names: Vec<&str> = HARNESSES.iter().map(|one| one.name).collect();
    Err(format!("there is no such harness; the harnesses are auto, {}", names.join(", ")))
}

fn timeout(text: &str) -> Result<Duration, String> {
    checked(parse_duration(text), |timeout| !timeout.is_zero(), "a timeout must be above zero")
}

/// Reads a probability: a confidence, a power.
pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    let why = "expected at least 50% and less than 100%";
    checked(parse_share(text), |share| (0.5..1.0).contains(share), why)
}
