//! `becalm run`: one program, or a suite: its distribution and what disturbed it.

use std::time::Duration;

use becalm_model::RecordKind;
use becalm_model::conditions::OnDisturbance;
use becalm_model::terms::{Stop, SubjectSource, Terms};
use becalm_report::{SuiteEntry, outlook_text, run_text, suite_list_text, suite_text};
use becalm_runner::rounds::OnFailure;
use becalm_session::suite::{
    Benchmark, SuiteError, SuiteFile, SuitePlan, choose, outlook, resolve,
};
use becalm_session::{Request, subjects};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{Resumed, begun, conduct};
use crate::ui::Ui;

pub(crate) use crate::flags::run::Args;

pub(crate) fn run(args: &Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    let (terms, arguments, resumed) =
        begun("run", &args.flags, given, |before| args.terms(before), ui)?;
    if let SubjectSource::Suite { .. } = terms.source {
        return suite(args, terms, arguments, resumed, ui);
    }
    args.suite.refuse_alone()?;
    let SubjectSource::Commands { commands } = &terms.source else {
        return Err(CommandError::usage("nothing to run: no command was given"));
    };
    let subjects = subjects(commands, &terms.runs)?;
    let request = Request {
        resumed_from: resumed.as_ref().map(|resumed| resumed.path.clone()),
        resumed: resumed.map(|resumed| resumed.record),
        ..Request::new("run", RecordKind::Run, terms, subjects, arguments)
    };
    let finished = conduct(request, ui)?;
    let detail = args.verbose.detail();
    finished.report(|record, disturbed| run_text(record, disturbed, detail, ui.style()), ui)
}

/// Measures the chosen benchmarks of a suite in one session.
fn suite(
    args: &Args,
    terms: Terms,
    arguments: Vec<String>,
    resumed: Option<Resumed>,
    ui: &Ui,
) -> Result<Exit, CommandError> {
    let SubjectSource::Suite { file, only, tags, fail_fast } = &terms.source else {
        return Err(CommandError::usage("no suite to measure was found"));
    };
    if terms.runs.on_disturbance == OnDisturbance::Redo {
        return Err(SuiteError::Redo.into());
    }
    let file = SuiteFile::read(file.as_deref())?;
    let chosen = choose(resolve(&file, &terms)?, only, tags)?;
    let own: Vec<_> = chosen.iter().map(|one| one.own).collect();
    let outlook = outlook_text(&outlook(&own));
    if args.suite.list {
        let entries: Vec<SuiteEntry> = chosen.iter().map(entry).collect();
        ui.print(&suite_list_text(&entries, ui.style()))?;
        ui.print_folded(&format!("\n{outlook}\n"))?;
        return Ok(Exit::Done);
    }
    ui.say(&outlook);
    let on_failure = if *fail_fast { OnFailure::End } else { OnFailure::LeaveOut };
    let (subjects, plan) = SuitePlan::of(chosen, on_failure);
    let request = Request {
        resumed_from: resumed.as_ref().map(|resumed| resumed.path.clone()),
        resumed: resumed.map(|resumed| resumed.record),
        suite: Some(plan),
        ..Request::new("run --suite", RecordKind::Run, terms, subjects, arguments)
    };
    let finished = conduct(request, ui)?;
    finished.report(|record, disturbed| suite_text(record, disturbed, ui.style()), ui)
}

fn entry(one: &Benchmark) -> SuiteEntry {
    let seconds = |time: Duration| time.as_secs_f64();
    let (rounds, budget) = match one.own.stop {
        Stop::Rounds(rounds) => (Some(rounds), None),
        Stop::Until { maximum, budget, .. } => (maximum, budget.map(seconds)),
    };
    SuiteEntry {
        name: one.subject.name.clone(),
        tags: one.about.tags.clone(),
        command: one.subject.command.clone(),
        rounds,
        budget,
    }
}
