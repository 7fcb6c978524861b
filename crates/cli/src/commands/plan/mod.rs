//! `becalm plan`: how often to repeat what, from a pilot.

mod document;

use std::path::PathBuf;
use std::time::Duration;

use becalm_model::terms::{Goal as StopGoal, Stop, Terms};
use becalm_model::{DisturbedRun, PlanNote, Record, RecordKind, parse_duration};
use becalm_report::{Planned, PlannedComparison, plan_comparison_text, plan_text};
use becalm_session::{ComparisonPilot, PilotError, PilotRuns, Request, disturbed_runs, subjects};
use becalm_stats::decide::needed::{Wanted, needed};
use becalm_stats::levels::{Precision, cheapest, pilot};

use self::document::{json, json_of_comparison};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::compare::MARGIN;
use crate::flags::{MeasureFlags, change, checked, confidence, line_of};
use crate::measuring::conduct;
use crate::records;
use crate::ui::Ui;

/// Rounds of a pilot and runs in each, unless the user says otherwise.
const ROUNDS: u32 = 10;
const COPIES: u16 = 3;

/// The same for the pilot of a comparison: with more rounds, their variance is better known.
const ROUNDS_OF_COMPARISON: u32 = 60;
const COPIES_OF_COMPARISON: u16 = 2;

/// Confidence of what a pilot of a comparison leaves open.
const RANGE: f64 = 0.9;

/// With fewer rounds than this, a plan is a rough one.
const ROUGH_BELOW: usize = 10;

/// Time after which a pilot starts no further round, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(30);

/// Fewest rounds of a pilot, regardless of their duration.
const FEWEST_ROUNDS: u32 = 5;

/// Plan how many rounds a measurement needs, from a pilot
///
/// The pilot is a saved record, or is made now: ten rounds with three runs each. becalm separates
/// its variance by level (iterations inside a run, runs inside a round, rounds), and finds the
/// number of each that reaches the goal in the least time. With --iterations, it uses the times
/// that the subject measured itself (after the warm-up, without single interrupted ones), otherwise
/// one value per run. A saved record must contain how long its runs took.
///
/// With --detect the plan is for `compare`: how many rounds it needs to detect the change, on the
/// metric that would decide, with runs in pairs and looks at the result on the way. The pilot
/// compares the command with itself, for 60 rounds of two runs; a saved record of two programs
/// works too.
#[derive(Debug, clap::Args)]
#[command(mut_arg("resume", |resume| resume.hide(true)))]
pub(crate) struct Args {
    /// A record that `run` or `compare` saved, instead of a command
    #[arg(value_name = "FILE", conflicts_with = "command")]
    pilot: Option<PathBuf>,

    /// Program and arguments, after `--`
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,

    /// Half width of the interval to reach, as a share [default: 1%, unless --detect is given]
    #[arg(long, value_name = "SHARE", value_parser = precision, conflicts_with = "detect", help_heading = "Goal")]
    precision: Option<f64>,

    /// Change between two programs that `compare` should detect
    #[arg(long, value_name = "SHARE", value_parser = above_zero, help_heading = "Goal")]
    detect: Option<f64>,

    /// Probability of detecting it
    #[arg(long, value_name = "SHARE", value_parser = confidence, default_value = "90%", help_heading = "Goal")]
    power: f64,

    /// Runs in each round of the pilot, which separate the variance of runs from that of rounds
    /// [default: 3; with --detect 2]
    #[arg(long, value_name = "N", help_heading = "Pilot")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=50))]
    copies: Option<u16>,

    /// Time that a new round takes in addition to its runs, such as for a rebuild or a reboot
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "0s", help_heading = "Pilot")]
    round_cost: Duration,

    #[command(flatten)]
    flags: MeasureFlags,
}

fn above_zero(text: &str) -> Result<f64, String> {
    checked(change(text), |share| *share > 0.0, "expected a share above 0, such as 1%")
}

fn precision(text: &str) -> Result<f64, String> {
    checked(above_zero(text), |share| *share < 1.0, "expected less than 100%")
}

