//! `becalm fleet`: a comparison in blocks on several machines of a cluster.

mod attend;
mod canaries;
mod cancel;
mod kept;
mod run;
mod status;

use becalm_fleet::{Allocation, Cluster, FleetError, FleetFolder};
use clap::Subcommand;

use crate::elsewhere;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Compare on several machines, and report what holds for all
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::Args>),
    Status(status::Args),
    Attach(attend::Args),
    Cancel(cancel::Args),
    Canaries(canaries::Args),
}

pub(crate) fn run(args: &Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    match &args.command {
        Command::Run(args) => run::run(args, given, ui),
        Command::Status(args) => status::run(args, ui),
        Command::Attach(args) => attend::run(args, ui),
        Command::Cancel(args) => cancel::run(args, ui),
        Command::Canaries(args) => canaries::run(args, ui),
    }
}

/// Which fleet, as flags.
#[derive(Debug, clap::Args)]
pub(crate) struct WhichFlags {
    /// Which fleet [default: the one that was started last]
    #[arg(value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    place: PlaceFlag,
}

/// Where fleets are kept, as a flag.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaceFlag {
    /// The cluster, as for `fleet run`; only `folder=` has an effect here
    #[arg(long, value_name = "PLACE", default_value = "slurm")]
    on: String,
}

impl PlaceFlag {
    /// Opens the cluster, to look at fleets of any allocation.
    fn cluster(&self) -> Result<Cluster, CommandError> {
        elsewhere::cluster(allocation(&self.on)?)
    }
}

impl WhichFlags {
    /// Finds the fleet, with its cluster.
    fn find(&self) -> Result<(Cluster, FleetFolder), CommandError> {
        let found = self.place.cluster()?;
        let folder = FleetFolder::find(found.folder(), self.name.as_deref())?;
        let folder_given = allocation(&self.place.on)?.folder;
        // What its machines are, it knows itself.
        let of_fleet = Allocation { folder: folder_given, ..allocation(&folder.place()?)? };
        Ok((elsewhere::cluster(of_fleet)?, folder))
    }
}

/// Reads what the user calls the cluster.
fn allocation(place: &str) -> Result<Allocation, CommandError> {
    Allocation::parse(place).map_err(FleetError::from)?.ok_or_else(|| {
        CommandError::usage(format!("a fleet needs the nodes of a cluster, and {place} is a host"))
            .hint("name a cluster: --on slurm:partition=bench,constraint=epyc")
    })
}
