//! `becalm fleet status`: how far it is.

use becalm_fleet::FleetRun;
use becalm_model::terms::Exports;

use super::WhichFlags;
use super::attend::show;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Show the progress of a fleet, and its result so far
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: WhichFlags,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let (cluster, folder) = args.which.find()?;
    let document = FleetRun::look(cluster, folder)?.document()?;
    show(&document, &Exports { print: args.json, ..Exports::default() }, ui)?;
    Ok(Exit::Done)
}
