//! Choices between a few words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;

/// Whether addresses of the subjects are random.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Aslr {
    /// They are, as far as the machine supports it.
    #[default]
    On,
    /// They are not, for the process and its children.
    Off,
}

/// What the subjects' allocator does with freed memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Malloc {
    /// Whatever it does anyway.
    #[default]
    #[serde(rename = "as-is")]
    Left,
    /// glibc's keeps it.
    Keep,
}

/// Which transparent huge pages the subjects get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Thp {
    /// As the machine, or whoever started becalm, has it.
    #[default]
    Inherit,
    /// None.
    Off,
    /// Where they ask for them.
    Advised,
    /// glibc's allocator asks for them.
    On,
}

/// What happens to the page cache before each run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// Nothing.
    #[default]
    AsIs,
    /// An unmeasured run of the same subject fills it.
    Warm,
    /// It is emptied, which needs root.
    Drop,
}

/// How environment size and stack start are treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Padding {
    /// Another padding in every round, the same for all subjects of the round.
    #[default]
    Randomise,
    /// No padding.
    Fixed,
}

/// What happens to disturbed rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnDisturbance {
    /// They are labelled, and used like others.
    #[default]
    Keep,
    /// They are labelled, discarded and repeated, at most a third more rounds in all.
    Redo,
}

/// Whether the pace of a subject's CPU is sampled during its runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Where the subjects compute on one CPU for long enough to take samples.
    #[default]
    Auto,
    /// On whatever single CPU they have.
    On,
    /// It is not.
    Off,
}

/// What counts instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// The counters of the processor.
    #[default]
    Processor,
    /// Valgrind's callgrind, which simulates each run.
    Callgrind,
}

impl Malloc {
    /// Says whether freed memory is left to the allocator.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub(super) fn is_left(&self) -> bool {
        *self == Self::Left
    }
}

impl Thp {
    /// Says whether nothing is done about them.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub(super) fn is_inherited(&self) -> bool {
        *self == Self::Inherit
    }
}

impl Backend {
    /// Says whether the processor itself counts.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub(super) fn is_processor(&self) -> bool {
        *self == Self::Processor
    }
}

words! {
    Aslr { On = "on", Off = "off" }
    Malloc { Left = "as-is", Keep = "keep" }
    Thp { Inherit = "inherit", Off = "off", Advised = "advised", On = "on" }
    Cache { AsIs = "as-is", Warm = "warm", Drop = "drop" }
    Padding { Randomise = "randomise", Fixed = "fixed" }
    OnDisturbance { Keep = "keep", Redo = "redo" }
    Backend { Processor = "processor", Callgrind = "callgrind" }
    Pace { Auto = "auto", On = "on", Off = "off" }
}