pub(crate) fn run(mut args: Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    if args.flags.resume.is_some() {
        return Err(CommandError::usage("a pilot cannot be resumed; start a new one"));
    }
    if args.detect.is_some() && !args.round_cost.is_zero() {
        let message = "--round-cost is for plans of one program, and --detect is for a comparison";
        return Err(
            CommandError::usage(message).hint("`compare` does not make a new layout in each round")
        );
    }
    // A record that is printed as JSON is what `run` is for.
    let as_json = std::mem::take(&mut args.flags.exports.json);
    let terms = terms(&args)?;
    let answer = |record: &Record, disturbed: &[DisturbedRun]| {
        Ok::<_, CommandError>(if let Some(change) = args.detect {
            let planned = planned_comparison(record, change, &args, &terms)?;
            let text = if as_json {
                json_of_comparison(&planned)
            } else {
                plan_comparison_text(&planned, ui.style())
            };
            (text, planned.needed.is_some())
        } else {
            let planned = planned(record, disturbed, &args, &terms)?;
            let text = if as_json { json(&planned) } else { plan_text(&planned, ui.style()) };
            (text, planned.plan.is_some())
        })
    };
    if let Some(path) = &args.pilot {
        let record = records::read_measured(path)?;
        let (text, reaches) = answer(&record, &disturbed_runs(&record))?;
        ui.print(&text)?;
        return Ok(if reaches { Exit::Done } else { Exit::Inconclusive });
    }
    if args.command.is_empty() {
        return Err(CommandError::usage("nothing to plan for")
            .hint("give a saved record, or a command after `--` for a pilot"));
    }
    let command = line_of(&args.command, &terms.runs);
    let usual = if args.detect.is_some() { COPIES_OF_COMPARISON } else { COPIES };
    let copies = usize::from(args.copies.unwrap_or(usual));
    let subjects = subjects(&vec![command; copies], &terms.runs)?;
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
    let (text, reaches) = answer(&finished.record, &finished.disturbed).map_err(without_number)?;
    let exit = finished.report(|_, _| text.clone(), ui)?;
    Ok(if exit == Exit::Done && !reaches { Exit::Inconclusive } else { exit })
}

/// Names the command without the number of its copy, which the user did not type.
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
    let usual = if args.detect.is_some() { ROUNDS_OF_COMPARISON } else { ROUNDS };
    terms.stop = match limits.rounds {
        Some(rounds) => Stop::Rounds(rounds),
        None => Stop::Until {
            minimum: limits.min_rounds.unwrap_or(FEWEST_ROUNDS),
            maximum: Some(limits.max_rounds.unwrap_or(usual)),
            budget: Some(limits.max_time.unwrap_or(BUDGET)),
            goal: StopGoal::Budget,
        },
    };
    Ok(terms)
}

/// Returns the name of the metric that the user asked for.
fn metric(args: &Args) -> Option<&str> {
    let metric = args.flags.metric.iter().find(|text| *text != "auto");
    metric.map(|text| text.split(['=', '[']).next().unwrap_or(text))
}

/// Plans a comparison from a record.
fn planned_comparison(
    record: &Record,
    change: f64,
    args: &Args,
    terms: &Terms,
) -> Result<PlannedComparison, CommandError> {
    let mut of = ComparisonPilot::of(record, metric(args))?;
    if of.rounds < ROUGH_BELOW {
        of.notes.push(PlanNote::RoughPilot { of_highest: of.rounds }.into());
    }
    // What is inside the margin is not looked for.
    let margin = if change > MARGIN { MARGIN } else { 0.0 };
    let wanted = Wanted { change, power: args.power, confidence: terms.confidence, margin };
    let (low, high) = of.spread.limits(RANGE);
    let rounds = |deviation| needed(deviation, &wanted).map(|needed| needed.rounds);
    Ok(PlannedComparison {
        subject: of.subject,
        metric: of.metric,
        is_named: metric(args).is_some(),
        unit: of.unit,
        typical: of.typical,
        spread: of.spread,
        rounds: of.rounds,
        seconds: of.seconds,
        wanted,
        usual_margin: MARGIN,
        needed: needed(of.spread.deviation, &wanted),
        range: rounds(low).map(|low| (low, rounds(high))),
        notes: of.notes,
    })
}

/// Plans the repetitions of one program from a record.
fn planned(
    record: &Record,
    disturbed: &[DisturbedRun],
    args: &Args,
    terms: &Terms,
) -> Result<Planned, CommandError> {
    let mut of = PilotRuns::of(record, disturbed, metric(args))?;
    let found = pilot(&of.runs, args.round_cost.as_secs_f64()).map_err(PilotError::from)?;
    let df = found.levels[0].component.df;
    if df + 1 < ROUGH_BELOW {
        of.notes.push(PlanNote::RoughPilot { of_highest: df + 1 }.into());
    }
    let confidence = terms.confidence;
    let goal = Precision { share: args.precision.unwrap_or(0.01), confidence };
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
