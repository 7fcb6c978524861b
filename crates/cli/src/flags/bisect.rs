//! Flags of `becalm bisect`.

use std::path::PathBuf;

use becalm_model::terms::{RoundLimits, SubjectSource, Terms};
use clap::builder::Resettable;

use super::compare::margin;
use super::measure::{MeasureFlags, line_of};
use super::replace;
use crate::error::CommandError;

/// Find the commit that made a program slower, or faster
///
/// becalm builds commits between a good and a bad one, each in a worktree, and measures them in
/// rounds against the good one, until one of them is the first of the new level with the
/// probability --confidence. It first compares the two ends, for at most two minutes; without a
/// difference there is nothing to find. It skips commits that cannot be built or run; if only such
/// commits are left, it reports them as a group. --rounds applies to each step; --max-time and
/// --max-rounds limit the whole search. becalm saves the state after every step, and --resume
/// continues from it.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
#[command(mut_arg("resume", |arg| arg.help("Continue the search saved in FILE; other flags may change when becalm stops and how it decides, but not \
     how runs are made")))]
// The limits are those of the whole search.
#[command(mut_arg("rounds", |arg| arg.conflicts_with(Resettable::Reset).conflicts_with("min_rounds").help("Make N rounds in each step [default: as many as the change needs, at least 8]")))]
#[command(mut_arg("min_rounds", |arg| arg.help("Make at least N rounds in each step")))]
#[command(mut_arg("max_rounds", |arg| arg.help("Start no further step after N rounds in total")))]
#[command(mut_arg("max_time", |arg| arg.help("Start no further step after this time")))]
#[command(mut_arg("confidence", |arg| arg.help("Probability of the commit that ends the search [default: 95%]")))]
#[command(mut_arg("json", |arg| arg.help("Print the whole search as JSON to standard output")))]
#[command(mut_arg("export_json", |arg| arg.help("Save the whole search")))]
#[command(mut_arg("export_html", |arg| arg.hide(true)))]
#[command(mut_arg("export_markdown", |arg| arg.hide(true)))]
#[command(mut_arg("names", |arg| arg.hide(true)))]
#[command(mut_arg("trace", |arg| arg.hide(true)))]
pub(crate) struct Args {
    /// Program and arguments, after `--`, started in the folder of each build; a `*` in the name of
    /// the program matches anything
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "resume")]
    pub(crate) command: Vec<String>,

    /// The last commit that is known to be good
    #[arg(
        long,
        value_name = "REVISION",
        required_unless_present = "resume",
        help_heading = "Revisions"
    )]
    pub(crate) good: Option<String>,

    /// A later commit that has the change [default: HEAD]
    #[arg(long, value_name = "REVISION", help_heading = "Revisions")]
    pub(crate) bad: Option<String>,

    /// File for the state of the search, saved after every step [default:
    /// .becalm/bisect-GOOD-BAD.json in the repository]. Records of the steps go to FILE.d
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) state: Option<PathBuf>,

    /// Smallest relative change between the ends that is worth a search; 0 tests for any difference
    /// [default: 0%]
    #[arg(long, value_name = "SHARE", value_parser = margin, help_heading = "Deciding")]
    margin: Option<f64>,

    #[command(flatten)]
    pub(crate) flags: MeasureFlags,
}

impl Args {
    /// Returns the terms of the search: those of `before`, which continues, with what was given
    /// now. The number of rounds is for a step and the limits are for the whole search, so that
    /// they do not replace each other.
    pub(crate) fn terms(&self, before: Option<Terms>) -> Result<Terms, CommandError> {
        let mut terms = before.unwrap_or_default();
        let (before, given) = (terms.limits.clone(), self.flags.limits());
        self.flags.apply(&mut terms)?;
        terms.limits = RoundLimits {
            rounds: given.rounds.or(before.rounds),
            min_rounds: given.min_rounds.or(before.min_rounds),
            max_rounds: given.max_rounds.or(before.max_rounds),
            max_time: given.max_time.or(before.max_time),
            precision: None,
        };
        replace(&mut terms.margin, self.margin);
        if !self.command.is_empty() {
            let commands = vec![line_of(&self.command, &terms.runs)];
            terms.source = SubjectSource::Commands { commands };
        }
        Ok(terms)
    }
}
