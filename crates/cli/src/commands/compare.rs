//! `becalm compare`: which is faster, and by how much?

use std::ffi::OsString;
use std::time::Duration;

use becalm_model::{Record, RecordKind, parse_share};
use becalm_report::comparison_text;
use becalm_runner::session::{Goal, Stop};

use crate::args;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{self, CommandLine, MeasureFlags, Tracing, Wanted, conduct};
use crate::ui::Ui;

/// Time after which no further round starts, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(30);

/// Rounds that are made however long they take, unless the user says otherwise.
const MINIMUM: u32 = 8;

/// Compare commands: interleaved rounds in random order until the answer is known
///
/// The first command is the baseline. The verdict is `faster`, `slower`, `equivalent` (the interval
/// of the ratio lies inside the margin) or `inconclusive`. Rounds go on until the interval leaves
/// the margin or fits inside it, at most for 30 s unless --max-time, --max-rounds or --rounds say
/// otherwise.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Args {
    /// The commands, each one argument, split into words like a shell would but without running one
    #[arg(value_name = "COMMAND", required_unless_present_any = ["aa", "resume"])]
    commands: Vec<String>,

    /// Compare a command with itself, to learn what this machine can resolve
    #[arg(long, value_name = "COMMAND", conflicts_with = "commands", help_heading = "Deciding")]
    aa: Option<String>,

    /// Smallest relative change that matters; 0 asks for a difference only
    #[arg(long, value_name = "SHARE", value_parser = margin, default_value = "1%", help_heading = "Deciding")]
    margin: f64,

    #[command(flatten)]
    flags: MeasureFlags,
}

/// Reads a margin.
pub(super) fn margin(text: &str) -> Result<f64, String> {
    match parse_share(text) {
        Ok(share) if share < 1.0 => Ok(share),
        Ok(_) => Err("a margin of 100% or more decides nothing".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn run(args: Args, given: &[OsString], ui: &Ui) -> Result<Exit, CommandError> {
    let (args, arguments, resumed) = match &args.flags.resume {
        None => (args, measuring::as_texts(given), None),
        Some(path) => {
            let record = measuring::read_resumed(path)?;
            let arguments = measuring::with_more(&record.arguments, given);
            (args::reparse_compare(&arguments)?, arguments, Some(record))
        }
    };
    let commands: Vec<CommandLine> = match &args.aa {
        Some(command) => vec![CommandLine::Line(command.clone()); 2],
        None => args.commands.iter().cloned().map(CommandLine::Line).collect(),
    };
    let subjects = measuring::subjects(&commands, &args.flags)?;
    if subjects.len() < 2 {
        return Err(CommandError::usage("there is nothing to compare: only one command").hint(
            "give two commands, or use --aa to compare a command with itself, or `becalm run`",
        ));
    }
    if args.aa.is_some() && subjects.len() > 2 {
        return Err(CommandError::usage("--aa takes one command without parameter scans"));
    }
    let wanted = Wanted {
        kind: RecordKind::Comparison,
        subjects,
        stop: stop(&args),
        margin: args.margin,
        aa: args.aa.is_some(),
        resumed,
        arguments,
        tracing: Tracing::of(&args.flags),
        statement: None,
    };
    let finished = conduct(wanted, &args.flags, ui)?;
    finished.report(
        &args.flags,
        |record, disturbed| comparison_text(record, disturbed, ui.style()),
        ui,
    )
}

/// Concludes from the runs of a log what its session would have; leaves a log of something else
/// as it is.
pub(crate) fn conclude_log(record: &mut Record) {
    if record.kind == RecordKind::Comparison
        && let Ok(args) = args::reparse_compare(&record.arguments)
    {
        // Arguments that were good enough to start with are good enough now.
        let _ = measuring::conclude_log(record, stop(&args), args.margin, &args.flags);
    }
}

fn stop(args: &Args) -> Stop {
    // An A/A is there to learn what can be resolved, which takes the whole budget.
    let goal = if args.aa.is_some() { Goal::Budget } else { Goal::Verdict };
    measuring::stop(&args.flags, MINIMUM, BUDGET, goal)
}
