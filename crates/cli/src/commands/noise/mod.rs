//! `becalm noise`: experiments about the noise of this machine.

mod ablate;
mod probe;
mod reproduce;
mod trace;

use clap::Subcommand;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::rights::Rights;
use crate::ui::Ui;

/// Find out what disturbs measurements on this machine
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Ablate(Box<ablate::Args>),
    Probe(probe::Args),
    Reproduce(reproduce::Args),
    Trace(Box<trace::Args>),
}

impl Args {
    /// Says whether it measures by a session of the usual kind.
    pub(crate) fn is_session(&self) -> bool {
        matches!(self.command, Command::Trace(_))
    }

    /// Returns the rights that it needs.
    pub(crate) fn rights(&self) -> Rights {
        match self.command {
            // It starts nothing, and writes nowhere but to the terminal and to becalm's own place.
            Command::Probe(_) => Rights::Root,
            Command::Ablate(_) | Command::Reproduce(_) | Command::Trace(_) => Rights::Steward,
        }
    }
}

pub(crate) fn run(args: &Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    match &args.command {
        Command::Ablate(args) => ablate::run(args, given, ui),
        Command::Probe(args) => probe::run(args, ui),
        Command::Reproduce(args) => reproduce::run(args, ui),
        Command::Trace(args) => trace::run(args, given, ui),
    }
}
