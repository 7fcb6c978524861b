//! Which CPUs the subjects may use, and why these.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::as_text::as_text;
use crate::{CpuListError, CpuSet};

/// Which CPUs the subjects may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Affinity {
    /// As the warm-up teaches.
    #[default]
    Auto,
    /// Those of becalm.
    None,
    /// These.
    Cpus(CpuSet),
}

/// Why a text names no CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AffinityError {
    /// It is no list.
    #[error(transparent)]
    List(#[from] CpuListError),
    /// It is a list of nothing.
    #[error("the list has no CPU")]
    Empty,
}

impl FromStr for Affinity {
    type Err = AffinityError;

    fn from_str(text: &str) -> Result<Self, AffinityError> {
        match text {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            list => {
                let cpus: CpuSet = list.parse()?;
                if cpus.is_empty() { Err(AffinityError::Empty) } else { Ok(Self::Cpus(cpus)) }
            }
        }
    }
}

impl fmt::Display for Affinity {
    /// Writes `auto`, `none` or a CPU list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::Cpus(cpus) => cpus.fmt(f),
        }
    }
}

as_text!(Affinity);

/// Why the subjects have the CPUs that they have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AffinityReason {
    /// The user has named them.
    ChosenByUser,
    /// They are those of becalm: the kernel let none be chosen.
    Refused,
}

/// CPUs that were taken away from everything but the subjects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IsolatedCpus {
    /// The CPUs, idle siblings of the subjects' included.
    pub cpus: CpuSet,
    /// By what means.
    pub by: IsolatedBy,
    /// Folder of the control group of the subjects.
    pub group: String,
}

/// How control groups keep CPUs for the subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IsolatedBy {
    /// A partition without load balancing.
    IsolatedPartition,
    /// A partition with load balancing.
    BalancedPartition,
    /// A set of CPUs without load balancing, of the first version of control groups.
    UnbalancedSet,
    /// A set of CPUs of its own, of the first version of control groups.
    OwnSet,
}
