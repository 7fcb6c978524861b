//! `becalm compare`: which is faster, and by how much?

use std::ffi::OsString;
use std::time::Duration;

use becalm_model::terms::{Goal, Stop};
use becalm_model::{Record, RecordKind, SessionNote, Subject, parse_share};
use becalm_report::{comparison_text, note_sentence};

use crate::args;
use crate::caller;
use crate::commands::history::now;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{
    self, CommandLine, Making, MeasureFlags, Revisions, Spent, Tracing, Wanted, conduct,
};
use crate::records;
use crate::ui::Ui;

/// Time after which no further round starts, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(30);

/// Rounds that are made however long they take, unless the user says otherwise.
const MINIMUM: u32 = 8;

/// The same for the benchmarks of a harness. They are all to be told apart at once, and a process of theirs takes
/// a second or several.
const HARNESS_BUDGET: Duration = Duration::from_secs(120);

/// With ten benchmarks each is judged at 99.5 %: fewer rounds cannot tell any apart, or hardly.
const HARNESS_MINIMUM: u32 = 12;

/// Compare commands: interleaved rounds in random order until the answer is known
///
/// The first command is the baseline. The verdict is `faster`, `slower`, `equivalent` (the interval
/// of the ratio lies inside the margin) or `inconclusive`. Rounds go on until the interval leaves
/// the margin or fits inside it, for 30 s at most but 8 rounds at least (2 min and 12 with --harness),
/// unless --max-time, --max-rounds, --min-rounds or --rounds say otherwise.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Args {
    /// The commands, each one argument, split into words like a shell would but without running one
    #[arg(value_name = "COMMAND", required_unless_present_any = ["aa", "resume"])]
    commands: Vec<String>,

    /// Compare a command with itself, to learn what this machine can resolve
    #[arg(long, value_name = "COMMAND", conflicts_with = "commands", help_heading = "Deciding")]
    aa: Option<String>,

    /// Compare revisions of the repository, each built in a worktree of its own: a branch, a tag, a commit, or
    /// `.` for the working tree as it is. The first is the baseline; the command, one for all, starts in
    /// the folder of each build, and may have a `*` in the name of its program
    #[arg(long, value_name = "REVISION", conflicts_with = "aa", help_heading = "Revisions")]
    rev: Vec<String>,
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
            let arguments = measuring::with_more(path, &record.arguments, given)?;
            let mut again = args::reparse_compare(&arguments)?;
            measuring::go_on(&mut again.flags, path, given, ui);
            (again, arguments, Some(record))
        }
    };
    let spent = resumed.as_ref().and_then(|record| spent(record, &args));
    let mut revisions = match &args.rev[..] {
        [] => None,
        names => match build(names, &args, ui)? {
            Outcome::Same(_) if resumed.is_some() => {
                return Err(CommandError::usage(
                    "the revisions have one program now, and the saved session measured several",
                )
                .hint("name the commits that it measured; the file stays as it was"));
            }
            Outcome::Same(note) => return say_same(&note, &args, arguments, ui),
            Outcome::Different(built) => Some(*built),
        },
    };
    let subjects = if let Some((_, subjects)) = &revisions {
        subjects.clone()
    } else {
        let commands: Vec<CommandLine> = match &args.aa {
            Some(command) => vec![CommandLine::Line(command.clone()); 2],
            None => args.commands.iter().cloned().map(CommandLine::Line).collect(),
        };
        measuring::subjects(&commands, &args.flags)?
    };
    if subjects.len() < 2 {
        return Err(CommandError::usage("there is nothing to compare: only one command").hint(
            "give two commands, or use --aa to compare a command with itself, or `becalm run`",
        ));
    }
    if args.aa.is_some() && subjects.len() > 2 {
        return Err(CommandError::usage("--aa takes one command without parameter scans"));
    }
    let wanted = Wanted {
        margin: args.margin,
        aa: args.aa.is_some(),
        resumed,
        spent,
        tracing: Tracing::of(&args.flags),
        // The worktrees stay until this function ends.
        builds: revisions.as_mut().map(|(revisions, _)| revisions.all()),
        ..Wanted::of("compare", RecordKind::Comparison, subjects, stop(&args), arguments)
    };
    if args.flags.harness.is_some()
        && let Stop::Until { minimum, budget: Some(budget), .. } = wanted.stop
    {
        ui.say(format!(
            "takes {} s, less if every benchmark is decided before, and more if {minimum} rounds take longer",
            budget.as_secs()
        ));
    }
    let finished = conduct(wanted, &args.flags, ui)?;
    finished.report(
        &args.flags,
        |record, disturbed| comparison_text(record, disturbed, ui.style()),
        ui,
    )
}

