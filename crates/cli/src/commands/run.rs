//! `becalm run`: one program, its distribution and what disturbed it.

use std::ffi::OsString;
use std::time::Duration;

use becalm_model::terms::{Goal, Stop};
use becalm_model::{RecordKind, parse_share};
use becalm_report::run_text;

use crate::args;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{self, CommandLine, MeasureFlags, Tracing, Wanted, conduct};
use crate::suite::{self, SuiteFlags};
use crate::ui::Ui;

/// Time after which no further run starts, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(5);

/// The same for those who ask for a precision, and get time for it.
const PRECISION_BUDGET: Duration = Duration::from_secs(60);

/// Runs that are made however long they take, unless the user says otherwise.
const MINIMUM: u32 = 10;

/// Measure one command, or a suite: estimate, distribution and evidence of disturbance
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Args {
    /// Program and arguments, after `--`
    #[arg(value_name = "COMMAND", last = true, required_unless_present_any = ["resume", "suite"])]
    command: Vec<String>,

    /// Stop when the interval of the median is at most this wide to either side
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = "Rounds")]
    precision: Option<f64>,

    #[command(flatten)]
    suite: SuiteFlags,

    #[command(flatten)]
    flags: MeasureFlags,
}

pub(crate) fn run(args: Args, given: &[OsString], ui: &Ui) -> Result<Exit, CommandError> {
    let (args, arguments, resumed) = match &args.flags.resume {
        None => (args, measuring::as_texts(given), None),
        Some(path) => {
            let record = measuring::read_resumed(path)?;
            let arguments = measuring::with_more(path, &record.arguments, given)?;
            let mut again = args::reparse_run(&arguments)?;
            measuring::go_on(&mut again.flags, path, given, ui);
            (again, arguments, Some(record))
        }
    };
    args.suite.refuse_alone()?;
    if args.suite.suite.is_some() {
        return suite::run(&args.suite, &args.flags, arguments, resumed, ui);
    }
    let command = CommandLine::of_words(&args.command, &args.flags);
    let subjects = measuring::subjects(&[command], &args.flags)?;
    let wanted = Wanted {
        resumed,
        tracing: Tracing::of(&args.flags),
        ..Wanted::of("run", RecordKind::Run, subjects, stop(&args), arguments)
    };
    let finished = conduct(wanted, &args.flags, ui)?;
    finished.report(&args.flags, |record, disturbed| run_text(record, disturbed, ui.style()), ui)
}

fn stop(args: &Args) -> Stop {
    let budget = if args.precision.is_some() { PRECISION_BUDGET } else { BUDGET };
    measuring::stop(
        &args.flags,
        MINIMUM,
        budget,
        args.precision.map_or(Goal::Budget, Goal::Precision),
    )
}
