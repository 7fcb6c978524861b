//! What is kept of a fleet on disk.

use becalm_model::wire::{Canary, LeftOutFor};
use serde::{Deserialize, Serialize};

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// The becalm that started it; another one may read its files in another way.
    pub(crate) version: String,
    /// Its name.
    pub(crate) name: String,
    /// Where its machines come from, as the user named it.
    pub(crate) place: String,
    /// The command line, program name left out.
    pub(crate) arguments: Vec<String>,
    /// When it was started, in seconds of Unix time.
    pub(crate) started_at: f64,
    /// How many machines.
    pub(crate) machines: u32,
    /// How many blocks on each.
    pub(crate) blocks: u32,
    /// Confidence asked for.
    pub(crate) confidence: f64,
    /// Smallest relative change that matters.
    pub(crate) margin: f64,
    /// Whether a program is compared with itself.
    pub(crate) aa: bool,
    /// The canary before each block, by its words and metric, if there is one.
    pub(crate) canary: Option<super::canary::CanaryProgram>,
}

/// How far it has come.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Its machines, in the order in which they were chosen.
    pub(crate) members: Vec<Member>,
    /// Every try of a block, in the order in which they were begun; their folders have their places here as names.
    pub(crate) tries: Vec<Try>,
    /// It was cancelled.
    pub(crate) is_cancelled: bool,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Member {
    /// Its name.
    pub(crate) node: String,
    /// Why it gets no further blocks.
    pub(crate) left_out: Option<LeftOutFor>,
}

/// One try to measure a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Try {
    /// The machine.
    pub(crate) node: String,
    /// Which block of it, from 1.
    pub(crate) block: u32,
    /// The number of its job. A try without one was about to be submitted.
    pub(crate) job: Option<String>,
    /// What the canary has shown.
    pub(crate) canary: Option<Canary>,
    /// How it ended.
    pub(crate) end: Option<End>,
    /// It was asked to end.
    pub(crate) is_asked_to_end: bool,
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// Its block is whole.
    Measured,
    /// Its job ended without a result, in this state in Slurm's words.
    Lost(String),
    /// Somebody or the end of its time ended it.
    Stopped,
    /// Its session failed, and why.
    Failed(String),
}

impl Try {
    pub(crate) fn new(node: &str, block: u32) -> Self {
        Self {
            node: node.to_owned(),
            block,
            job: None,
            canary: None,
            end: None,
            is_asked_to_end: false,
        }
    }

    /// Says whether its block is whole.
    pub(crate) fn is_measured(&self) -> bool {
        self.end == Some(End::Measured)
    }

    /// Says whether it was lost or stopped, so that the block may be tried again.
    pub(crate) fn is_in_vain(&self) -> bool {
        matches!(self.end, Some(End::Lost(_) | End::Stopped)) && !self.is_asked_to_end
    }
}

impl State {
    pub(crate) fn tries_of(&self, node: &str) -> impl Iterator<Item = &Try> {
        self.tries.iter().filter(move |one| one.node == node)
    }

    /// Returns the tries that have not ended, by their places.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = usize> {
        (0..self.tries.len()).filter(|&index| self.tries[index].end.is_none())
    }

    pub(crate) fn member(&self, node: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.node == node)
    }

    /// Says whether what a try has measured counts.
    pub(crate) fn counts(&self, one: &Try) -> bool {
        let keeps = |member: &Member| member.left_out.as_ref().is_none_or(LeftOutFor::keeps_blocks);
        one.is_measured() && self.member(&one.node).is_some_and(keeps)
    }
}