/// What the builds of several revisions came to.
enum Outcome {
    /// The program is the same in all of them, which is told so.
    Same(SessionNote),
    /// What to measure.
    Different(Box<(Revisions, Vec<Subject>)>),
}

fn build(names: &[String], args: &Args, ui: &Ui) -> Result<Outcome, CommandError> {
    if names.len() < 2 {
        return Err(CommandError::usage("one revision is compared with nothing")
            .hint("give --rev twice, as in --rev main --rev HEAD"));
    }
    let flags = &args.flags;
    if flags.conditions.memory.in_memory
        || !flags.parameter_list.is_empty()
        || !flags.parameter_scan.is_empty()
    {
        return Err(CommandError::usage(
            "--rev cannot be had together with --in-memory or with parameters",
        ));
    }
    let command = match &args.commands[..] {
        [line] => CommandLine::Line(line.clone()),
        words => CommandLine::of_words(words, flags),
    };
    let command = measuring::subjects(&[command], flags)?.remove(0).command;
    let user = caller::subject_user(flags.conditions.keep_root);
    let interrupt = caller::interrupt()?;
    measuring::check_exports(flags)?;
    let making = Making { words: &command, flags, user: user.as_ref(), interrupt, ui };
    let revisions = Revisions::build(names, making)?;
    if let Some(note) = revisions.identical(&command) {
        return Ok(Outcome::Same(note));
    }
    let mut subjects = revisions.subjects(&command)?;
    measuring::name(&mut subjects, &flags.names)?;
    Ok(Outcome::Different(Box::new((revisions, subjects))))
}

/// Says that there is nothing to measure.
fn say_same(
    same: &SessionNote,
    args: &Args,
    arguments: Vec<String>,
    ui: &Ui,
) -> Result<Exit, CommandError> {
    if !args.flags.exports.json {
        ui.print(&format!("{}.\n", note_sentence(&same.clone().into())))?;
    }
    let record = Record {
        arguments,
        started_at: now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        confidence: args.flags.confidence,
        margin: args.margin,
        machine: measuring::machine_facts()?,
        notes: vec![same.clone().into()],
        ..Record::empty(RecordKind::Comparison)
    };
    if args.flags.exports.json {
        ui.print(&records::json(&record))?;
    }
    measuring::export(&record, &[], &args.flags.exports)?;
    Ok(Exit::Done)
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

/// Returns what a session that goes on has spent of its error, where the present plan does not tell.
fn spent(record: &Record, now: &Args) -> Option<Spent> {
    let then = args::reparse_compare(&record.arguments).ok()?;
    let mut concluded = record.clone();
    let is_log = record.comparisons.is_empty();
    let is_over = if is_log {
        measuring::conclude_log(&mut concluded, stop(&then), then.margin, &then.flags).ok()?
    } else {
        record.interrupted.is_none()
    };
    let rounds = concluded.rounds();
    if is_over {
        return Some(Spent::All { rounds });
    }
    // What decided then has had its looks, whatever decides now.
    let plan = |args: &Args| (stop(args), args.flags.confidence, args.flags.metric.clone());
    let has_looked = matches!(
        stop(&then),
        Stop::Until { minimum, goal: Goal::Verdict, .. } if rounds >= minimum
    );
    (has_looked && plan(&then) != plan(now)).then_some(Spent::ByAnotherPlan { rounds })
}

fn stop(args: &Args) -> Stop {
    // An A/A is there to learn what can be resolved, which takes the whole budget.
    let goal = if args.aa.is_some() { Goal::Budget } else { Goal::Verdict };
    let (minimum, budget) = match args.flags.harness {
        Some(_) => (HARNESS_MINIMUM, HARNESS_BUDGET),
        None => (MINIMUM, BUDGET),
    };
    measuring::stop(&args.flags, minimum, budget, goal)
}
