//! `cargo xtask bench`: becalm against its peers, in ratios measured in the same run.

mod changes;
mod decide;
mod disturber;
mod harnesses;
mod history;
mod import;
mod load;
mod overhead;
mod probe;
mod redo;
mod replay;
mod resolution;
mod stage;
mod store;
mod surroundings;
mod trace;
mod turns;
mod warmup;
mod web;

use anyhow::Result;

/// Measure becalm itself against its peers
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Bench {
    Changes(changes::Args),
    Decide(decide::Args),
    Harnesses(harnesses::Args),
    History(history::Args),
    Import(import::Args),
    Load(load::Args),
    Overhead(overhead::Args),
    Probe(probe::Args),
    Redo(redo::Args),
    Replay(replay::Args),
    Store(store::Args),
    Trace(trace::Args),
    Turns(turns::Args),
    Warmup(warmup::Args),
    Web(web::Args),
}

impl Bench {
    /// Runs the benchmark and prints its tables.
    pub(crate) fn run(&self) -> Result<()> {
        match self {
            Self::Changes(args) => changes::run(args),
            Self::Decide(args) => decide::run(args),
            Self::Harnesses(args) => harnesses::run(args),
            Self::History(args) => history::run(args),
            Self::Import(args) => import::run(args),
            Self::Load(args) => load::run(args),
            Self::Overhead(args) => overhead::run(args),
            Self::Probe(args) => probe::run(args),
            Self::Redo(args) => redo::run(args),
            Self::Replay(args) => replay::run(args),
            Self::Store(args) => store::run(args),
            Self::Trace(args) => trace::run(args),
            Self::Turns(args) => turns::run(args),
            Self::Warmup(args) => warmup::run(args),
            Self::Web(args) => web::run(args),
        }
    }
}
