//! `becalm restore`: put back what becalm changed.

use std::path::PathBuf;

use becalm_machine::SysRoot;
use becalm_machine::tune::{Foreign, LockError, RestoreError, take_over};
use becalm_session::queue;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::{ElsewhereFlags, WaitFlag};
use crate::measuring::interrupt;
use crate::tuning::report;
use crate::ui::Ui;

/// Put back everything that becalm changed on this machine
///
/// Ends what `becalm tune` holds, and puts back what a killed becalm has changed. A becalm that
/// is still running puts its changes back itself when it ends.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also overwrite values that another program has set meanwhile, use the readable part of a
    /// damaged journal, and move an unreadable one aside. Once restored, there is nothing left to
    /// overwrite
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    wait: WaitFlag,

    /// Use this folder instead of the machine
    #[arg(long, default_value = "/", hide = true)]
    pub(crate) root: PathBuf,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let interrupt = interrupt()?;
    let root = SysRoot::new(&args.root);
    let foreign = if args.force { Foreign::Overwrite } else { Foreign::Leave };
    let stop = || interrupt.signal().is_some();
    match take_over(
        &root,
        "becalm restore",
        foreign,
        queue(args.wait.wait.unwrap_or_default()),
        &stop,
    ) {
        Ok(recovered) => Ok(report(&recovered, ui)),
        Err(RestoreError::Lock(error @ LockError::Held(_))) => {
            let held = CommandError::measure(error)
                .hint("it puts everything back when it ends: end it, or wait for it with `--wait`");
            Err(CommandError { exit: interrupt.signal().map_or(held.exit, Exit::Signal), ..held })
        }
        Err(RestoreError::Lock(error)) if error.needs_root() => {
            Err(CommandError::measure(error).hint("run it with sudo"))
        }
        Err(RestoreError::Lock(error)) => Err(CommandError::measure(error)),
        Err(error) => Err(CommandError::not_restored(error)),
    }
}
