//! `becalm fleet run`: starts one.

use std::path::Path;

use becalm_fleet::{CanaryProgram, FleetRun, Wanted};
use becalm_model::terms::{Exports, Goal, Stop, SubjectSource, Terms};
use becalm_model::{RecordKind, metric};
use becalm_report::Detail;
use becalm_session::Request;
use becalm_session::suite::SuitePlan;

use super::attend::{Shown, attend, tell};
use super::{allocation, kept};
use crate::commands::compare::{self, Asked};
use crate::elsewhere;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::run::stop_of_suite;
use crate::measuring::check_exports;
use crate::ui::Ui;

/// Compare in blocks on several nodes of a Slurm cluster
///
/// A block is a whole `becalm compare` on one node: both programs run in turns there. Every machine has the same weight
/// in the answer, whose interval is Student's over the machines, so that it holds for machines of this type; becalm
/// also reports which machines agree. Before each block a canary, a known program, shows whether the machine performs
/// as usual; becalm sets aside a machine whose canary is off its own level. becalm submits all jobs at once, so you
/// need not wait: Ctrl-C leaves them in the queue, and `becalm fleet attach` collects the results. It repeats what is
/// lost, as a whole block.
///
/// The flags of `becalm compare` apply to each block. Without a limit of rounds or time, a block takes 30 s. A suite
/// (`becalm fleet run becalm.toml`) is measured without a comparison: the answer is the level of each benchmark over
/// machines.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
#[group(skip)]
#[command(mut_arg("json", |arg| arg.help("Print the result over all machines as JSON")))]
#[command(mut_arg("export_json", |arg| arg.help("Save the result over all machines as JSON")))]
#[command(mut_arg("resume", |arg| arg.hide(true)))]
#[command(mut_arg("verbose", |arg| arg.hide(true)))]
pub(crate) struct Args {
    /// How many machines
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Fleet")]
    machines: u32,

    /// How many blocks on each
    #[arg(long, value_name = "K", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Fleet")]
    blocks: u32,

    /// Name of the fleet, for `status`, `attach` and `cancel` [default: the next number]
    #[arg(long = "as", value_name = "NAME", help_heading = "Fleet")]
    fleet: Option<String>,

    /// Submit the jobs and return
    #[arg(long, help_heading = "Fleet")]
    detach: bool,

    /// Program that shows whether a machine performs as usual [default: one of becalm's own]
    #[arg(long, value_name = "COMMAND", help_heading = "Fleet")]
    canary: Option<String>,

    /// Metric of the canary: any that --metric takes
    #[arg(long, value_name = "METRIC", default_value = metric::WALL_TIME, help_heading = "Fleet")]
    canary_metric: String,

    /// Measure no canary
    #[arg(long, conflicts_with_all = ["canary", "canary_metric"], help_heading = "Fleet")]
    no_canary: bool,

    #[command(flatten)]
    kept: kept::Flags,

    #[command(flatten)]
    compare: compare::Args,
}

/// Work of becalm's own canary: about 20 ms.
const AMOUNT: &str = "20000";

pub(crate) fn run(args: &Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    let flags = &args.compare.flags;
    let Some(place) = flags.elsewhere.on.clone() else {
        return Err(CommandError::usage("`becalm fleet run` needs a cluster")
            .hint("name it: --on slurm:partition=bench,constraint=epyc"));
    };
    if flags.resume.is_some() {
        return Err(CommandError::usage("--resume does not continue a fleet")
            .hint("use `becalm fleet attach`"));
    }
    if args.compare.verbose.detail() == Detail::Full {
        return Err(CommandError::usage("--verbose is about one session, and a fleet has many")
            .hint("`becalm show --verbose` shows the record of a block, tries/N/record.json in the folder of the fleet"));
    }
    let allocation = allocation(&place)?;
    let mut exports = Exports::default();
    flags.exports.apply(&mut exports);
    check_exports(&exports)?;
    let mut asked = None;
    let suite = suite(args, given)?;
    let mut session = if let Some(session) = suite {
        session
    } else {
        match compare::asked(&args.compare, given, ui)? {
            Asked::Same(same) => return compare::say_same(*same, ui),
            Asked::Session(session) => asked.insert(session).take(),
        }
    };
    let cluster = elsewhere::cluster(allocation)?;
    session.terms.exports = Exports::default();
    if let Stop::Until { goal, .. } = &mut session.terms.stop {
        // A block that ends when its own answer is known would be longer where there is less to see.
        *goal = Goal::Budget;
    }
    let wanted = Wanted {
        name: args.fleet.clone(),
        place,
        machines: args.machines,
        blocks: args.blocks,
        canary: canary(args, &cluster.becalm().display().to_string())?,
        session,
    };
    let present = elsewhere::folder()?;
    ui.progress_line("reading the files to send");
    let started = FleetRun::start(cluster, wanted, &present, ui.terminal());
    ui.progress_line("");
    let mut fleet = started?;
    // All that the jobs need lies in the shared folder.
    drop(asked);
    ui.say(format!("fleet {} has started", fleet.name()));
    let keeper = args.kept.keeper()?;
    if !args.detach {
        return attend(fleet, &Shown { exports, keeper }, ui);
    }
    let submitted = fleet.advance(&mut |event| tell(&event, keeper.as_ref(), ui));
    if let Err(error) = submitted {
        fleet.discard_if_unused();
        return Err(error.into());
    }
    ui.say(format!("`becalm fleet attach {}` waits for it and shows the result", fleet.name()));
    Ok(Exit::Done)
}

/// Returns the session of a suite, if that is what the only argument names.
fn suite(args: &Args, given: &[String]) -> Result<Option<Request>, CommandError> {
    let named = args.compare.only_command().map(Path::new);
    let is_suite = |path: &&Path| path.extension().is_some_and(|it| it == "toml") && path.is_file();
    let Some(path) = named.filter(is_suite) else { return Ok(None) };
    let mut terms = Terms::default();
    args.compare.flags.apply(&mut terms)?;
    let (file, only, tags) = (Some(path.to_owned()), Vec::new(), Vec::new());
    terms.source = SubjectSource::Suite { file, only, tags, fail_fast: false };
    terms.stop = stop_of_suite(&terms);
    let Some((subjects, plan)) = SuitePlan::of_terms(&terms)? else { return Ok(None) };
    let (kind, arguments) = (RecordKind::Run, given.to_vec());
    let request = Request::new("fleet run", kind, terms, subjects, arguments);
    Ok(Some(Request { suite: Some(plan), ..request }))
}

/// Returns the canary that was asked for.
fn canary(args: &Args, becalm: &str) -> Result<Option<CanaryProgram>, CommandError> {
    if args.no_canary {
        return Ok(None);
    }
    let command = match &args.canary {
        Some(line) => shell_words::split(line)
            .map_err(|error| CommandError::usage(format!("--canary {line}: {error}")))?,
        None => [becalm, "workload", "compute", "--amount", AMOUNT].map(str::to_owned).to_vec(),
    };
    if command.is_empty() {
        return Err(CommandError::usage("--canary names no program"));
    }
    Ok(Some(CanaryProgram { command, metric: args.canary_metric.clone() }))
}
