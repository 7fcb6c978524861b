//! The nodes that an allocation may have, as `sinfo` lists them.

use std::process::Command;

use super::allocation::{Allocation, AllocationError};
use super::queue::answer;
use crate::error::FleetError;

/// A node of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// Its name.
    pub(crate) name: String,
    /// Slurm's word for how it is: `idle`, `drained`.
    pub(crate) state: String,
}

/// States of a node that starts no jobs, whatever follows the word.
const UNUSABLE: [&str; 9] =
    ["down", "drain", "draining", "fail", "maint", "error", "unknown", "future", "inval"];

impl Node {
    /// Says whether it starts jobs, now or after others.
    pub(crate) fn is_usable(&self) -> bool {
        !UNUSABLE.iter().any(|word| self.state.starts_with(word))
    }

    fn is_idle(&self) -> bool {
        self.state.starts_with("idle")
    }
}

/// Lists the nodes that an allocation may have, those that are free first.
pub(crate) fn nodes(allocation: &Allocation) -> Result<Vec<Node>, FleetError> {
    let mut command = Command::new("sinfo");
    command.args(["--noheader", "--Node", "--format=%N|%P|%T|%f"]);
    if let Some(partition) = &allocation.partition {
        command.arg(format!("--partition={partition}"));
    }
    Ok(listed(&answer(&mut command)?, allocation)?)
}

/// Reads lines of `NODE|PARTITION|STATE|FEATURES`. The default partition has a star; a node may be in several.
fn listed(text: &str, allocation: &Allocation) -> Result<Vec<Node>, AllocationError> {
    let features = match &allocation.constraint {
        Some(text) => Features::parse(text)?,
        None => Features::All(Vec::new()),
    };
    let mut nodes: Vec<Node> = Vec::new();
    for line in text.lines() {
        let mut parts = line.split('|').map(str::trim);
        let (Some(name), Some(partition), Some(state), Some(has)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let is_chosen = allocation.partition.is_some() || partition.ends_with('*');
        let is_new = nodes.iter().all(|node| node.name != name);
        if is_chosen && is_new && features.are_in(has) {
            nodes.push(Node { name: name.to_owned(), state: state.to_owned() });
        }
    }
    nodes.sort_by(|a, b| b.is_idle().cmp(&a.is_idle()).then_with(|| a.name.cmp(&b.name)));
    Ok(nodes)
}

/// Features that a node must have.
#[derive(Debug)]
enum Features<'a> {
    All(Vec<&'a str>),
    Any(Vec<&'a str>),
}

impl<'a> Features<'a> {
    /// Reads `a&b` or `a|b`. Slurm knows more, which means several nodes in one job.
    fn parse(text: &'a str) -> Result<Self, AllocationError> {
        let is_plain = |word: &str| {
            !word.is_empty() && !word.contains(['[', ']', '(', ')', '*', '&', '|', '!'])
        };
        let (all, any): (Vec<_>, Vec<_>) = (text.split('&').collect(), text.split('|').collect());
        let read = if any.len() > 1 { Self::Any(any) } else { Self::All(all) };
        let (Self::All(words) | Self::Any(words)) = &read;
        if !words.iter().all(|word| is_plain(word)) {
            return Err(AllocationError::Constraint(text.to_owned()));
        }
        Ok(read)
    }

    fn are_in(&self, listed: &str) -> bool {
        let has: Vec<&str> = listed.split(',').map(str::trim).collect();
        match self {
            Self::All(words) => words.iter().all(|word| has.contains(word)),
            Self::Any(words) => words.iter().any(|word| has.contains(word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
n1|bench*|allocated|fast,epyc
n1|all|allocated|fast,epyc
n2|bench*|idle|slow,epyc
n3|all|idle|epyc
n4|bench*|drained|epyc
n5|bench*|down*|(null)
";

    fn names(asked: &str) -> Result<Vec<String>, AllocationError> {
        let allocation = Allocation::parse(asked).unwrap().unwrap();
        Ok(listed(LIST, &allocation)?.into_iter().map(|node| node.name).collect())
    }

    #[test]
    fn nodes_of_the_partition_that_have_the_features() {
        assert_eq!(names("slurm").unwrap(), ["n2", "n1", "n4", "n5"]);
        assert_eq!(names("slurm:constraint=epyc").unwrap(), ["n2", "n1", "n4"]);
        assert_eq!(names("slurm:constraint=epyc&fast").unwrap(), ["n1"]);
        assert_eq!(names("slurm:constraint=slow|fast").unwrap(), ["n2", "n1"]);
        for complex in ["a&b|c", "[a*2&b]", "a&", "!a"] {
            let error = names(&format!("slurm:constraint={complex}")).unwrap_err();
            assert_eq!(error, AllocationError::Constraint(complex.to_owned()));
        }
    }

    #[test]
    fn a_node_that_starts_no_jobs() {
        let usable =
            |state: &str| Node { name: String::new(), state: state.to_owned() }.is_usable();
        assert!(usable("idle") && usable("allocated+") && usable("mixed") && usable("idle~"));
        assert!(!usable("down*") && !usable("drained") && !usable("draining@") && !usable("maint"));
    }
}
