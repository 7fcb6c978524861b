//! `becalm fleet cancel`: ends its jobs.

use becalm_fleet::{Attended, FleetRun};

use super::WhichFlags;
use super::attend::tell;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::interrupt;
use crate::ui::Ui;

/// End the jobs of a fleet, and wait until the machines are put back
///
/// Measured blocks stay, and `becalm fleet status` shows their result.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: WhichFlags,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let (cluster, folder) = args.which.find()?;
    let mut fleet = FleetRun::open(cluster, folder)?;
    fleet.cancel()?;
    let attended = fleet.attend(interrupt()?, &mut |event| tell(&event, None, ui));
    ui.progress_line("");
    match attended? {
        Attended::Over => {
            ui.say(format!("fleet {} was cancelled", fleet.name()));
            Ok(Exit::Done)
        }
        Attended::Left(signal) => {
            ui.say(format!(
                "fleet {} was cancelled, but some of its jobs have not ended yet",
                fleet.name()
            ));
            Ok(Exit::Signal(signal))
        }
    }
}
