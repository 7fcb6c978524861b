//! `becalm workload`: programs of a known amount of work, and a server of known service times.

mod serve;

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use becalm_lab::{IterateError, Options, PlaceError, Series, TimerChoice, Workload, iterate};
use becalm_machine::SysRoot;
use becalm_model::CpuSet;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Do a known amount of work, to test a machine, or becalm itself
///
/// The work is proportional to the amount: `becalm compare 'becalm workload compute --amount 10000'
/// 'becalm workload compute --amount 10200'` is a true slowdown of 2 % of that work.
///
/// With --iterations the workload repeats its work, times each iteration from inside, and prints
/// the seconds of each after the last one: a line per iteration, with a column per task.
///
/// `becalm workload serve` is a server, to test `becalm load` and other generators of load.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    server: Option<Server>,

    /// Which work
    #[arg(value_parser = names(), required = true)]
    name: Option<Workload>,

    /// Amount of work: in total (the default takes roughly 20 ms), or in each iteration
    #[arg(long, value_name = "N")]
    amount: Option<u64>,

    /// Do it this many times, and print how long each took
    #[arg(long, value_name = "N")]
    iterations: Option<NonZeroUsize>,

    /// First do this many iterations that are not printed
    #[arg(long, value_name = "N", default_value_t = 0, requires = "iterations")]
    warmup: usize,

    /// Run on this CPU; with a list, several tasks take its CPUs in turns
    #[arg(long, value_name = "CPU", requires = "iterations")]
    pin: Option<CpuSet>,

    /// Lock all memory so that it is not paged out, and fault it in first (mlockall)
    #[arg(long, requires = "iterations")]
    mlock: bool,

    /// Run this many at the same time
    #[arg(long, value_name = "N", requires = "iterations")]
    tasks: Option<NonZeroUsize>,

    /// Timer: the time-stamp counter, or `CLOCK_MONOTONIC_RAW` [default: the counter, if processor
    /// and kernel declare it reliable]
    #[arg(long, value_enum, requires = "iterations")]
    timer: Option<TimerFlag>,

    /// Print the iterations as JSON
    #[arg(long, requires = "iterations")]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Server {
    Serve(serve::Args),
}

/// See [`TimerChoice`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TimerFlag {
    /// The time-stamp counter.
    Tsc,
    /// `CLOCK_MONOTONIC_RAW`.
    Clock,
}

fn names() -> impl TypedValueParser<Value = Workload> {
    let value = |workload: Workload| {
        let help = format!("{} ({})", workload.description(), workload.unit());
        PossibleValue::new(workload.name()).help(help)
    };
    PossibleValuesParser::new(Workload::all().map(value))
        .map(|name| Workload::from_name(&name).expect("the parser accepts only names of workloads"))
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if let Some(Server::Serve(args)) = &args.server {
        return serve::run(args, ui);
    }
    let name = args.name.expect("clap requires a name where there is no server");
    let Some(iterations) = args.iterations else {
        let amount = args.amount.unwrap_or_else(|| name.default_amount());
        let checksum = if name.is_of_several() {
            // On its CPUs and in its threads, as with --iterations, once.
            let once = Options { amount: Some(amount), ..Options::new(NonZeroUsize::MIN) };
            iterate(name, &once, &SysRoot::default()).map_err(refused)?.checksum
        } else {
            name.run(amount).map_err(CommandError::measure)?
        };
        ui.print(&format!("{checksum:016x}\n"))?;
        return Ok(Exit::Done);
    };
    let options = Options {
        warmup: args.warmup,
        amount: args.amount,
        pin: args.pin.clone(),
        lock_memory: args.mlock,
        tasks: args.tasks,
        timer: match args.timer {
            None => TimerChoice::Auto,
            Some(TimerFlag::Tsc) => TimerChoice::Tsc,
            Some(TimerFlag::Clock) => TimerChoice::Clock,
        },
        ..Options::new(iterations)
    };
    let series = iterate(name, &options, &SysRoot::default()).map_err(refused)?;
    ui.print(&if args.json { json(&series) } else { lines(&series) })?;
    Ok(Exit::Done)
}

/// A wrong request is a different error from something that the machine does not have.
fn refused(error: IterateError) -> CommandError {
    match error {
        IterateError::TooMany { .. }
        | IterateError::TooManyThreads(_)
        | IterateError::Place(PlaceError::NotAllowed { .. } | PlaceError::TooMany { .. }) => {
            CommandError::usage(error)
        }
        error => CommandError::measure(error),
    }
}

/// A line per iteration, a column per task. A tenth of a nanosecond is finer than any timer.
fn lines(series: &Series) -> String {
    let iterations = series.tasks.first().map_or(0, |task| task.seconds.len());
    let mut text = String::new();
    for iteration in 0..iterations {
        let columns: Vec<String> =
            series.tasks.iter().map(|task| format!("{:.10}", task.seconds[iteration])).collect();
        let _ = writeln!(text, "{}", columns.join("\t"));
    }
    text
}

fn json(series: &Series) -> String {
    let mut text = serde_json::to_string(&series.document()).expect("plain values are JSON");
    text.push('\n');
    text
}
