//! Where a job goes: a host, or a node of a cluster.

use becalm_fleet::{Allocation, Around, Cluster, Connection, Errand, FleetError, Terminal};
use becalm_session::files::{FOLDER, make_own_folder};

use super::{clock_ahead, connect, folder, host};
use crate::error::CommandError;
use crate::ui::Ui;

/// Where a job goes.
pub(super) enum Place {
    /// A host that `ssh` reaches.
    Host(Connection),
    /// A cluster, of which a job gets one node.
    Slurm(Cluster),
}

impl Place {
    /// Makes what the user calls by this name ready for jobs.
    pub(super) fn open(name: &str, ui: &Ui) -> Result<Self, CommandError> {
        let Some(allocation) = Allocation::parse(name).map_err(FleetError::from)? else {
            return connect(&host(name)?, ui).map(Self::Host);
        };
        cluster(allocation).map(Self::Slurm)
    }

    /// Returns by how many seconds its clock is ahead of the one here, where that is known and notable.
    pub(super) fn clock_ahead(&self) -> Option<i64> {
        match self {
            Self::Host(connection) => clock_ahead(connection),
            Self::Slurm(_) => None,
        }
    }

    pub(super) fn carry_out(
        &self,
        errand: Errand,
        terminal: Terminal,
        around: Around<'_>,
    ) -> Result<u8, FleetError> {
        match self {
            Self::Host(connection) => connection.carry_out(errand, terminal, around),
            Self::Slurm(cluster) => cluster.carry_out(errand, terminal, around),
        }
    }
}

/// Makes a cluster ready for jobs.
pub(crate) fn cluster(allocation: Allocation) -> Result<Cluster, CommandError> {
    let present = folder()?;
    let shared = match &allocation.folder {
        Some(folder) => present.join(folder),
        None => present.join(FOLDER).join("slurm"),
    };
    if allocation.folder.is_none() {
        make_own_folder(&shared).map_err(|error| {
            CommandError::measure(format!("cannot create {}: {error}", shared.display()))
        })?;
    }
    Ok(Cluster::open(allocation, &shared)?)
}
