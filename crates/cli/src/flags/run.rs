//! Flags of `becalm run`.

use std::path::Path;
use std::time::Duration;

use becalm_model::terms::{CommandLine, Goal, Stop, SubjectSource, Terms, Unlimited};

use super::change;
use super::measure::{MeasureFlags, line_of, stop};
use super::suite::SuiteFlags;
use super::verbose::VerboseFlag;
use crate::error::CommandError;

/// Time after which no further run starts, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(5);

/// The same if the user asks for a precision, which needs time.
const PRECISION_BUDGET: Duration = Duration::from_secs(60);

/// Runs that are made regardless of their duration, unless the user sets a number.
const MINIMUM: u32 = 10;

/// Measure one command or a suite: estimate, spread, disturbances
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Args {
    /// Program and arguments; put flags of becalm before it
    #[arg(value_name = "COMMAND", last = true, required_unless_present_any = ["resume", "suite"])]
    command: Vec<String>,

    /// Stop when the interval of the median extends at most this far to either side
    #[arg(long, value_name = "SHARE", value_parser = change, help_heading = "Rounds")]
    precision: Option<f64>,

    #[command(flatten)]
    pub(crate) suite: SuiteFlags,

    #[command(flatten)]
    pub(crate) flags: MeasureFlags,

    #[command(flatten)]
    pub(crate) verbose: VerboseFlag,
}

impl Args {
    /// Returns the terms of the session: those of `before`, which continues, with what was given
    /// now.
    pub(crate) fn terms(&self, before: Option<Terms>) -> Result<Terms, CommandError> {
        let mut terms = before.unwrap_or_default();
        self.flags.apply(&mut terms)?;
        terms.limits.precision = self.precision.or(terms.limits.precision);
        if let Some(suite) = self.suite.source() {
            terms.source = suite;
        } else if !self.command.is_empty() {
            let is_line =
                |word: &str| word.contains(char::is_whitespace) && !Path::new(word).exists();
            let commands = vec![match &self.command[..] {
                [line] if is_line(line) => CommandLine::Line(line.clone()),
                words => line_of(words, &terms.runs),
            }];
            terms.source = SubjectSource::Commands { commands };
        }
        terms.stop = if let SubjectSource::Suite { .. } = terms.source {
            stop_of_suite(&terms)
        } else {
            let budget = if terms.limits.precision.is_some() { PRECISION_BUDGET } else { BUDGET };
            let goal = terms.limits.precision.map_or(Goal::Budget, Goal::Precision);
            stop(&terms, &Unlimited { minimum: MINIMUM, budget: Some(budget), goal })?
        };
        Ok(terms)
    }
}

/// Returns the end of a whole suite; each benchmark has its own.
pub(crate) fn stop_of_suite(terms: &Terms) -> Stop {
    let budget = terms.limits.max_time;
    Stop::Until { minimum: 0, maximum: None, budget, goal: Goal::Budget }
}
