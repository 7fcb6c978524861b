//! Sessions on other machines.
//!
//! becalm copies itself to the machine, sends what the session needs, and starts there as the *far end*, which
//! carries out one [`Job`] and reports by [`Frame`]s: what a person would see, and the lines of the session's log as it
//! grows. The connection is that of the user's own `ssh`; nothing listens on a port.
//!
//! Here: `hosts.rs` reads the user's file of hosts, `ssh.rs` calls `ssh`, `install.rs` copies becalm (`program.rs`), `parcel.rs` lists
//! the files of a job, `near.rs` carries out a job from this side. There: `far.rs` receives a job and its files,
//! `writer.rs` sends frames without ever making a session wait for the network. `job.rs` and `frame.rs` are the
//! protocol; both ends are the same program, so that neither has versions of its own.
//!
//! `slurm/` has a node of a cluster in place of a host, and `blocks/` a comparison on several nodes.
//!
//! It may use the session library, the runner's words for verdicts, stats, the model and the kernel. It prints nothing and knows no command line.

mod blocks;
mod error;
mod far;
mod frame;
mod hash;
mod hosts;
mod install;
mod job;
mod names;
mod near;
mod parcel;
mod path_text;
mod program;
mod request;
mod slurm;
mod ssh;
mod step;
mod store;
mod writer;

pub use blocks::{
    Attended, CanaryProgram, FleetEvent, FleetFolder, FleetRun, FolderError, Wanted, canary_series,
    forget_canaries,
};
pub use error::{FleetError, NotPortable};
pub use far::{FarEnd, FarError, Received};
pub use frame::{Call, Frame, Outcome};
pub use hosts::{Host, Hosts, HostsError};
pub use install::Installed;
pub use job::{Job, Output, SessionWork, Terminal, Work};
pub use near::{Around, Connection};
pub use parcel::{Parcel, ParcelError};
pub use request::{Errand, FarSessionError, relative_to};
pub use slurm::{Allocation, AllocationError, Cluster};
pub use step::Step;
pub use store::StoreError;
pub use writer::FrameWriter;
