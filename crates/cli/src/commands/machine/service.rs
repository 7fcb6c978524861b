//! `becalm machine service`: lets users have the machine tuned without root.

use std::path::{Path, PathBuf};

use becalm_machine::service::{
    Held, InstallError, SOCKET, Server, Status, StatusError, Waiting, group, install, listen,
    remove, status, user_name,
};
use becalm_machine::{SysRoot, effective_user};
use becalm_model::wire::{
    MACHINE_SERVICE_SCHEMA, MachineHolderDocument, MachineServiceDocument, MachineWaiterDocument,
    json_text,
};
use becalm_report::machine_service_text;
use becalm_session::service::{DEFAULT_POLICY, POLICY, policy};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::rights::Rights;
use crate::tuning::put_back_leftovers;
use crate::ui::Ui;

/// Let users have this machine tuned without root, one after the other, within limits that the
/// administrator sets
///
/// Off unless you install it. Once installed, it serves `--tune`, `--isolate` and `tune --hold` of
/// every user in its group. `/etc/becalm/service.toml` says what they may have, and for how long.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Install(InstallArgs),
    Remove(RemoveArgs),
    Status(StatusArgs),
    Run(RunArgs),
}

/// The group whose users may use the service
const GROUP: &str = "becalm";

/// Install the systemd units that start the service on demand, and start its socket
#[derive(Debug, clap::Args)]
struct InstallArgs {
    /// The group whose users may use it
    #[arg(long, default_value = GROUP, value_name = "GROUP")]
    group: String,

    /// Use this folder instead of the machine
    #[arg(long, default_value = "/", hide = true)]
    root: PathBuf,
}

/// Stop the service, which puts the machine back, and remove its units; /etc/becalm stays
#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// Use this folder instead of the machine
    #[arg(long, default_value = "/", hide = true)]
    root: PathBuf,
}

/// Show who has the machine, who waits for it, and what users may have
#[derive(Debug, clap::Args)]
struct StatusArgs {
    /// Print it as JSON
    #[arg(long)]
    json: bool,

    /// Use this folder instead of the machine
    #[arg(long, default_value = "/", hide = true)]
    root: PathBuf,
}

/// Run the service until a signal ends it, on the socket of systemd, or else on its own
#[derive(Debug, clap::Args)]
struct RunArgs {
    /// The group whose users may use it, if it creates the socket itself
    #[arg(long, default_value = GROUP, value_name = "GROUP")]
    group: String,

    /// Use this folder instead of the machine
    #[arg(long, default_value = "/", hide = true)]
    root: PathBuf,
}

