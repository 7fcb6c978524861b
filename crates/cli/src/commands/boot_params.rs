//! `becalm boot-params`: the boot parameters that reserve CPUs.

use std::path::PathBuf;

use becalm_machine::SysRoot;
use becalm_machine::boot::{
    Domain, DropinError, KernelOptions, Loader, Reserved, loaders, parameters, remove_dropin,
    write_dropin,
};
use becalm_model::CpuSet;
use becalm_model::wire::BootDocument;
use becalm_report::boot_text;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::ElsewhereFlags;
use crate::ui::Ui;

/// Show the boot parameters that reserve CPUs for measurements
///
/// becalm changes no settings. --write-dropin writes one file into the boot loader's drop-in
/// folder, and --remove-dropin removes that file only.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
pub(crate) struct Args {
    /// The CPUs to reserve, such as 2-3; whole cores are best
    #[arg(long, value_name = "LIST", required_unless_present = "remove_dropin")]
    cpus: Option<CpuSet>,

    /// Also take these CPUs out of the scheduler's load balancing from boot on (isolcpus=domain);
    /// this keeps all threads of a program on one CPU unless each is pinned
    #[arg(long)]
    full_isolation: bool,

    /// Also these parameters, by name (comma-separated); without --also, the output explains each
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    also: Vec<String>,

    /// Write the parameters to a drop-in file for the boot loader
    #[arg(long, conflicts_with = "remove_dropin")]
    write_dropin: bool,

    /// Remove that file
    #[arg(long, conflicts_with_all = ["cpus", "full_isolation", "also", "json"])]
    remove_dropin: bool,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    /// Use this folder instead of the machine
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    pub(crate) root: PathBuf,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let root = SysRoot::new(&args.root);
    let Some(cpus) = args.cpus.as_ref().filter(|_| !args.remove_dropin) else {
        let (loader, path) = remove_dropin(&root).map_err(failed)?;
        ui.say(format!("Removed {path}. {}", activation(loader, &root)));
        return Ok(Exit::Done);
    };
    let domain = if args.full_isolation { Domain::Isolated } else { Domain::Balanced };
    let document = document(&root, cpus, domain, &args.also)?;
    ui.print_either(args.json, &document, |style| boot_text(&document, style))?;
    if args.write_dropin {
        let (loader, path) = write_dropin(&root, &document.line).map_err(failed)?;
        ui.say(format!("Wrote {path}. {}", activation(loader, &root)));
        ui.say("`becalm boot-params --remove-dropin` removes it again.");
    }
    Ok(Exit::Done)
}

fn document(
    root: &SysRoot,
    cpus: &CpuSet,
    domain: Domain,
    also: &[String],
) -> Result<BootDocument, CommandError> {
    let topology = crate::topology::read(root)?;
    let reserved = Reserved::new(&topology, cpus).map_err(CommandError::usage)?;
    let options = KernelOptions::read(root);
    let of_line = |line: &str| loaders(root, line);
    parameters(root, &topology, &reserved, &options, domain, also, of_line)
        .map_err(CommandError::usage)
}

fn activation(loader: Loader, root: &SysRoot) -> String {
    format!("It takes effect after `{}` and a restart.", loader.activation(root).join("; "))
}

fn failed(error: DropinError) -> CommandError {
    let is_refused = matches!(error, DropinError::Refused { .. });
    let failed = CommandError::measure(error).hint("nothing was changed");
    if is_refused { failed.hint("run it with sudo") } else { failed }
}
