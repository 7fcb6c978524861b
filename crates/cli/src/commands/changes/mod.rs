//! `becalm changes`: where the level of a series changed.

mod kept;
mod review;
mod series;

use std::path::PathBuf;

use becalm_model::parse_share;
use becalm_model::wire::{
    CHANGES_SCHEMA, ChangePointDocument, ChangesDocument, NOISIER, SeriesStateDocument,
    SpreadChangeDocument, TooFewValues,
};
use becalm_report::changes_text;
use becalm_series::{ChangeTerms, check_false_alarms};
use becalm_stats::changes::{Rules, Size};
use clap::ValueEnum;

use super::history::{CountedFlags, SeriesFlags, StoreFlags, moment};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::change;
use crate::ui::Ui;

/// Show where the level of results changed over time
///
/// A change is confirmed when at least three points are on a new level and are beyond chance for a series that is
/// tested after every run; it then keeps its place. Newer suspects are pending. becalm lists separately the series that
/// get noisier or quieter around their level, and those that are unstable or on a trend; only --json lists the changes
/// that are parts of these. Without --series becalm examines the series of the history and keeps its findings there.
/// Exit code 3: the series of the file has too few values to confirm a change.
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
    /// Include series that are not the main metric of their benchmark
    #[arg(long)]
    all: bool,
    /// Show only changes for the worse
    #[arg(long)]
    regressions: bool,
    /// Show only changes first reported since then: a date, or an age such as 90d
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<f64>,
    #[command(flatten)]
    counted: CountedFlags,
    /// List only the N worst changes [default: all up to 100, else 30]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Include changes that were dismissed
    #[arg(long)]
    dismissed: bool,
    /// Read one series instead of a history: a JSON array of numbers, or one number per line; `-`
    /// is standard input
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
    /// Smallest relative change to report [default: the value in becalm.toml, else any]
    #[arg(long, value_name = "SHARE", value_parser = change, help_heading = "Detecting")]
    margin: Option<f64>,
    /// Share of unchanged series of 500 points in which a change may be confirmed, from 0.1% to 10%
    #[arg(long, value_name = "SHARE", value_parser = false_alarms, help_heading = "Detecting")]
    false_alarms: Option<f64>,
    /// The size of a change, which margins are compared with [default: the value in becalm.toml, else median]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Detecting")]
    size: Option<SizeFlag>,
    /// Which detector to use; only the findings of becalm's own are kept
    #[arg(long, value_enum, default_value_t = Engine::Becalm, help_heading = "Detecting")]
    engine: Engine,
    /// Otava's window [default: 50]
    #[arg(long, value_name = "N", help_heading = "Detecting")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1000))]
    window: Option<u32>,
    /// Level of Otava's t test [default: 0.001]
    #[arg(long, value_name = "P", value_parser = probability, help_heading = "Detecting")]
    p_value: Option<f64>,
    /// Fewest points between two changes of ED-PELT [default: 10]
    #[arg(long, value_name = "N", help_heading = "Detecting")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    distance: Option<u32>,
}

impl FindingFlags {
    /// Returns the rules for a series that has no name.
    fn rules(&self) -> Rules {
        let (margin, false_alarms) = (self.margin, self.false_alarms);
        let size = self.size.map(Into::into);
        ChangeTerms { margin, false_alarms, size, ..ChangeTerms::default() }.rules("", "")
    }

    /// Refuses flags that the engine would ignore.
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
                    "{flag} is for --engine {}; --engine {} does not use it",
                    names.join(" or "),
                    self.engine.name()
                )));
            }
        }
        Ok(())
    }
}

/// What the size of a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum SizeFlag {
    /// The shift of the medians: the typical run
    #[default]
    Median,
    /// The ratio of the means: all runs together, so a new slow mode changes it
    Mean,
}

impl From<SizeFlag> for Size {
    fn from(flag: SizeFlag) -> Self {
        match flag {
            SizeFlag::Median => Self::Median,
            SizeFlag::Mean => Self::Mean,
        }
    }
}

/// A detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Compares ranks of the points after and before a split, at a stated rate of false alarms
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
    let Found { series, size, too_few, mut changes, mut spreads, mut states } = match &args.series {
        Some(path) => series::changes(path, &args.finding)?,
        None => kept::changes(args, ui)?,
    };
    if args.regressions {
        changes.retain(|change| change.kind == "regression" || change.kind == "change");
        spreads.retain(|change| change.kind == NOISIER);
        states.retain(|state| state.kind != "improvement");
    }
    let document = ChangesDocument {
        schema: CHANGES_SCHEMA.to_owned(),
        engine: args.finding.engine.name(),
        size: match size {
            Size::Median => "median",
            Size::Mean => "mean",
        }
        .to_owned(),
        series,
        too_few,
        changes,
        spreads,
        states,
    };
    let limit = args.limit.map(|limit| limit as usize);
    ui.print_either(args.json, &document, |style| {
        changes_text(&document, limit, style, ui.table_width())
    })?;
    // A history is listed; of one series it was asked whether it changed.
    let is_undecided = args.series.is_some() && too_few.is_some();
    Ok(if is_undecided { Exit::Inconclusive } else { Exit::Done })
}

/// What was found.
#[derive(Default)]
struct Found {
    /// In how many series.
    series: usize,
    /// What their sizes are.
    size: Size,
    /// Those in which no change can be found yet.
    too_few: Option<TooFewValues>,
    changes: Vec<ChangePointDocument>,
    spreads: Vec<SpreadChangeDocument>,
    states: Vec<SeriesStateDocument>,
}

fn false_alarms(text: &str) -> Result<f64, String> {
    let share = parse_share(text).map_err(|error| error.to_string())?;
    check_false_alarms(share).map_err(|error| error.to_string())
}

fn probability(text: &str) -> Result<f64, String> {
    let p = text.parse().ok().filter(|p| 0.0 < *p && *p <= 1.0);
    p.ok_or_else(|| "it is a number above 0, at most 1".to_owned())
}
