//! Flags of `becalm compare`.

use std::time::Duration;

use becalm_model::terms::{CommandLine, Goal, RunTerms, SubjectSource, Terms, Unlimited};

use super::measure::{MeasureFlags, command_of, stop};
use super::verbose::VerboseFlag;
use super::{change, checked, replace};
use crate::error::CommandError;

/// Time after which no further round starts, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(30);

/// Rounds that are made regardless of their duration, unless the user sets a number.
const MINIMUM: u32 = 8;

/// The same for the benchmarks of a harness. All of them have to be decided at once, and each of
/// their processes takes a second or more.
const HARNESS_BUDGET: Duration = Duration::from_secs(120);

/// The same for servers, whose runs take seconds each.
const SERVER_BUDGET: Duration = Duration::from_secs(120);

/// With ten benchmarks each is judged at 99.5 %: fewer rounds can hardly show any difference.
const HARNESS_MINIMUM: u32 = 12;

/// Compare commands in turns until the answer is known
///
/// The first command is the baseline. The verdict is `faster`, `slower`, `equivalent` (the interval
/// of the ratio lies inside the margin) or `inconclusive`. Rounds go on until the interval leaves
/// the margin or fits inside it, for 30 s at most but 8 rounds at least (2 min and 12 with --harness,
/// 2 min and 8 with --load), unless --max-time, --max-rounds, --min-rounds or --rounds say otherwise.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Args {
    /// The commands, each as one argument; becalm splits them into words like a shell, but runs no
    /// shell. With --load, also URLs of running servers
    #[arg(value_name = "COMMAND", required_unless_present_any = ["aa", "resume"])]
    pub(crate) commands: Vec<String>,

    /// Compare a command with itself, to learn how small a change this machine can resolve
    #[arg(long, value_name = "COMMAND", conflicts_with = "commands", help_heading = "Deciding")]
    aa: Option<String>,

    /// Compare revisions of the repository, each built in a separate worktree: a branch, a tag, a
    /// commit, or `.` for the working tree as it is. The first is the baseline. The single command
    /// starts in the folder of each build, and the name of its program may contain a `*`
    #[arg(long, value_name = "REVISION", conflicts_with = "aa", help_heading = "Revisions")]
    rev: Vec<String>,
    /// Smallest relative change that matters; 0 tests for any difference [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = margin, help_heading = "Deciding")]
    margin: Option<f64>,

    #[command(flatten)]
    pub(crate) flags: MeasureFlags,

    #[command(flatten)]
    pub(crate) verbose: VerboseFlag,
}

/// Reads a margin.
pub(crate) fn margin(text: &str) -> Result<f64, String> {
    let why = "a margin of 100% or more cannot decide anything";
    checked(change(text), |share| *share < 1.0, why)
}

/// Smallest change that matters unless the user says otherwise.
pub(crate) const MARGIN: f64 = 0.01;

impl Args {
    /// Returns the only command, if no revisions and no A/A are asked for.
    pub(crate) fn only_command(&self) -> Option<&str> {
        match &self.commands[..] {
            [one] if self.rev.is_empty() && self.aa.is_none() => Some(one),
            _ => None,
        }
    }

    /// Returns the terms of the session: those of `before`, which continues, with what was given
    /// now.
    pub(crate) fn terms(&self, before: Option<Terms>) -> Result<Terms, CommandError> {
        let mut terms = before.unwrap_or_else(|| Terms { margin: MARGIN, ..Terms::default() });
        self.flags.apply(&mut terms)?;
        replace(&mut terms.margin, self.margin);
        terms.source = self.source(terms.source, &terms.runs)?;
        let (minimum, budget) = match (&terms.runs.harness, &terms.runs.load) {
            (Some(_), _) => (HARNESS_MINIMUM, HARNESS_BUDGET),
            (None, Some(_)) => (MINIMUM, SERVER_BUDGET),
            (None, None) => (MINIMUM, BUDGET),
        };
        // An A/A is there to learn what can be resolved, which takes the whole budget.
        let goal = match terms.source {
            SubjectSource::Itself { .. } => Goal::Budget,
            _ => Goal::Verdict,
        };
        terms.stop = stop(&terms, &Unlimited { minimum, budget: Some(budget), goal })?;
        Ok(terms)
    }

    /// Returns what is measured, in place of what was measured before.
    fn source(
        &self,
        before: SubjectSource,
        runs: &RunTerms,
    ) -> Result<SubjectSource, CommandError> {
        if let Some(command) = &self.aa {
            return Ok(SubjectSource::Itself { command: CommandLine::Line(command.clone()) });
        }
        match (before, &self.rev[..], &self.commands[..]) {
            (before, [], []) => Ok(before),
            (SubjectSource::Revisions { revisions, .. }, [], words) => {
                Ok(SubjectSource::Revisions { revisions, command: command_of(words, runs) })
            }
            (_, [], lines) => Ok(SubjectSource::Commands {
                commands: lines.iter().cloned().map(CommandLine::Line).collect(),
            }),
            (SubjectSource::Revisions { command, .. }, names, []) => {
                Ok(SubjectSource::Revisions { revisions: names.to_vec(), command })
            }
            (_, _, []) => Err(CommandError::usage("the saved session measured no revisions")),
            (_, names, words) => Ok(SubjectSource::Revisions {
                revisions: names.to_vec(),
                command: command_of(words, runs),
            }),
        }
    }
}
