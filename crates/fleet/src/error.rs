//! Why something cannot be done on another machine.

use std::path::PathBuf;

use crate::hosts::HostsError;
use crate::parcel::ParcelError;

/// Why something cannot be done on another machine. The host is what the user calls it.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The file of hosts, or the name of one.
    #[error(transparent)]
    Hosts(#[from] HostsError),
    /// There is no `ssh` here.
    #[error("cannot start ssh: {0}")]
    NoSsh(std::io::Error),
    /// Nobody answers.
    #[error("cannot connect to {host}: {text}")]
    Unreachable {
        /// The host.
        host: String,
        /// What `ssh` says.
        text: String,
    },
    /// `ssh` does not know the key of the host, or knows another one.
    #[error("the key of {host} is not the one that ssh knows: {text}")]
    HostKey {
        /// The host.
        host: String,
        /// What `ssh` says.
        text: String,
    },
    /// The host does not let the user in.
    #[error("{host} refuses the login: {text}")]
    Refused {
        /// The host.
        host: String,
        /// What `ssh` says.
        text: String,
    },
    /// It is not Linux.
    #[error("{host} is a {system} machine; becalm measures on Linux only")]
    NotLinux {
        /// The host.
        host: String,
        /// What it runs.
        system: String,
    },
    /// This becalm is for another processor.
    #[error("{host} is {there}, this becalm is for {here}", here = std::env::consts::ARCH)]
    Architecture {
        /// The host.
        host: String,
        /// Its architecture, as `uname -m` says.
        there: String,
    },
    /// There is no place for becalm.
    #[error("{host} has no place for becalm in {folder}: {text}")]
    NoPlace {
        /// The host.
        host: String,
        /// Where becalm tried to keep itself.
        folder: String,
        /// What the host says.
        text: String,
    },
    /// becalm was copied and cannot be started.
    #[error("{path} does not start on {host}: {text}")]
    NotStarted {
        /// The host.
        host: String,
        /// Where becalm is.
        path: String,
        /// What the host says.
        text: String,
        /// Whether programs in that folder may not be executed.
        is_forbidden: bool,
    },
    /// The host says something that becalm did not ask for.
    #[error("unexpected answer from {host}: {text}")]
    Answer {
        /// The host.
        host: String,
        /// What it says.
        text: String,
    },
    /// Another version is installed there.
    #[error("{host} has becalm {there}, this is {here}")]
    Version {
        /// The host.
        host: String,
        /// Its version.
        there: String,
        /// The version here.
        here: String,
    },
    /// A file cannot be sent.
    #[error(transparent)]
    Parcel(#[from] ParcelError),
    /// The session cannot be carried out elsewhere.
    #[error(transparent)]
    NotPortable(#[from] NotPortable),
    /// The suite cannot be read.
    #[error(transparent)]
    Suite(#[from] becalm_session::suite::SuiteError),
    /// The connection ended before the job did.
    #[error("the connection to {host} was lost: {text}")]
    Lost {
        /// The host.
        host: String,
        /// What `ssh` says.
        text: String,
    },
    /// The user ended it before the job began.
    #[error("stopped by signal {0}")]
    Stopped(i32),
    /// What is asked of Slurm makes no sense.
    #[error("--on slurm: {0}")]
    Allocation(#[from] crate::slurm::AllocationError),
    /// Slurm's commands are not here.
    #[error("cannot start {command}: {source}")]
    NoSlurm {
        /// Which one.
        command: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// Slurm refuses.
    #[error("{command}: {text}")]
    Slurm {
        /// Its command.
        command: &'static str,
        /// What it says.
        text: String,
    },
    /// A job ended without a result.
    #[error("job {number} ended without a result ({state}){text}")]
    JobLost {
        /// Its number.
        number: String,
        /// Slurm's word for how it ended.
        state: String,
        /// What it said last.
        text: String,
    },
    /// The folder of a fleet.
    #[error(transparent)]
    Fleet(#[from] crate::blocks::FolderError),
    /// A file of a fleet cannot be written.
    #[error(transparent)]
    File(#[from] becalm_session::FileError),
    /// What a block has measured cannot be read.
    #[error("cannot read what a block has measured: {0}")]
    Record(#[from] becalm_model::wire::LogError),
    /// The shared folder cannot be written.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// A file of this machine cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    Here {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Why a session cannot be carried out on another machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPortable {
    /// A build command changes files here.
    #[error("--build builds here, and --on runs programs elsewhere")]
    Build,
    /// Several layouts of a program.
    #[error("--on does not send several layouts of a program")]
    Layouts,
    /// The output would stay there.
    #[error("--output {0} would be written on the other machine and removed with the session")]
    Output(String),
    /// A program that is not here.
    #[error("{} does not exist here, so it cannot be sent", .0.display())]
    Missing(PathBuf),
}
