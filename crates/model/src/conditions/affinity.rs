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
    #[error("the list contains no CPU")]
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
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AffinityReason {
    /// The user has named them.
    ChosenByUser,
    /// They are those of becalm: the kernel let none be chosen.
    Refused,
    /// There is no other.
    OnlyCpu {
        /// The CPU.
        cpus: CpuSet,
    },
    /// They suit the subjects best.
    Chosen {
        /// The CPUs.
        cpus: CpuSet,
        /// Those of becalm itself.
        housekeeping: CpuSet,
        /// For how many threads.
        threads: ChosenFor,
        /// What speaks for them.
        because: Vec<CpuMerit>,
    },
    /// They are all that can be taken away from everything else.
    Spared {
        /// The CPUs.
        cpus: CpuSet,
        /// Those that are left to everything else.
        others: CpuSet,
    },
}

/// For how many threads CPUs were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChosenFor {
    /// One.
    One,
    /// A number that is known.
    Several,
    /// As many as there may be.
    Any,
}

/// What speaks for CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CpuMerit {
    /// They are isolated from the scheduler.
    Isolated,
    /// They are of these kinds.
    OfKinds {
        /// The kinds.
        kinds: Vec<String>,
    },
    /// Only the fastest kinds are used.
    OnlyFastest {
        /// The kinds.
        kinds: Vec<String>,
        /// Whether a faster one has a single core.
        of_several_cores: bool,
    },
    /// A probe found the others noisier; shares of time lost in millionths.
    Quieter {
        /// Of this CPU.
        lost_ppm: u64,
        /// Of the least noisy of the others.
        least_ppm: u64,
        /// Of the noisiest.
        most_ppm: u64,
    },
    /// The kernel does most of its own work on CPU 0.
    AwayFromCpu0,
    /// Another becalm measures on others.
    OthersMeasured {
        /// On which ones.
        cpus: CpuSet,
    },
    /// Devices interrupt others.
    NotInterrupted,
    /// It is the last of several that are equally good.
    LastOfEquals {
        /// How many cores.
        cores: usize,
    },
    /// Their siblings stay idle.
    IdleSiblings {
        /// Which ones.
        cpus: CpuSet,
    },
    /// Isolated CPUs are left out.
    IsolatedLeftOut {
        /// Which ones.
        cpus: CpuSet,
    },
    /// A core is kept free for becalm.
    CoreSpared {
        /// Its CPUs.
        cpus: CpuSet,
    },
    /// Each thread has a core of its own.
    OwnCores,
    /// All are in one NUMA node.
    OneNode {
        /// Its number.
        node: u32,
    },
    /// Neither becalm nor anybody who is known to be at work has a CPU at their caches of a level.
    OwnCaches {
        /// The level: 2 or 3.
        level: u32,
    },
    /// They are all cores of their third-level caches.
    WholeCaches {
        /// How many caches.
        caches: usize,
    },
    /// They are in another NUMA node than the CPUs that devices interrupt, and CPU 0.
    FarFromInterrupts,
    /// The firmware prefers them to others of their kind.
    Preferred,
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
    /// A separate set of CPUs, of the first version of control groups.
    OwnSet,
}
