//! `becalm plan`: how often to repeat what, from a pilot.

mod document;
mod pilot;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use becalm_model::terms::{Goal as StopGoal, Stop, Terms};
use becalm_model::{DisturbedRun, Record, RecordKind, parse_duration, parse_share};
use becalm_report::{Planned, plan_text};
use becalm_session::{Request, subjects};
use becalm_stats::chi_squared::variance_factors;
use becalm_stats::levels::{Goal, Level, Pilot, Plan, cheapest, pilot, repetitions};

use self::document::json;
use self::pilot::{Values, left_out, note_values_inside, pilot_runs, same_program, warmup};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::{MeasureFlags, confidence, line_of};
use crate::measuring::{as_texts, conduct, disturbed_runs};
use crate::records;
use crate::ui::Ui;

/// Rounds of a pilot, unless the user says otherwise.
const ROUNDS: u32 = 10;

/// Time after which a pilot starts no further round, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(30);

/// Fewest rounds of a pilot, however long they take.
const FEWEST_ROUNDS: u32 = 5;

/// Confidence of what the pilot leaves open.
const RANGE: f64 = 0.9;

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
    match parse_share(text) {
        Ok(share) if share > 0.0 => Ok(share),
        Ok(_) => Err("expected a share above 0, such as 1%".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn precision(text: &str) -> Result<f64, String> {
    match above_zero(text) {
        Ok(share) if share >= 1.0 => Err("expected less than 100%".to_owned()),
        other => other,
    }
}

pub(crate) fn run(mut args: Args, given: &[OsString], ui: &Ui) -> Result<Exit, CommandError> {
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
        ..Request::new("plan", RecordKind::Run, terms.clone(), subjects, as_texts(given))
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
    let mut notes = Vec::new();
    let subjects = same_program(record, &mut notes);
    let values = Values::of(record, &subjects, args)?;
    let warmup_iterations = warmup(record, &subjects, &values, &mut notes);
    let disturbed = left_out(record, &subjects, disturbed, &mut notes);
    let runs = pilot_runs(record, &subjects, &values, warmup_iterations, &disturbed)?;
    note_values_inside(record, &subjects, &values, &mut notes);
    let found = pilot(&runs, args.round_cost.as_secs_f64()).map_err(|error| {
        CommandError::measure(format!("the pilot is not enough for a plan: {error}"))
            .hint("it needs at least two runs with values above 0; more rounds give a better plan")
    })?;
    if found.levels[0].component.df < 9 {
        notes.push(format!(
            "A plan from {} of the highest level is a rough one; 10 and more make a better pilot.",
            found.levels[0].component.df + 1
        ));
    }
    let confidence = terms.confidence;
    let goal = match args.detect {
        Some(change) => Goal::Detect { change, power: args.power, confidence },
        None => Goal::Precision { share: args.precision.unwrap_or(0.01), confidence },
    };
    let levels: Vec<Level> =
        found.levels.iter().map(becalm_stats::levels::PilotLevel::level).collect();
    let plan = cheapest(&levels, goal);
    let name = |subject: usize| record.subjects[subject].name.clone();
    Ok(Planned {
        subject: subjects.first().map_or_else(String::new, |&subject| name(subject)),
        metric: values.name(record),
        unit: values.unit(record),
        as_the_pilot: as_the_pilot(&found, &levels, goal),
        range: plan.as_ref().and_then(|plan| range(&found, &levels, goal, plan)),
        pilot: found,
        goal,
        plan,
        warmup_iterations,
        by_layout: record.runs.iter().any(|run| run.layout.is_some()),
        notes,
    })
}

fn as_the_pilot(found: &Pilot, levels: &[Level], goal: Goal) -> Option<Plan> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of repetitions that were made"
    )]
    let mut counts: Vec<u32> =
        found.levels.iter().map(|level| level.repetitions.round().max(1.0) as u32).collect();
    counts[0] = repetitions(levels, goal, &counts)?;
    let mut plan = Plan::of(levels, &counts);
    plan.seconds *= f64::from(goal.programs());
    Some(plan)
}

/// Returns the repetitions of the highest level if all variances are at the lower or upper end of
/// what as many differences as there were of the highest level leave open.
fn range(found: &Pilot, levels: &[Level], goal: Goal, plan: &Plan) -> Option<(u32, u32)> {
    let (low, high) = variance_factors(found.levels[0].component.df as f64, RANGE);
    let scaled = |factor: f64| -> Vec<Level> {
        levels.iter().map(|one| Level { variance: one.variance * factor, ..*one }).collect()
    };
    let low = repetitions(&scaled(low), goal, &plan.counts)?;
    Some((low, repetitions(&scaled(high), goal, &plan.counts).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_stats::levels::{Kind, PilotRun};

    #[test]
    fn a_goal_is_above_zero() {
        assert_eq!(above_zero("2%"), Ok(0.02));
        assert!(above_zero("0%").is_err() && above_zero("x").is_err());
        assert_eq!((precision("2%"), above_zero("200%")), (Ok(0.02), Ok(2.0)));
        assert!(precision("200%").is_err() && precision("100%").is_err());
    }

    #[test]
    fn a_range_is_around_the_plan() {
        let runs: Vec<PilotRun> = (0..10)
            .map(|round| PilotRun {
                round,
                values: vec![1.0 + 0.01 * f64::from(u8::try_from(round % 4).unwrap())],
                seconds: 1.0,
                seconds_per_value: 0.0,
            })
            .collect();
        let found = pilot(&runs, 0.0).unwrap();
        assert_eq!(found.levels[0].kind, Kind::Run);
        let levels: Vec<Level> =
            found.levels.iter().map(becalm_stats::levels::PilotLevel::level).collect();
        let goal = Goal::Precision { share: 0.005, confidence: 0.95 };
        let plan = cheapest(&levels, goal).unwrap();
        let (low, high) = range(&found, &levels, goal, &plan).unwrap();
        assert!(low < plan.counts[0] && plan.counts[0] < high, "{low} {plan:?} {high}");
    }
}
