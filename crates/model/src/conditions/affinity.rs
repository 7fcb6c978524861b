//! Which CPUs the subjects may use.

use std::fmt;
use std::str::FromStr;

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
