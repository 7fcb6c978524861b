//! What a fleet is asked for, and what happens while it is attended to.

use becalm_model::Record;
use becalm_model::wire::{LeftOutFor, TryState};
use becalm_session::Request;

use super::canary::CanaryProgram;
use crate::error::FleetError;

/// What a new fleet is to measure.
#[derive(Debug)]
pub struct Wanted {
    /// Its name; otherwise it gets the next number.
    pub name: Option<String>,
    /// Where its machines come from, as the user named it.
    pub place: String,
    /// How many machines.
    pub machines: u32,
    /// How many blocks on each.
    pub blocks: u32,
    /// What is measured before each block.
    pub canary: Option<CanaryProgram>,
    /// A block.
    pub session: Request,
}

/// What happens while a fleet is attended to.
#[derive(Debug)]
pub enum FleetEvent<'a> {
    /// A block was submitted.
    Submitted {
        /// The machine.
        machine: &'a str,
        /// Which block of it, from 1.
        block: u32,
        /// The number of its job.
        job: &'a str,
    },
    /// A block is whole.
    Measured {
        /// The machine.
        machine: &'a str,
        /// Which block of it, from 1.
        block: u32,
        /// Everything that it measured.
        record: &'a Record,
    },
    /// A try ended without a whole block.
    InVain {
        /// The machine.
        machine: &'a str,
        /// Which block of it, from 1.
        block: u32,
        /// How it ended.
        how: &'a TryState,
    },
    /// A machine gets no further blocks.
    LeftOut {
        /// The machine.
        machine: &'a str,
        /// Why.
        why: &'a LeftOutFor,
    },
    /// The cluster has fewer machines for it than were asked for.
    Few {
        /// How many it has.
        found: usize,
        /// How many were asked for.
        wanted: usize,
    },
    /// Slurm takes no more jobs now; becalm tries again.
    Refused(&'a FleetError),
    /// How far it is.
    Looked {
        /// Blocks that are whole and count.
        measured: u32,
        /// Blocks that were asked for.
        wanted: u32,
        /// The tries that are in flight, with their machines.
        in_flight: Vec<(&'a str, u32, TryState)>,
    },
}

/// Why attending ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attended {
    /// There is nothing left to do.
    Over,
    /// The user went away; the jobs go on.
    Left(i32),
}
