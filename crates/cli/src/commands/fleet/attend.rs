//! `becalm fleet attach`: waits for a fleet, collects its blocks and shows what they say.

use becalm_fleet::{Attended, FleetEvent, FleetRun};
use becalm_model::terms::Exports;
use becalm_model::wire::{FleetDocument, FleetState, TryState, json_text};
use becalm_model::{Verdict, counted};
use becalm_report::{
    fleet_html, fleet_left_out_sentence, fleet_markdown, fleet_text, fleet_try_sentence, printable,
};
use becalm_session::files;

use super::{WhichFlags, kept};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::ExportFlags;
use crate::measuring::{check_exports, interrupt};
use crate::ui::Ui;

/// Wait for a fleet, collect its blocks, repeat what was lost, and show the result
#[derive(Debug, clap::Args)]
#[command(mut_arg("json", |arg| arg.help("Print the result over all machines as JSON")))]
#[command(mut_arg("export_json", |arg| arg.help("Save the result over all machines as JSON")))]
pub(crate) struct Args {
    #[command(flatten)]
    which: WhichFlags,

    #[command(flatten)]
    kept: kept::Flags,

    #[command(flatten)]
    exports: ExportFlags,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let mut exports = Exports::default();
    args.exports.apply(&mut exports);
    check_exports(&exports)?;
    let keeper = args.kept.keeper()?;
    let (cluster, folder) = args.which.find()?;
    let fleet = FleetRun::open(cluster, folder)?;
    if let Some(keeper) = &keeper {
        // What `status`, or a becalm without --history, has collected; what is in the history already is recognised.
        fleet.records()?.iter().for_each(|record| keeper.keep(record, ui));
    }
    attend(fleet, &Shown { exports, keeper }, ui)
}

/// Where the result goes, and each block.
pub(super) struct Shown {
    pub(super) exports: Exports,
    pub(super) keeper: Option<kept::Keeper>,
}

/// Attends to a fleet until it is over, and shows the result; the user may go away meanwhile.
pub(super) fn attend(mut fleet: FleetRun, shown: &Shown, ui: &Ui) -> Result<Exit, CommandError> {
    let interrupt = interrupt()?;
    let attended = fleet.attend(interrupt, &mut |event| tell(&event, shown.keeper.as_ref(), ui));
    ui.progress_line("");
    let name = fleet.name().to_owned();
    match attended {
        Ok(Attended::Over) => {}
        Ok(Attended::Left(signal)) => {
            ui.say(format!(
                "stopped by signal {signal}; the jobs of fleet {name} continue: `becalm fleet attach {name}` waits for \
                 them, `becalm fleet cancel {name}` ends them"
            ));
            return Ok(Exit::Signal(signal));
        }
        Err(error) => {
            fleet.discard_if_unused();
            return Err(error.into());
        }
    }
    let document = fleet.document()?;
    show(&document, &shown.exports, ui)?;
    conclude(&document)
}

/// Prints and saves a result.
pub(super) fn show(
    document: &FleetDocument,
    exports: &Exports,
    ui: &Ui,
) -> Result<(), CommandError> {
    if exports.print {
        ui.print_json(document)?;
    } else {
        ui.print(&fleet_text(document, ui.style()))?;
    }
    let texts = [
        (&exports.json, json_text as fn(&FleetDocument) -> String),
        (&exports.html, |document| fleet_html(document, env!("CARGO_PKG_VERSION"))),
        (&exports.markdown, fleet_markdown),
    ];
    for (path, text) in texts {
        if let Some(path) = path {
            files::write_atomically(path, &text(document))?;
        }
    }
    Ok(())
}

/// Says how the command ended.
fn conclude(document: &FleetDocument) -> Result<Exit, CommandError> {
    if document.comparisons.is_empty() && document.levels.is_empty() {
        let why = document.machines.iter().find_map(|machine| {
            let why = machine.left_out.as_ref()?;
            Some(format!(": {}", fleet_left_out_sentence(&machine.name, why)))
        });
        let why = match (why, document.state) {
            (_, FleetState::Cancelled) => ": it was cancelled".to_owned(),
            (why, _) => why.unwrap_or_else(|| ": the cluster has no machine for it".to_owned()),
        };
        let name = &document.name;
        let message = format!("fleet {name} has measured nothing that counts{}", printable(&why));
        return Err(CommandError::measure(message)
            .hint("`sinfo --Node` lists the nodes, their states and their features"));
    }
    if !document.levels.is_empty() {
        return Ok(Exit::Done);
    }
    let mut deciding = document.comparisons.iter().filter(|one| one.primary).peekable();
    let is_open =
        deciding.peek().is_none() || deciding.any(|one| one.verdict == Verdict::Inconclusive);
    // An A/A asks how small a change is detectable, and that is answered.
    Ok(if is_open && !document.aa { Exit::Inconclusive } else { Exit::Done })
}

/// Tells what happens.
pub(super) fn tell(event: &FleetEvent<'_>, keeper: Option<&kept::Keeper>, ui: &Ui) {
    match event {
        FleetEvent::Submitted { machine, block, job } => {
            ui.step(format!("{machine}: block {block} is job {job}"));
        }
        FleetEvent::Measured { machine, block, record } => {
            ui.say(format!("{}: block {block} is measured", printable(machine)));
            if let Some(keeper) = keeper {
                keeper.keep(record, ui);
            }
        }
        FleetEvent::InVain { machine, block, how } => {
            ui.warn(printable(&fleet_try_sentence(machine, *block, how)));
        }
        FleetEvent::LeftOut { machine, why } => {
            ui.warn(printable(&fleet_left_out_sentence(machine, why)));
        }
        FleetEvent::Few { found, wanted } => {
            let found = counted(*found, "machine");
            ui.warn(format!(
                "the cluster has {found} for this fleet, but the fleet needs {wanted}"
            ));
        }
        FleetEvent::Refused(error) => {
            ui.say(format!("{error}; becalm tries again as jobs end"));
        }
        FleetEvent::Looked { measured, wanted, in_flight } => {
            ui.progress_line(&progress(*measured, *wanted, in_flight));
        }
    }
}

fn progress(measured: u32, wanted: u32, in_flight: &[(&str, u32, TryState)]) -> String {
    let running = in_flight.iter().filter(|(_, _, state)| *state == TryState::Running).count();
    let waiting = in_flight.len() - running;
    let why = in_flight.iter().find_map(|(_, _, state)| match state {
        TryState::Waiting(reason) if !reason.is_empty() && reason != "None" => Some(reason),
        _ => None,
    });
    let why = why.map(|why| format!(" ({})", printable(why))).unwrap_or_default();
    let wanted = counted(wanted as usize, "block");
    format!("{measured} of {wanted} measured, {running} running, {waiting} waiting{why}")
}
