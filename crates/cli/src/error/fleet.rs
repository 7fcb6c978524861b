//! What to do about errors with other machines.

use becalm_fleet::{FleetError, FolderError, HostsError, NotPortable, ParcelError};

use super::CommandError;
use crate::exit::Exit;

impl From<HostsError> for CommandError {
    fn from(error: HostsError) -> Self {
        Self::usage(error)
    }
}

impl From<ParcelError> for CommandError {
    fn from(error: ParcelError) -> Self {
        Self::measure(error)
    }
}

impl From<FleetError> for CommandError {
    fn from(error: FleetError) -> Self {
        let hint = hint(&error);
        let error = match error {
            FleetError::Hosts(error) => error.into(),
            FleetError::Suite(error) => error.into(),
            FleetError::NotPortable(_)
            | FleetError::Allocation(_)
            | FleetError::Fleet(
                FolderError::Absent { .. }
                | FolderError::None(_)
                | FolderError::Name(_)
                | FolderError::Exists(_),
            ) => Self::usage(error),
            FleetError::Stopped(signal) => {
                Self { exit: Exit::Signal(signal), ..Self::measure(error) }
            }
            error => Self::measure(error),
        };
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// Returns what to do.
fn hint(error: &FleetError) -> Option<String> {
    Some(match error {
        FleetError::NoSsh(_) => {
            "install OpenSSH's client, for example by `apt install openssh-client`".to_owned()
        }
        FleetError::Unreachable { host, .. } => format!(
            "check that `ssh {host} true` works; becalm uses the same configuration, keys and jump hosts"
        ),
        FleetError::HostKey { host, .. } => format!(
            "connect once by `ssh {host}` and compare the fingerprint that it shows with that of the machine; becalm accepts \
             no key by itself"
        ),
        FleetError::Refused { host, .. } => {
            format!(
                "check that `ssh {host} true` works without asking for anything: load the key into your agent"
            )
        }
        FleetError::Architecture { there, .. } => format!(
            "put the becalm for {there} beside this one under the name becalm-{there}, or install becalm on the machine and \
             name it in hosts.toml: `becalm = \"/usr/bin/becalm\"`"
        ),
        FleetError::NoPlace { host, .. } => format!(
            "free some space there, or name another folder in hosts.toml: `[{host}]`, `folder = \"/var/tmp/becalm\"`"
        ),
        FleetError::NotStarted { host, is_forbidden: true, .. } => format!(
            "its file system may be mounted noexec: name another folder in hosts.toml: `[{host}]`, `folder = \
             \"/var/tmp/becalm\"`"
        ),
        FleetError::NotStarted { .. } => {
            "use the static becalm of the release, which needs no libraries".to_owned()
        }
        FleetError::Version { host, .. } => format!(
            "install this version there, or remove `becalm = ...` of {host} from hosts.toml, so that becalm copies itself"
        ),
        FleetError::Lost { host, .. } => format!(
            "{host} ends the session by itself within a minute, puts its settings back, and keeps the log of the runs"
        ),
        FleetError::NoSlurm { .. } => {
            "start becalm where Slurm's commands are installed, such as the login node".to_owned()
        }
        FleetError::JobLost { .. } => {
            "a job that Slurm ended is not started again by itself; `scontrol show job` and `sinfo` say more".to_owned()
        }
        FleetError::Fleet(FolderError::Absent { folder, .. }) => format!(
            "`ls {}` shows the fleets there, by name; --on slurm:folder=PATH looks in another folder",
            shell_words::quote(&folder.to_string_lossy())
        ),
        FleetError::Fleet(FolderError::None(_)) => {
            "`becalm fleet run` starts one; --on slurm:folder=PATH looks in another folder".to_owned()
        }
        FleetError::Fleet(FolderError::Attended(_)) => {
            "`becalm fleet status` shows its progress".to_owned()
        }
        FleetError::Fleet(FolderError::Version { version, .. }) => {
            format!("use becalm {version}, or start a new one")
        }
        FleetError::NotPortable(NotPortable::Build) => {
            "build first, then compare the programs; or compare revisions by --rev with --build"
                .to_owned()
        }
        FleetError::NotPortable(NotPortable::Layouts) => {
            "drop {link_seed} and --layouts".to_owned()
        }
        FleetError::NotPortable(NotPortable::Output(_)) => {
            "use --output inherit, and redirect the output here".to_owned()
        }
        FleetError::NotPortable(NotPortable::Missing(_)) => {
            "a relative path names a program here, an absolute one a program on the other machine"
                .to_owned()
        }
        FleetError::Parcel(ParcelError::Changed { .. }) => {
            "start again when it is finished".to_owned()
        }
        _ => return None,
    })
}
