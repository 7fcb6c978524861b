//! How subjects are started: one type for each choice, with the words of command line and JSON, and the
//! [`Conditions`] that a record keeps of what was had in the end.

mod affinity;
mod choices;
mod described;
mod harness;
mod knobs;
mod memory;
mod recorded;
mod rest;
mod scheduler;

pub use affinity::{
    Affinity, AffinityError, AffinityReason, ChosenFor, CpuMerit, IsolatedBy, IsolatedCpus,
};
pub use choices::{Aslr, Backend, Cache, Malloc, OnDisturbance, Pace, Padding, Thp};
pub use described::Described;
pub use harness::{OwnTiming, StatementWorker};
pub use knobs::{KnobRecord, KnobState, Moved};
pub use memory::{Membind, MembindError, NodeSet};
pub use recorded::{Conditions, PaceSampling, Settle};
pub use rest::{Rest, RestError};
pub use scheduler::{Scheduler, SchedulerError, SchedulingClass};
