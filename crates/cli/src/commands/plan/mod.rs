//! `becalm plan`: how often to repeat what, from a pilot.

mod document;

use std::path::PathBuf;
use std::time::Duration;

use becalm_model::terms::{Goal as StopGoal, Stop, Terms};
use becalm_model::{DisturbedRun, PlanNote, Record, RecordKind, parse_duration, parse_share};
use becalm_report::{Planned, plan_text};
use becalm_session::{PilotError, PilotRuns, Request, disturbed_runs, subjects};
use becalm_stats::levels::{Goal, cheapest, pilot};

use self::document::json;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::{MeasureFlags, checked, confidence, line_of};
use crate::measuring::conduct;
use crate::records;
use crate::ui::Ui;

/// Rounds of a pilot, unless the user says otherwise.
const ROUNDS: u32 = 10;

/// Time after which a pilot starts no further round, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(30);

/// Fewest rounds of a pilot, however long they take.
const FEWEST_ROUNDS: u32 = 5;

/// Plan how many rounds, runs and iterations a measurement needs, from a pilot
///
/// The pilot is a saved record, or made on the spot: ten rounds with three runs each. Its variance
/// is told apart by level (iterations inside a run, runs inside a round, rounds), and the numbers of
/// each that reach the goal in the least time are found. With --iterations the subject's own timings
/// count (after the warm-up, without single interrupted ones), else one value of each run. A saved
/// record has to tell how long its runs took.
#[derive(Debug, clap::Args)]
#[command(mut_arg("resume", |resume| resume.hide(true)))]
pub(crate) struct Args {
    /// A record that `run` or `compare` saved, instead of a command
    #[arg(value_name = "FILE", conflicts_with = "command")]
    pilot: Option<PathBuf>,

    /// Program and arguments, after `--`
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,

    /// Half width of the interval that is wanted, as a share; 1 % unless a change is to be found
    #[arg(long, value_name = "SHARE", value_parser = precision, conflicts_with = "detect", help_heading = "Goal")]
    precision: Option<f64>,

    /// Change between two programs that is to be found
    #[arg(long, value_name = "SHARE", value_parser = above_zero, help_heading = "Goal")]
    detect: Option<f64>,

    /// How likely it is to be found
    #[arg(long, value_name = "SHARE", value_parser = confidence, default_value = "90%", help_heading = "Goal")]
    power: f64,

    /// Runs in each round of the pilot, which tell the variance of runs from that of rounds
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Pilot")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=50))]
    copies: u16,

    /// What a new round takes beside its runs, such as a rebuild or a reboot
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "0s", help_heading = "Pilot")]
    round_cost: Duration,

    #[command(flatten)]
    flags: MeasureFlags,
}

fn above_zero(text: &str) -> Result<f64, String> {
    checked(parse_share(text), |share| *share > 0.0, "expected a share above 0, such as 1%")
}

fn precision(text: &str) -> Result<f64, String> {
    checked(above_zero(text), |share| *share < 1.0, "expected less than 100%")
}

pub(crate) fn run(mut args: Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    if args.flags.resume.is_some() {
        return Err(CommandError::usage("a pilot cannot be resumed; make it anew"));
    }
    // A record that is printed as JSON is what `run` is for.
    let as_json = std::mem::take(&mut args.flags.exports.json);
    let terms = terms(&args)?;
    let told = |planned: &Planned| {
        if as_json { json(planned) } else { plan_text(planned, ui.style()) }
    };
    if let Some(path) = &args.pilot {
        let record = records::read_measured(path)?;
        let planned = planned(&record, &disturbed_runs(&record), &args, &terms)?;
        ui.print(&told(&planned))?;
        return Ok(if planned.plan.is_some() { Exit::Done } else { Exit::Inconclusive });
    }
    if args.command.is_empty() {
        return Err(CommandError::usage("nothing to plan for")
            .hint("give a record that was saved, or a command after `--` for a pilot"));
    }
    let command = line_of(&args.command, &terms.runs);
    let subjects = subjects(&vec![command; usize::from(args.copies)], &terms.runs)?;
    let names: Vec<String> = subjects.iter().map(|one| one.name.clone()).collect();
    let request = Request {
        aa: true,
        ..Request::new("plan", RecordKind::Run, terms.clone(), subjects, given.to_vec())
    };
    let without_number = |error| of_one_command(error, &names);
    let mut finished = conduct(request, ui).map_err(without_number)?.once_only();
    finished.failure = finished.failure.map(without_number);
    if finished.failure.is_some() || finished.signal.is_some() {
        return finished.report(|_, _| String::new(), ui);
    }
    let planned =
        planned(&finished.record, &finished.disturbed, &args, &terms).map_err(without_number)?;
    let exit = finished.report(|_, _| told(&planned), ui)?;
    Ok(if exit == Exit::Done && planned.plan.is_none() { Exit::Inconclusive } else { exit })
}

/// Names the command without the number of its copy, which the user did not give.
fn of_one_command(error: CommandError, names: &[String]) -> CommandError {
    let Some((first, copies)) = names.split_first() else { return error };
    let message = copies.iter().fold(error.message, |message, copy| {
        message.replace(&format!("`{copy}`"), &format!("`{first}`"))
    });
    CommandError { message, ..error }
}

fn terms(args: &Args) -> Result<Terms, CommandError> {
    let mut terms = Terms::default();
    args.flags.apply(&mut terms)?;
    let limits = &terms.limits;
    terms.stop = match limits.rounds {
        Some(rounds) => Stop::Rounds(rounds),
        None => Stop::Until {
            minimum: limits.min_rounds.unwrap_or(FEWEST_ROUNDS),
            maximum: Some(limits.max_rounds.unwrap_or(ROUNDS)),
            budget: Some(limits.max_time.unwrap_or(BUDGET)),
            goal: StopGoal::Budget,
        },
    };
    Ok(terms)
}

/// Plans from a record.
fn planned(
    record: &Record,
    disturbed: &[DisturbedRun],
    args: &Args,
    terms: &Terms,
) -> Result<Planned, CommandError> {
    let metric = args.flags.metric.iter().find(|text| *text != "auto");
    let metric = metric.map(|text| text.split(['=', '[']).next().unwrap_or(text));
    let mut of = PilotRuns::of(record, disturbed, metric)?;
    let found = pilot(&of.runs, args.round_cost.as_secs_f64()).map_err(PilotError::from)?;
    let df = found.levels[0].component.df;
    if df < 9 {
        of.notes.push(PlanNote::RoughPilot { of_highest: df + 1 }.into());
    }
    let confidence = terms.confidence;
    let goal = match args.detect {
        Some(change) => Goal::Detect { change, power: args.power, confidence },
        None => Goal::Precision { share: args.precision.unwrap_or(0.01), confidence },
    };
    let plan = cheapest(&found.levels(), goal);
    Ok(Planned {
        subject: of.subject,
        metric: of.metric,
        unit: of.unit,
        as_the_pilot: found.as_it_was(goal),
        range: plan.as_ref().and_then(|plan| found.range(goal, plan)),
        pilot: found,
        goal,
        plan,
        warmup_iterations: of.warmup_iterations,
        by_layout: record.runs.iter().any(|run| run.layout.is_some()),
        notes: of.notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_above_zero() {
        assert_eq!(above_zero("2%"), Ok(0.02));
        assert!(above_zero("0%").is_err() && above_zero("x").is_err());
        assert_eq!((precision("2%"), above_zero("200%")), (Ok(0.02), Ok(2.0)));
        assert!(precision("200%").is_err() && precision("100%").is_err());
    }
}
