//! On which NUMA nodes the memory of the subjects has to lie.

use std::fmt;
use std::str::FromStr;

use crate::as_text::as_text;
use crate::{CpuId, CpuListError, CpuSet};

/// NUMA nodes by the kernel's numbers, read and written as the kernel's lists: `0-1,3`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeSet(CpuSet);

impl NodeSet {
    /// Goes through the nodes in rising order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|CpuId(node)| node)
    }

    /// Writes them with their noun: `node 1`, `nodes 0-1`.
    pub fn named(&self) -> String {
        format!("{} {self}", if self.0.len() == 1 { "node" } else { "nodes" })
    }
}

impl FromIterator<u32> for NodeSet {
    fn from_iter<T: IntoIterator<Item = u32>>(nodes: T) -> Self {
        Self(nodes.into_iter().map(CpuId).collect())
    }
}

impl FromStr for NodeSet {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// On which nodes the memory of the subjects has to lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Membind {
    /// Those of their CPUs.
    Auto,
    /// Any.
    Off,
    /// These.
    Nodes(NodeSet),
}

/// Why a text names no nodes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MembindError {
    /// It is none of the words, and no list.
    #[error("`{0}` is neither auto, off, nor a list of nodes such as 0-1")]
    List(String),
    /// It is a list of nothing.
    #[error("the list contains no node")]
    Empty,
}

impl FromStr for Membind {
    type Err = MembindError;

    fn from_str(text: &str) -> Result<Self, MembindError> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            list => {
                let nodes: NodeSet =
                    list.parse().map_err(|_| MembindError::List(list.to_owned()))?;
                if nodes.0.is_empty() { Err(MembindError::Empty) } else { Ok(Self::Nodes(nodes)) }
            }
        }
    }
}

impl fmt::Display for Membind {
    /// Writes `auto`, `off` or a list of nodes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::Nodes(nodes) => nodes.fmt(f),
        }
    }
}

as_text!(NodeSet, Membind);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_named_as_cpus_are() {
        for text in ["auto", "off", "0", "0-1,3"] {
            assert_eq!(text.parse::<Membind>().unwrap().to_string(), text);
        }
        for wrong in ["", "on", "x", "3-1"] {
            assert!(wrong.parse::<Membind>().is_err(), "{wrong}");
        }
        assert_eq!(NodeSet::from_iter([1]).named(), "node 1");
        assert_eq!(NodeSet::from_iter([1, 0]).named(), "nodes 0-1");
    }
}
