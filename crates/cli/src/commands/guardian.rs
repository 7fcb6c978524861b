//! `becalm guardian`: the process that puts the machine back when the one that tuned it dies.

use std::path::PathBuf;

use becalm_machine::SysRoot;
use becalm_machine::tune::{GuardError, Watch, stand_guard};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::tuning::report;
use crate::ui::Ui;

/// Stand by, and put the machine back if the becalm that tunes it dies (becalm starts this itself)
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// Use this folder instead of the machine
    #[arg(long, default_value = "/", hide = true)]
    pub(crate) root: PathBuf,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    // It was started by a link of the kernel's, whose name it has. Without its own it guards as well.
    let _ = SysRoot::default().write("/proc/self/comm", "becalm");
    match stand_guard(&SysRoot::new(&args.root)) {
        Ok(Watch::Relieved) => Ok(Exit::Done),
        Ok(Watch::Restored(recovered)) => {
            ui.warn(
                "the becalm that tuned this machine has ended; its guardian puts the machine back",
            );
            Ok(report(&recovered, ui))
        }
        Err(error @ GuardError::NoOwner) => Err(CommandError::usage(error)
            .hint("`becalm restore` puts back what a killed becalm has left")),
        Err(error) => {
            Err(CommandError::not_restored(error).hint("`becalm restore` puts the machine back"))
        }
    }
}
