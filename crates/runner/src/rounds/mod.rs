//! One measuring session: a plan carried out, told as events.

mod client;
mod event;
mod executor;
mod goal;
mod hook;
mod independent;
mod learn;
mod measure;
mod plan;
mod redo;
mod rest;
mod settling;
mod spawn;
mod spawn_plan;
#[cfg(test)]
mod tests;
mod turn;
mod values;

pub use client::{Call, Client, PORT, Ready, Sent, ServerError, ServerStart, Serving};
pub use event::RoundEvent;
pub use executor::{BenchmarkValue, Executor, Learnt, MeasuredRun, RunRequest};
pub use hook::{Hook, run_to_end};
pub use independent::{Spent, spent};
pub use measure::{LeftOut, SessionError, drop_unfinished_round, measure};
pub use plan::{
    Conditioning, FIFO_REST, Independent, Judgement, LONGEST_FIFO_RUN, OnFailure, OwnTerms, Plan,
};
pub use redo::causes;
pub use settling::settle_note;
pub use spawn::Spawn;
pub use spawn_plan::{
    Expectation, HarnessPlan, Hooks, Isolate, Isolated, RunError, SpawnPlan, SpawnSubject, Stand,
    parse_output, parse_variable,
};
pub use values::Values;
