//! `becalm fleet canaries`: how each machine has always been.

use becalm_fleet::{canary_series, forget_canaries};
use becalm_model::counted;
use becalm_model::wire::{CANARIES_SCHEMA, CanariesDocument};
use becalm_report::canaries_text;

use super::PlaceFlag;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Show the canaries of each machine, which show whether it performs as usual
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: PlaceFlag,

    /// Forget the canaries of this machine, so that a changed machine gets a new level
    #[arg(long, value_name = "MACHINE")]
    forget: Option<String>,

    /// Print them as JSON
    #[arg(long, conflicts_with = "forget")]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let cluster = args.place.cluster()?;
    if let Some(machine) = &args.forget {
        let forgotten = forget_canaries(cluster.folder(), machine)?;
        if forgotten == 0 {
            return Err(CommandError::usage(format!("no canary of {machine} is known"))
                .hint("`becalm fleet canaries` lists the machines"));
        }
        let what = counted(forgotten, "canary").replace("canarys", "canaries");
        ui.say(format!("{what} of {machine} forgotten"));
        return Ok(Exit::Done);
    }
    let canaries = canary_series(cluster.folder());
    if canaries.is_empty() && !args.json {
        ui.say("no canary has been measured yet");
        return Ok(Exit::Done);
    }
    let document = CanariesDocument { schema: CANARIES_SCHEMA.to_owned(), canaries };
    if args.json {
        ui.print_json(&document)?;
    } else {
        ui.print(&canaries_text(&document, &ui.table_style()))?;
    }
    Ok(Exit::Done)
}
