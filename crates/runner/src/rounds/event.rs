//! What a session tells while it runs. Nothing here is text for people.

use becalm_model::{Comparison, Metric, Record, Run};

/// One thing that happened.
#[derive(Debug)]
pub enum RoundEvent<'a> {
    /// A run ended; it is already in the record.
    RunFinished {
        /// The run.
        run: &'a Run,
        /// The metrics of the record, those that this run showed first among them.
        metrics: &'a [Metric],
    },
    /// A round ended.
    RoundFinished {
        /// Measured rounds so far that are kept, warm-up not counted.
        rounds: u32,
        /// Share of the plan that is used, 0..=1.
        fraction: f64,
        /// Whether this was a warm-up round.
        warmup: bool,
    },
    /// The warm-up of subjects that are independent of each other is over.
    WarmedUp {
        /// What it showed.
        record: &'a Record,
    },
    /// A measured round was disturbed and is made again; its runs are marked in the record.
    RoundDiscarded {
        /// Its number.
        round: u32,
    },
    /// The results were looked at.
    Looked {
        /// Measured rounds so far.
        rounds: u32,
        /// Conclusions at this look.
        comparisons: &'a [Comparison],
    },
    /// Before the first measured round it turned out that the plan cannot decide.
    Undecidable {
        /// Rounds that fit.
        possible: u32,
        /// Rounds that any verdict needs.
        needed: u32,
    },
}
