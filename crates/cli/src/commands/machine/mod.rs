//! `becalm machine`: captures of it, and the service that shares it.

mod dump;
mod service;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::rights::Rights;
use crate::ui::Ui;

/// Capture this machine's facts, or share it among its users
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Dump(dump::Args),
    Service(service::Args),
}

impl Args {
    /// Returns the rights with which it starts.
    pub(crate) fn rights(&self) -> Rights {
        match &self.action {
            Action::Dump(args) => args.rights(),
            Action::Service(args) => args.rights(),
        }
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    match &args.action {
        Action::Dump(args) => dump::run(args, ui),
        Action::Service(args) => service::run(args, ui),
    }
}
