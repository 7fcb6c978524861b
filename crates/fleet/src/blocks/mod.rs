//! A comparison in blocks on several machines of a type, as jobs of a cluster.
//!
//! A block is a whole comparison in turns on one machine: A and B are never on different machines, and half a block counts
//! for nothing. All jobs are submitted at once, so that nobody has to wait for them; whoever attends collects what is
//! finished, and tries again what was lost.
//!
//! `state.rs` is what is kept on disk, `next.rs` decides what is done next and knows no cluster, `attend.rs` does it by `jobs.rs`,
//! `described.rs` says how far it is, `folder.rs` is the place on disk, `canary.rs` judges whether a machine is as it always is, `join.rs` and `levels.rs` say what the
//! blocks show together.
//!
//! ```text
//! FOLDER/fleets/NAME/plan.json       what was asked for
//! FOLDER/fleets/NAME/job.json        the job of each block, and canary.json that of the canary before it
//! FOLDER/fleets/NAME/state.json      the machines, and every try of a block
//! FOLDER/fleets/NAME/lock            held by the becalm that attends
//! FOLDER/fleets/NAME/tries/N/        run.sh, canary.jsonl, frames.jsonl, output.txt, and record.json once it is whole
//! FOLDER/canaries.jsonl              every canary of every machine
//! ```

mod arrived;
mod attend;
mod canary;
mod described;
mod error;
mod event;
mod folder;
mod jobs;
mod join;
mod levels;
mod next;
mod state;

pub use attend::FleetRun;
pub use canary::{CanaryProgram, canary_series, forget_canaries};
pub use error::FolderError;
pub use event::{Attended, FleetEvent, Wanted};
pub use folder::FleetFolder;
