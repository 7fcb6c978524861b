//! What `becalm machine service status --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who has the machine, and who waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineServiceDocument {
    /// `becalm/machine-service/1`.
    pub schema: String,
    /// Who has it; nothing if it is free.
    pub holder: Option<MachineHolderDocument>,
    /// Who waits, the next one first.
    pub waiting: Vec<MachineWaiterDocument>,
    /// Names of the profiles that users may have.
    pub profiles: Vec<String>,
    /// Most CPUs that a user may reserve.
    pub isolated_cpus: usize,
    /// For how many seconds a user may have the machine.
    pub limit: u64,
}

/// Who has the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineHolderDocument {
    /// User id; nothing if the service has not given it.
    pub uid: Option<u32>,
    /// Login name, where it is known.
    pub user: Option<String>,
    /// Process.
    pub pid: u32,
    /// Its command, without arguments.
    pub command: String,
    /// For how many seconds it has had the machine.
    pub held: Option<u64>,
    /// After how many seconds the service takes it back.
    pub left: Option<u64>,
}

/// Who waits for the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineWaiterDocument {
    /// User id.
    pub uid: u32,
    /// Login name, where it is known.
    pub user: Option<String>,
    /// Process.
    pub pid: u32,
    /// Its command, without arguments.
    pub command: String,
    /// For how many seconds it has been waiting.
    pub waited: u64,
}