impl Args {
    /// Returns the rights that it needs.
    pub(crate) fn rights(&self) -> Rights {
        match &self.action {
            Action::Install(InstallArgs { root, .. })
            | Action::Remove(RemoveArgs { root })
            | Action::Run(RunArgs { root, .. }) => Rights::to_look_at(root),
            Action::Status(_) => Rights::User,
        }
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    match &args.action {
        Action::Install(args) => installed(args, ui),
        Action::Remove(args) => removed(args, ui),
        Action::Status(args) => say_status(args, ui),
        Action::Run(args) => serve(args, ui),
    }
}

const BY_HAND: &str =
    "without systemd, `sudo becalm machine service run` runs the service in the foreground";

fn installed(args: &InstallArgs, ui: &Ui) -> Result<Exit, CommandError> {
    needs_root(&args.root)?;
    known_group(&args.group)?;
    let root = SysRoot::new(&args.root);
    let done = install(&root, &args.group, (POLICY, DEFAULT_POLICY)).map_err(of_install)?;
    done.files.iter().for_each(|file| ui.say(format!("wrote {file}")));
    if done.is_live {
        ui.say(format!("becalm.socket listens on {SOCKET}, now and after a restart."));
    }
    ui.say(format!(
        "Users of the group {} may use the machine within the limits in {POLICY}; `becalm machine \
         service remove` ends that.",
        args.group
    ));
    Ok(Exit::Done)
}

fn removed(args: &RemoveArgs, ui: &Ui) -> Result<Exit, CommandError> {
    needs_root(&args.root)?;
    let done = remove(&SysRoot::new(&args.root)).map_err(of_install)?;
    done.files.iter().for_each(|file| ui.say(format!("removed {file}")));
    if done.files.is_empty() {
        ui.say("The service is not installed.");
    }
    Ok(Exit::Done)
}

fn of_install(error: InstallError) -> CommandError {
    let hint = match &error {
        InstallError::Untrusted(_) => {
            "install becalm where only root can write, such as /usr/local/bin"
        }
        InstallError::Name(_) => "install becalm under another name",
        InstallError::NoSystemd => BY_HAND,
        InstallError::NotOurs(_) => "remove it, if you no longer need it",
        InstallError::File { .. } | InstallError::Systemd(_) => "",
    };
    let error = CommandError::measure(error);
    if hint.is_empty() { error } else { error.hint(hint) }
}

fn needs_root(root: &Path) -> Result<(), CommandError> {
    // Folders that stand for machines are whose they are.
    if root != Path::new("/") || effective_user(&SysRoot::default()) == Some(0) {
        return Ok(());
    }
    Err(CommandError::measure("only root may start and stop the service of a machine")
        .hint("run it with sudo"))
}

fn known_group(name: &str) -> Result<u32, CommandError> {
    let unknown = || {
        CommandError::usage(format!(
            "there is no group `{name}`, whose users could use the service"
        ))
        .hint(format!(
            "`groupadd --system {name}` creates it; `usermod -aG {name} USER` adds a user"
        ))
    };
    group(name).ok_or_else(unknown)
}

fn serve(args: &RunArgs, ui: &Ui) -> Result<Exit, CommandError> {
    needs_root(&args.root)?;
    let root = SysRoot::new(&args.root);
    // Before anything is opened. Where systemd makes the socket its unit names the group.
    let group = if std::env::var_os("LISTEN_FDS").is_some() {
        None
    } else {
        Some(known_group(&args.group)?)
    };
    let listener = listen(&root, group).map_err(CommandError::measure)?;
    let policy = policy(&root).map_err(CommandError::measure)?;
    if !root.is_live() {
        // The live machine was looked at before.
        put_back_leftovers(&root, ui);
    }
    let server = Server::new(&root, &policy, listener).map_err(CommandError::measure)?;
    ui.say("The service is ready.");
    server.run().map_err(CommandError::measure)?;
    Ok(Exit::Done)
}

fn say_status(args: &StatusArgs, ui: &Ui) -> Result<Exit, CommandError> {
    let status = status(&SysRoot::new(&args.root)).map_err(|error| {
        let hint = match &error {
            StatusError::NotThere(_) => "`sudo becalm machine service install` sets it up",
            StatusError::NotForYou(_) => "only users in the group of /run/becalm/service.sock may",
            StatusError::NoAnswer(_) | StatusError::Refused(_) => "",
        };
        let error = CommandError::measure(error);
        if hint.is_empty() { error } else { error.hint(hint) }
    })?;
    let document = document(status);
    let text = || machine_service_text(&document);
    ui.print(&if args.json { json_text(&document) } else { text() })?;
    Ok(Exit::Done)
}

fn document(status: Status) -> MachineServiceDocument {
    let Status { holder, waiting, profiles, isolated_cpus, limit } = status;
    let holder = holder.map(|Held { uid, pid, command, held, left }| {
        let user = uid.and_then(user_name);
        MachineHolderDocument { uid, user, pid, command, held, left }
    });
    let waiting = waiting.into_iter().map(|Waiting { uid, pid, command, waited }| {
        MachineWaiterDocument { uid, user: user_name(uid), pid, command, waited }
    });
    let schema = MACHINE_SERVICE_SCHEMA.to_owned();
    let waiting = waiting.collect();
    MachineServiceDocument { schema, holder, waiting, profiles, isolated_cpus, limit }
}
