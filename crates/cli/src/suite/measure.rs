//! `becalm run --suite`: everything that was chosen, in one session.

use std::path::PathBuf;
use std::time::Duration;

use becalm_model::terms::{Goal, Stop};
use becalm_model::{Record, RecordKind};
use becalm_report::{SuiteEntry, outlook_text, suite_list_text, suite_text};
use becalm_runner::rounds::OnFailure;

use super::choose::choose;
use super::estimate::outlook;
use super::file::SuiteFile;
use super::resolve::{Benchmark, resolve};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{MeasureFlags, OnDisturbanceFlag, SuitePlan, Tracing, Wanted, conduct};
use crate::ui::Ui;

/// Flags of a suite.
#[derive(Debug, clap::Args)]
pub(crate) struct SuiteFlags {
    /// Measure the benchmarks of a suite, interleaved in one session: FILE, or the becalm.toml in this
    /// folder or above it. Each is measured as the file says; flags are for what it leaves open, but
    /// --rounds, --env and --max-time (for the whole suite) go before it
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Suite")]
    #[arg(conflicts_with_all = [
        "command", "precision", "min_rounds", "max_rounds", "metric", "metric_json", "iterations", "harness",
        "filter", "expect_output", "setup", "prepare", "conclude", "cleanup", "parameter_list",
        "parameter_scan", "shell", "names", "input", "in_memory", "build",
        "backend",
    ])]
    #[expect(clippy::option_option, reason = "how clap tells a flag without its value")]
    pub(crate) suite: Option<Option<PathBuf>>,

    /// Only benchmarks of this name, in which `*` stands for anything; may be given again
    #[arg(long, value_name = "PATTERN", help_heading = "Suite")]
    pub(crate) only: Vec<String>,

    /// Only benchmarks with this tag; given again, with any of them
    #[arg(long, value_name = "TAG", help_heading = "Suite")]
    pub(crate) tag: Vec<String>,

    /// List what would be measured and how long it would take, and end
    #[arg(long, help_heading = "Suite")]
    pub(crate) list: bool,

    /// End with the first benchmark that fails, instead of going on without it
    #[arg(long, help_heading = "Suite")]
    pub(crate) fail_fast: bool,
}

impl SuiteFlags {
    /// Refuses flags that mean nothing without a suite; clap lets them pass beside a command, which excludes
    /// one.
    pub(crate) fn refuse_alone(&self) -> Result<(), CommandError> {
        let is_there = [
            ("--only", !self.only.is_empty()),
            ("--tag", !self.tag.is_empty()),
            ("--list", self.list),
            ("--fail-fast", self.fail_fast),
        ];
        match is_there.iter().find(|(_, is_there)| *is_there && self.suite.is_none()) {
            Some((flag, _)) => Err(CommandError::usage(format!("{flag} is for a suite"))
                .hint("add --suite, which takes the benchmarks of becalm.toml")),
            None => Ok(()),
        }
    }
}

/// Says what is wrong with a suite, without measuring it.
pub(crate) fn check(file: &SuiteFile) -> Result<(), CommandError> {
    resolve(file, &MeasureFlags::defaults()).map(|_| ())
}

/// Measures a suite.
pub(crate) fn run(
    suite: &SuiteFlags,
    flags: &MeasureFlags,
    arguments: Vec<String>,
    resumed: Option<Record>,
    ui: &Ui,
) -> Result<Exit, CommandError> {
    if flags.conditions.on_disturbance == OnDisturbanceFlag::Redo {
        return Err(CommandError::usage("--on-disturbance redo cannot be had with --suite").hint(
            "the runs of a round have nothing to do with each other; disturbed ones are labelled",
        ));
    }
    let given = suite.suite.as_ref().and_then(Option::as_deref);
    let file = SuiteFile::read(given)?;
    let chosen = choose(resolve(&file, flags)?, &suite.only, &suite.tag)?;
    let own: Vec<_> = chosen.iter().map(|one| one.own).collect();
    let told = outlook_text(&outlook(&own));
    if suite.list {
        let entries: Vec<SuiteEntry> = chosen.iter().map(entry).collect();
        ui.print(&suite_list_text(&entries, ui.style()))?;
        ui.print(&format!("\n{told}\n"))?;
        return Ok(Exit::Done);
    }
    ui.say(&told);
    let mut plan = SuitePlan {
        each: Vec::new(),
        own,
        terms: Vec::new(),
        on_failure: if suite.fail_fast { OnFailure::End } else { OnFailure::LeaveOut },
    };
    let mut subjects = Vec::new();
    for Benchmark { subject, each, terms, .. } in chosen {
        subjects.push(subject);
        plan.each.push(each);
        plan.terms.push(terms);
    }
    // The end of everything; each benchmark has its own.
    let stop =
        Stop::Until { minimum: 0, maximum: None, budget: flags.max_time, goal: Goal::Budget };
    let wanted = Wanted {
        resumed,
        tracing: Tracing::of(flags),
        suite: Some(plan),
        ..Wanted::of("run --suite", RecordKind::Run, subjects, stop, arguments)
    };
    let finished = conduct(wanted, flags, ui)?;
    finished.report(flags, |record, disturbed| suite_text(record, disturbed, ui.style()), ui)
}

fn entry(one: &Benchmark) -> SuiteEntry {
    let seconds = |time: Duration| time.as_secs_f64();
    let (rounds, budget) = match one.own.stop {
        Stop::Rounds(rounds) => (Some(rounds), None),
        Stop::Until { maximum, budget, .. } => (maximum, budget.map(seconds)),
    };
    SuiteEntry {
        name: one.subject.name.clone(),
        tags: one.terms.tags.clone(),
        command: one.subject.command.clone(),
        rounds,
        budget,
    }
}
