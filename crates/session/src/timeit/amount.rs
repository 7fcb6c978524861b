//! How much is measured of a statement.

use std::time::Duration;

use becalm_model::terms::{Goal, Stop};
use becalm_runner::timeit::Usual;

/// Rounds of a comparison before its first look.
const MINIMUM: u32 = 8;

/// How much to measure, as far as the user says.
#[derive(Debug, Clone, Copy, Default)]
pub struct AmountWish {
    /// Processes of each interpreter.
    pub processes: Option<u32>,
    /// Values of each process.
    pub values: Option<u32>,
    /// Values before them.
    pub warmups: Option<u32>,
    /// Loops of each value; becalm finds them out otherwise.
    pub loops: Option<u64>,
    /// How long a value has to take where the loops are found out.
    pub min_time: Duration,
    /// How much, if nothing is set.
    pub effort: Effort,
}

/// More or less of everything.
#[derive(Debug, Clone, Copy, Default)]
pub enum Effort {
    /// As pyperf does.
    #[default]
    Usual,
    /// A rough answer soon.
    Fast,
    /// Twice as many processes.
    Rigorous,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Amount {
    /// Processes of each interpreter.
    pub(super) processes: u32,
    /// Values of each process.
    pub(super) values: u32,
    /// Values before them.
    pub(super) warmups: u32,
}

impl Amount {
    /// Returns the resulting amounts. A comparison may continue for twice as many processes as one
    /// statement has, and ends earlier if the answer is known.
    pub(super) fn of(wish: &AmountWish, usual: Usual, is_comparison: bool) -> Self {
        let factor = if is_comparison { 2 } else { 1 };
        let (processes, values) = match wish.effort {
            // At least three, as in pyperf: Python's hash function is another one in each.
            Effort::Fast => ((usual.processes / 2).max(3), (usual.values * 2 / 3).max(2)),
            Effort::Rigorous => (usual.processes * 2, usual.values),
            Effort::Usual => (usual.processes, usual.values),
        };
        Self {
            processes: wish.processes.unwrap_or(processes * factor),
            values: wish.values.unwrap_or(values),
            warmups: wish.warmups.unwrap_or(usual.warmups),
        }
    }

    /// Returns when to end: a comparison when the answer is known, unless the user says after how many processes.
    pub(super) fn stop(&self, wish: &AmountWish, is_comparison: bool) -> Stop {
        if is_comparison && wish.processes.is_none() {
            Stop::Until {
                minimum: MINIMUM.min(self.processes),
                maximum: Some(self.processes),
                budget: None,
                goal: Goal::Verdict,
            }
        } else {
            Stop::Rounds(self.processes)
        }
    }

    /// Returns how many values each subject times at most, those that are not used among them.
    pub(super) fn values_in_all(&self) -> f64 {
        (f64::from(self.values) + f64::from(self.warmups)) * (f64::from(self.processes) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Usual = Usual { processes: 20, values: 3, warmups: 1 };

    #[track_caller]
    fn check(wish: AmountWish, is_comparison: bool, expected: (u32, u32, u32)) {
        let amount = Amount::of(&wish, USUAL, is_comparison);
        assert_eq!((amount.processes, amount.values, amount.warmups), expected);
    }

    fn wish(effort: Effort, processes: Option<u32>) -> AmountWish {
        AmountWish { processes, effort, ..AmountWish::default() }
    }

    #[test]
    fn the_amounts_are_those_of_pyperf() {
        check(wish(Effort::Usual, None), false, (20, 3, 1));
        check(wish(Effort::Fast, None), false, (10, 2, 1));
        check(wish(Effort::Rigorous, None), false, (40, 3, 1));
        let given = wish(Effort::Usual, Some(5));
        check(AmountWish { values: Some(7), warmups: Some(0), ..given }, false, (5, 7, 0));
        check(wish(Effort::Fast, Some(5)), false, (5, 2, 1));
    }

    #[test]
    fn a_comparison_may_go_on_for_twice_as_long_unless_told_otherwise() {
        check(wish(Effort::Usual, None), true, (40, 3, 1));
        check(wish(Effort::Fast, None), true, (20, 2, 1));
        check(wish(Effort::Usual, Some(12)), true, (12, 3, 1));
    }
}
