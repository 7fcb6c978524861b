//! `becalm hosts`: the machines that sessions can run on.

use becalm_fleet::{Host, Hosts};
use becalm_machine::{SysRoot, may_act_as_root, tune};
use becalm_model::wire::{HOSTS_SCHEMA, HostDocument, HostStatus, HostsDocument, json_text};
use becalm_report::hosts_text;
use becalm_session::Machine;

use crate::elsewhere;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// List the machines that --on can name, and check them
///
/// They are listed in `becalm/hosts.toml` in the folder of your configuration (`~/.config`), a table for each:
/// `[bench]`, with `ssh = "me@bench.example"` unless `ssh bench` reaches it, `folder = "/var/tmp/becalm"` if becalm
/// cannot run from `~/.cache` there, and `becalm = "/usr/bin/becalm"` to use the one that is installed. Exits with 1 if
/// a host that was checked cannot be used.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these hosts; other names are taken as `ssh` understands them
    #[arg(value_name = "HOST")]
    names: Vec<String>,

    /// Connect to each: whether becalm can run there, who uses it, and whether it may act as root
    #[arg(long)]
    check: bool,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    /// Report the state of this machine, for a becalm on another one
    #[arg(long, hide = true)]
    here: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if args.here {
        ui.print(&json_text(&here()?))?;
        return Ok(Exit::Done);
    }
    let hosts = elsewhere::hosts()?;
    let chosen: Vec<Host> = if args.names.is_empty() {
        hosts.iter().cloned().collect()
    } else {
        args.names.iter().map(|name| hosts.host(name)).collect::<Result<_, _>>()?
    };
    if chosen.is_empty() {
        let place = Hosts::file().map_or_else(String::new, |path| format!(" {}", path.display()));
        return Err(CommandError::usage(format!("no hosts are listed in{place}")).hint(
            "write a table for each, such as `[bench]` with `ssh = \"me@bench.example\"`; --on also takes whatever ssh \
             understands",
        ));
    }
    let mut floors = elsewhere::floors();
    let document = |host: Host| {
        let checked = args.check.then(|| elsewhere::status(&host, ui));
        let (status, error) = match checked {
            None => (None, None),
            Some(Ok(status)) => (Some(status), None),
            Some(Err(error)) => (None, Some(error.message)),
        };
        let noise_floor = floors.remove(&host.name);
        HostDocument { name: host.name, ssh: host.ssh, status, error, noise_floor }
    };
    let hosts = chosen.into_iter().map(document).collect();
    let document = HostsDocument { schema: HOSTS_SCHEMA.to_owned(), hosts };
    if args.json {
        ui.print_json(&document)?;
    } else {
        ui.print(&hosts_text(&document, &ui.table_style()))?;
    }
    let is_one_useless = document.hosts.iter().any(|host| host.error.is_some());
    Ok(if is_one_useless { Exit::No } else { Exit::Done })
}

/// Returns how this machine is.
fn here() -> Result<HostStatus, CommandError> {
    let Machine { root, facts, topology } = Machine::read()?;
    let load = facts.found("load_average").and_then(|text| text.split(' ').next()?.parse().ok());
    Ok(HostStatus {
        processor: facts.found("cpu_model").map(str::to_owned),
        cpus: topology.online.len(),
        load,
        holder: holder(&root),
        root: may_act_as_root(),
    })
}

fn holder(root: &SysRoot) -> Option<String> {
    match tune::holder(root) {
        Some(holder) => Some(holder.command),
        None => tune::is_held(root).then(|| "another becalm".to_owned()),
    }
}
