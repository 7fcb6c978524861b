//! Where iterations become steady: series with a known answer, those of others' rules, and how often each is right.
//!
//! [`made`] draws series whose truth is known, [`recorded`] reads those of real programs and takes the truth from what
//! they do on a quiet stage, [`peers`] are the published rules, and [`score`] counts.

pub mod made;
pub mod peers;
pub mod recorded;
pub mod score;

use becalm_stats::steady::{Class, Steady};

/// What a series does: the truth, or what a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// What it does.
    pub class: Class,
    /// First steady iteration; the number of iterations when there is none.
    pub from: usize,
}

impl Answer {
    /// The answer of becalm.
    pub fn of(found: &Steady) -> Self {
        Self { class: found.class, from: found.from.unwrap_or(found.n) }
    }

    /// There is no steady state.
    pub fn none(n: usize) -> Self {
        Self { class: Class::NoSteadyState, from: n }
    }

    /// Steady from here on, after something slower.
    pub fn warm(from: usize) -> Self {
        Self { class: if from == 0 { Class::Flat } else { Class::WarmUp }, from }
    }
}

/// A series, with what was seen beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Seconds of each iteration.
    pub seconds: Vec<f64>,
    /// How long of each the thread waited for a CPU.
    pub waited: Vec<f64>,
}
