//! What tuning changes on a machine, as values: written to the journal before anything happens and
//! read back by whoever restores, possibly another process.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::CpuSet;

/// A process or thread, with its start, because ids are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Process id, or thread id.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start_time: u64,
}

/// One reversible change of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Name of the knob that asks for it.
    pub knob: String,
    /// What is changed.
    pub target: Target,
    /// Its value before anything was changed.
    pub old: String,
    /// The value to be set. `None` for a *guarded* target: becalm does not set it, but another
    /// change may disturb it, so it is saved and put back like the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Why, as a fragment for people: `the frequency follows the load`.
    pub reason: String,
    /// What is special about it.
    #[serde(default)]
    pub nature: Nature,
}

/// What is special about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    /// Nothing.
    #[default]
    Plain,
    /// The kernel changes the value by itself, so that a third value says nothing about others.
    Drifts,
    /// The kernel may refuse it and nothing tells beforehand, as for interrupts that it manages: a
    /// refusal is worth a note and is no failure.
    MayBeRefused,
    /// It is made only where the change before it was: without that it would do harm.
    Follows,
}

impl Change {
    /// A change of a kernel file by the knob `knob` from `old` to `new`.
    pub fn file(knob: &str, path: impl Into<String>, old: &str, new: &str, reason: &str) -> Self {
        Self::new(knob, Target::File(path.into()), old, Some(new), reason)
    }

    /// A change of anything from `old` to `new`, or one that is guarded; nothing is special about it.
    pub fn new(knob: &str, target: Target, old: &str, new: Option<&str>, reason: &str) -> Self {
        Self {
            knob: knob.to_owned(),
            target,
            old: old.to_owned(),
            new: new.map(str::to_owned),
            reason: reason.to_owned(),
            nature: Nature::Plain,
        }
    }

    /// The same change, of another nature.
    #[must_use]
    pub fn with(mut self, nature: Nature) -> Self {
        self.nature = nature;
        self
    }
}

/// Something with a value that can be read, set and put back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A file of the kernel: `/sys/...`, `/proc/sys/...`, a file of a control group.
    File(String),
    /// A folder that exists or not, such as a control group: `present` or `absent`.
    Folder(String),
    /// The CPUs on which a task may run, as a list.
    Affinity(ProcessIdentity),
    /// The control group of a task in one hierarchy: its folder below the mount point.
    Membership {
        /// The task.
        task: ProcessIdentity,
        /// Where the hierarchy is mounted.
        hierarchy: String,
    },
    /// A unit of systemd: `active` or `inactive`.
    Unit(String),
    /// The file that defines a unit of systemd until the next boot: its text, or `absent`.
    UnitFile(String),
    /// A network interface, by name: `up` or `down`.
    Interface(String),
    /// The routes that somebody has set through a network interface, which the kernel forgets when it goes
    /// down: its messages (`RTM_NEWROUTE`) in hexadecimal digits, one word each.
    Routes(String),
    /// A register of a CPU (MSR) that switches prefetchers off: its value in hexadecimal digits behind `0x`.
    Register {
        /// The CPU.
        cpu: u32,
        /// The number of the register.
        register: u32,
    },
    /// A swap area, by its path: its priority, or `off`.
    Swap(String),
    /// CPUs that irqbalance leaves alone, beyond those it finds itself: a list, empty for none.
    IrqbalanceBan,
    /// Interrupts that were requested since, by the CPUs that they may go to: a list.
    NewInterrupts(NewInterrupts),
}

/// Interrupts that were requested while new ones could only go to some CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NewInterrupts {
    /// Numbers of the interrupts that there were before.
    pub known: BTreeSet<u32>,
    /// The CPUs that new ones could go to.
    pub confined_to: CpuSet,
}

/// The registers that a change may be of: those that switch prefetchers off, of Intel and of AMD.
pub(crate) const REGISTERS: [u32; 2] = [0x1a4, 0xc000_0108];

impl fmt::Display for Target {
    /// Writes it as people would name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Folder(path) | Self::UnitFile(path) => f.write_str(path),
            Self::Affinity(ProcessIdentity { pid, .. }) => write!(f, "CPUs of task {pid}"),
            Self::Membership { task: ProcessIdentity { pid, .. }, hierarchy } => {
                write!(f, "control group of process {pid} in {hierarchy}")
            }
            Self::Unit(name) => write!(f, "systemd unit {name}"),
            Self::Interface(name) => write!(f, "network interface {name}"),
            Self::Swap(path) => write!(f, "swap on {path}"),
            Self::Routes(name) => write!(f, "routes through {name}"),
            Self::NewInterrupts(_) => f.write_str("CPUs of interrupts requested meanwhile"),
            Self::Register { cpu, register } => write!(f, "register {register:#x} of CPU {cpu}"),
            Self::IrqbalanceBan => f.write_str("CPUs banned from irqbalance"),
        }
    }
}
