//! `becalm changes`: where the level of a series changed.

mod few;
mod kept;
mod review;
mod series;

use std::path::PathBuf;

use becalm_model::parse_share;
use becalm_model::wire::{CHANGES_SCHEMA, ChangePointDocument, ChangesDocument, TooFewValues};
use becalm_report::changes_text;
use becalm_series::{ChangeTerms, check_false_alarms};
use becalm_stats::changes::Rules;
use clap::ValueEnum;

use super::history::{SeriesFlags, StoreFlags, moment};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Show where the level of results changed over time
///
/// A change is confirmed when at least four runs are on a new level and their ranks are beyond what chance
/// does in a series that is looked at after every run; it stays where it was found. Younger suspects are
/// pending. Without --series the series of the history are looked at, and what is found is kept there.
/// Exit code 3: the series of the file has too few values for a change to be confirmed.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    review: Option<review::Command>,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    chosen: SeriesFlags,
    /// Also series that are not what their benchmark is about
    #[arg(long)]
    all: bool,
    /// Only changes for the worse
    #[arg(long)]
    regressions: bool,
    /// Only changes first reported since then: a date, or an age such as 90d
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<f64>,
    /// Also changes that were dismissed
    #[arg(long)]
    dismissed: bool,
    /// Read one series instead of a history: a JSON array of numbers, or one number a line; - for the input
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["benchmark", "metric", "branch", "all", "since", "dismissed", "regressions"]
    )]
    series: Option<PathBuf>,
    #[command(flatten)]
    finding: FindingFlags,
    /// Print them as JSON
    #[arg(long)]
    json: bool,
}

/// How changes are found, as flags.
#[derive(Debug, Clone, clap::Args)]
struct FindingFlags {
    /// Smallest relative change to report; by default what becalm.toml says, or any
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = "Finding")]
    margin: Option<f64>,
    /// Share of unchanged series of 500 runs in which a change may be confirmed, from 0.1% to 10%
    #[arg(long, value_name = "SHARE", value_parser = false_alarms, help_heading = "Finding")]
    false_alarms: Option<f64>,
    /// Which detector; what others than becalm's find is not kept
    #[arg(long, value_enum, default_value_t = Engine::Becalm, help_heading = "Finding")]
    engine: Engine,
    /// Otava's window; 50 without this
    #[arg(long, value_name = "N", help_heading = "Finding")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1000))]
    window: Option<u32>,
    /// Level of Otava's t test; 0.001 without this
    #[arg(long, value_name = "P", value_parser = probability, help_heading = "Finding")]
    p_value: Option<f64>,
    /// Fewest runs between two changes of ED-PELT; 10 without this
    #[arg(long, value_name = "N", help_heading = "Finding")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    distance: Option<u32>,
}

impl FindingFlags {
    /// Returns the rules for a series that has no name.
    fn rules(&self) -> Rules {
        let (margin, false_alarms) = (self.margin, self.false_alarms);
        ChangeTerms { margin, false_alarms, ..ChangeTerms::default() }.rules("", "")
    }

    /// Refuses what the engine would not look at.
    fn check(&self) -> Result<(), CommandError> {
        use Engine::{Becalm, Edpelt, Otava};
        let flags = [
            ("--margin", self.margin.is_some(), &[Becalm, Otava][..]),
            ("--false-alarms", self.false_alarms.is_some(), &[Becalm]),
            ("--window", self.window.is_some(), &[Otava]),
            ("--p-value", self.p_value.is_some(), &[Otava]),
            ("--distance", self.distance.is_some(), &[Edpelt]),
        ];
        for (flag, is_given, engines) in flags {
            if is_given && !engines.contains(&self.engine) {
                let names: Vec<String> = engines.iter().map(|engine| engine.name()).collect();
                return Err(CommandError::usage(format!(
                    "{flag} is for --engine {}, and {} does not look at it",
                    names.join(" or "),
                    self.engine.name()
                )));
            }
        }
        Ok(())
    }
}

/// A detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Ranks of the runs after a split among those before it, at a stated rate of false alarms
    Becalm,
    /// What Apache Otava 0.8.0 finds
    Otava,
    /// What ED-PELT finds
    Edpelt,
}

impl Engine {
    /// Returns its name, as the command line has it.
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if let Some(command) = &args.review {
        return review::run(command, ui);
    }
    args.finding.check()?;
    let Found { series, too_few, mut changes } = match &args.series {
        Some(path) => series::changes(path, &args.finding)?,
        None => kept::changes(args, ui)?,
    };
    if args.regressions {
        changes.retain(|change| change.kind == "regression" || change.kind == "change");
    }
    let document = ChangesDocument {
        schema: CHANGES_SCHEMA.to_owned(),
        engine: args.finding.engine.name(),
        series,
        too_few,
        changes,
    };
    ui.print_either(args.json, &document, |_| changes_text(&document, &ui.table_style()))?;
    // A history is listed; of one series it was asked whether it changed.
    let is_undecided = args.series.is_some() && too_few.is_some();
    Ok(if is_undecided { Exit::Inconclusive } else { Exit::Done })
}

/// What was found.
struct Found {
    /// In how many series.
    series: usize,
    /// Those in which nothing can be found yet.
    too_few: Option<TooFewValues>,
    changes: Vec<ChangePointDocument>,
}

/// Makes a document of a change, of which nobody knows yet where it is or which way is better.
fn document(change: &becalm_stats::changes::Change, state: &str) -> ChangePointDocument {
    ChangePointDocument {
        index: change.index,
        earliest: change.earliest,
        latest: change.latest,
        before: change.before,
        after: change.after,
        state: state.to_owned(),
        kind: "change".to_owned(),
        ..ChangePointDocument::default()
    }
}

fn false_alarms(text: &str) -> Result<f64, String> {
    let share = parse_share(text).map_err(|error| error.to_string())?;
    check_false_alarms(share).map_err(|error| error.to_string())
}

fn probability(text: &str) -> Result<f64, String> {
    let p = text.parse().ok().filter(|p| 0.0 < *p && *p <= 1.0);
    p.ok_or_else(|| "it is a number above 0, at most 1".to_owned())
}
