//! What becalm knows about the machine, read through a root folder that tests replace.
//!
//! Nothing else in becalm opens `/sys`, a control group or a file of `/proc` that is about the
//! machine: everything goes through a [`SysRoot`], so that a folder with a few text files can stand
//! for any machine. (The runner reads what `/proc` says of its own processes.) What cannot be
//! read is always said, as a [`Reading`] or as a sentence in a list of limits; there is no silent
//! default.
//!
//! [`Topology`] and [`read_facts`] say what there is, [`choose`] which CPUs a subject gets, [`ActivityReader`] what
//! happens meanwhile. [`knobs`] plans changes without making one, [`tune`] makes and undoes them: nothing is written
//! before its old value is in the journal, on disk. [`isolate`] gives CPUs to a subject alone.
//!
//! It may use `kernel` and `model`. Start with `sysroot.rs`, then `tune/session.rs`.

mod accounts;
mod activity;
pub mod affinity;
mod awake;
pub mod boot;
mod cgroup;
mod check;
mod choice;
mod cpumask;
pub mod dump;
mod energy;
mod energy_meter;
mod facts;
mod huge_pages;
pub mod isolate;
mod isolcpus;
pub mod knobs;
mod lease;
mod listeners;
mod netlink;
mod page_cache;
mod process_group;
mod remembered;
mod schemata;
pub mod service;
pub mod steward;
mod sysroot;
mod systemd;
mod tasks;
mod topology;
pub mod tracefs;
mod tracepoints;
pub mod tune;
mod unrest;
pub mod usage;
mod user;

pub use becalm_kernel::allocator::return_freed_at_once;
pub use becalm_kernel::clock::{monotonic_now, suspended};

pub use activity::{Activity, ActivityReader, Clocks, SmiReader};
pub use awake::wakes_late;
pub use cgroup::{CgroupVersion, ControlGroups};
pub use check::check;
pub use choice::{Choice, ChoiceFacts, Chooser, Width, choose};
pub use energy::{EnergyReading, NoEnergy, SHORTEST as SHORTEST_ENERGY};
pub use energy_meter::EnergyMeter;
pub use facts::read_facts;
pub use huge_pages::huge_pages;
pub use lease::{Leased, Leases, leased, shared};
pub use listeners::{Listener, Socket, listeners};
pub use page_cache::drop_page_cache;
pub use process_group::{GroupUse, group_use};
pub use remembered::{MitigationEffects, NoiseRanking, Rank};
pub use steward::{acts_for_caller, may_act_as_root};
pub use sysroot::{Kernel, Reading, SysRoot};
pub use topology::{
    Cache, CacheContent, Core, CoreKind, Cpu, Device, DeviceKind, Group, MemoryKind, Node,
    SideCache, Topology, TopologyError,
};
pub use tracepoints::tracepoints;
pub use unrest::{Unrest, UnrestReader};
pub use user::{Caller, CallerError, effective_user, may_change};
