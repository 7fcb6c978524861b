//! `becalm bisect`: which commit made it slower?

mod answer;
mod check;
mod known;
mod measure;
mod range;
mod search;
mod state;

use std::ffi::OsString;
use std::path::PathBuf;

use becalm_model::wire::{BisectDocument, BisectState};
use clap::builder::Resettable;

use self::range::Range;
use self::search::Search;
use self::state::Saved;
use super::compare::margin;
use crate::args;
use crate::caller;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::files;
use crate::measuring::{self, CommandLine, Making, MeasureFlags, PaceFlag, Repository, Revisions};
use crate::ui::Ui;

/// Find the commit that made a program slower, or faster
///
/// Commits between a good end and a bad one are built in worktrees of their own and measured in rounds against
/// the good end, until one of them is the first of the new level with the probability --confidence. The ends are
/// compared first, for at most two minutes; without a difference there is nothing to find. A commit that cannot be
/// built or run is skipped; where only such commits are left, the group is named. --rounds are those of each step, --max-time and
/// --max-rounds limit the whole search. The state is saved after every step, and --resume goes on from it.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
#[command(mut_arg("resume", |arg| arg.help("Go on with the search saved in FILE; further flags say what it takes to decide, and not how runs are made")))]
// The limits are those of the whole search.
#[command(mut_arg("rounds", |arg| arg.conflicts_with(Resettable::Reset).conflicts_with("min_rounds").help("Make N rounds in each step; else as many as the change needs, at least 8")))]
#[command(mut_arg("min_rounds", |arg| arg.help("Make at least N rounds in each step")))]
#[command(mut_arg("max_rounds", |arg| arg.help("Start no further step after N rounds in all")))]
#[command(mut_arg("max_time", |arg| arg.help("Start no further step after this time")))]
#[command(mut_arg("confidence", |arg| arg.help("Probability of the commit that ends the search")))]
#[command(mut_arg("json", |arg| arg.help("Print the whole search as JSON to standard output")))]
#[command(mut_arg("export_json", |arg| arg.help("Save the whole search")))]
#[command(mut_arg("export_html", |arg| arg.hide(true)))]
#[command(mut_arg("export_markdown", |arg| arg.hide(true)))]
#[command(mut_arg("names", |arg| arg.hide(true)))]
#[command(mut_arg("trace", |arg| arg.hide(true)))]
pub(crate) struct Args {
    /// Program and arguments, after `--`, started in the folder of each build; a `*` in the name of the program
    /// stands for anything
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "resume")]
    command: Vec<String>,

    /// The last commit that is known to be as it was
    #[arg(
        long,
        value_name = "REVISION",
        required_unless_present = "resume",
        help_heading = "Revisions"
    )]
    good: Option<String>,

    /// A commit that has the change, later in the history; HEAD unless said otherwise
    #[arg(long, value_name = "REVISION", help_heading = "Revisions")]
    bad: Option<String>,

    /// Where the search is saved after every step; .becalm/bisect-GOOD-BAD.json in the repository unless said
    /// otherwise. Records of the steps go into FILE.d
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    state: Option<PathBuf>,

    /// Smallest relative change between the ends that is worth a search; 0 asks for a difference only
    #[arg(long, value_name = "SHARE", value_parser = margin, default_value = "0%", help_heading = "Deciding")]
    margin: f64,

    #[command(flatten)]
    flags: MeasureFlags,
}

pub(crate) fn run(args: Args, given: &[OsString], ui: &Ui) -> Result<Exit, CommandError> {
    let ends = [args.good.clone(), args.bad.clone()];
    let (mut args, arguments, resumed, ends) = match &args.flags.resume {
        None => (args, measuring::as_texts(given), None, ends),
        Some(path) => {
            let saved = Saved::read(path)?;
            let arguments = measuring::with_more(path, &saved.document.arguments, given)?;
            // Branches move, and the ends of the search stay.
            let [good, bad] = ends;
            let ends = [good.or_else(|| Some(saved.good_id())), bad.or_else(|| saved.bad_id())];
            (args::reparse_bisect(&arguments)?, arguments, Some(saved), ends)
        }
    };
    refuse_senseless(&args)?;
    let exports = (args.flags.exports.json, args.flags.exports.export_json.take());
    args.flags.exports.json = false;
    if let Some(path) = &exports.1 {
        files::check_writable(path)?;
    }
    let user = caller::subject_user(args.flags.conditions.keep_root);
    let repository = Repository::here("bisect", user.clone())?;
    let [good, bad] = ends.map(|end| end.unwrap_or_else(|| "HEAD".to_owned()));
    let range = Range::between(&repository, &good, &bad)?;
    let line = CommandLine::of_words(&args.command, &args.flags);
    let words = measuring::subjects(&[line], &args.flags)?.remove(0).command;
    let saved = match resumed {
        Some(saved) => saved.go_on(&range, &words, &args, arguments)?,
        None => Saved::begin(&repository, &range, &words, &args, arguments)?,
    };
    let interrupt = caller::interrupt()?;
    let making = Making { words: &words, flags: &args.flags, user: user.as_ref(), interrupt, ui };
    let revisions = Revisions::none(repository, making)?;
    let document = Search::new(saved, revisions, making, args.margin, &range).run()?;
    finish(&document, exports, ui)
}

fn refuse_senseless(args: &Args) -> Result<(), CommandError> {
    let flags = &args.flags;
    if flags.conditions.pace == PaceFlag::On {
        return Err(CommandError::usage(
            "bisect cannot be had together with --pace on: it puts the rounds of several sessions together, \
             and the pace of one says nothing about another",
        ));
    }
    let senseless = if flags.conditions.memory.in_memory {
        "--in-memory"
    } else if !flags.parameter_list.is_empty() || !flags.parameter_scan.is_empty() {
        "a scan of parameters"
    } else if flags.trace {
        "--trace"
    } else if flags.exports.export_html.is_some() || flags.exports.export_markdown.is_some() {
        "an HTML or Markdown report"
    } else if !flags.names.is_empty() {
        "--name"
    } else {
        return Ok(());
    };
    Err(CommandError::usage(format!("bisect cannot be had together with {senseless}")))
}

/// Prints and saves the answer.
fn finish(
    document: &BisectDocument,
    (as_json, path): (bool, Option<PathBuf>),
    ui: &Ui,
) -> Result<Exit, CommandError> {
    if let Some(path) = path {
        files::write_atomically(&path, &state::json(document))?;
    }
    if as_json {
        ui.print(&state::json(document))?;
    } else {
        let check = check::command(document)?;
        ui.print(&becalm_report::bisect_text(document, &check, ui.style()))?;
    }
    Ok(if document.state == BisectState::Found { Exit::Done } else { Exit::Inconclusive })
}
