//! Which iterations of a record are drawn, and what is said of them beside the picture.

use becalm_model::{Record, Unit};
use becalm_stats::Sample;
use becalm_stats::steady::{Class, Steady, TOLERANCE, classify};

use crate::quantity::{Scale, count};

/// Runs of a subject that are drawn.
pub(crate) const DRAWN: usize = 3;

/// The iterations of one run, and what they do if there are enough to say so.
#[derive(Debug, Clone)]
pub(crate) struct Iterations<'a> {
    round: u32,
    /// In time order, in seconds.
    pub(crate) values: &'a [f64],
    pub(crate) steady: Option<Steady>,
}

/// Returns the iterations of the first measured runs of a subject, and how many more runs have some.
pub(crate) fn of(record: &Record, subject: usize) -> (Vec<Iterations<'_>>, usize) {
    let mut all = record.measured(subject).filter(|run| !run.iterations.is_empty());
    let drawn = all.by_ref().take(DRAWN);
    let drawn: Vec<Iterations<'_>> = drawn
        .map(|run| Iterations {
            round: run.round,
            values: &run.iterations,
            steady: Sample::new(run.iterations.clone())
                .and_then(|series| classify(&series, &[], TOLERANCE))
                .ok(),
        })
        .collect();
    (drawn, all.count())
}

/// Returns the word for a class, as in JSON.
pub fn class_word(class: Class) -> &'static str {
    match class {
        Class::Flat => "flat",
        Class::WarmUp => "warm-up",
        Class::SlowDown => "slow-down",
        Class::NoSteadyState => "no-steady-state",
    }
}

/// Says that further ones are left out: `2 more runs are not drawn.`
pub(crate) fn more_not_drawn(n: usize, what: &str) -> String {
    let are = if n == 1 { "is" } else { "are" };
    format!("{} {are} not drawn.", count(n, &format!("more {what}")))
}

impl Iterations<'_> {
    /// Says what the iterations do.
    pub(crate) fn in_words(&self) -> String {
        let n = count(self.values.len(), "iteration");
        let round = u64::from(self.round) + 1;
        let Some(steady) = &self.steady else {
            return format!("Round {round}: {n}, too few to say whether it settles");
        };
        let scale = Scale::of(&Unit::Second, [steady.level], true);
        let level = scale.with_unit(steady.level);
        let class = class_word(steady.class).replace('-', " ");
        match steady.from {
            None => format!("Round {round}: {n}, {class}"),
            Some(0) => format!("Round {round}: {n}, {class} at {level}"),
            Some(from) => format!("Round {round}: {class}, steady after {from} of {n} at {level}"),
        }
    }

    /// Says whether an iteration was set aside.
    pub(crate) fn is_outlier(&self, index: usize) -> bool {
        self.steady.as_ref().is_some_and(|steady| steady.outliers.binary_search(&index).is_ok())
    }

    /// Says whether the steady state is slower than what comes before it.
    pub(crate) fn slows_down(&self) -> bool {
        self.steady.as_ref().is_some_and(|steady| steady.class == Class::SlowDown)
    }
}
