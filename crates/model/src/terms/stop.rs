//! When a session ends.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::seconds;

/// When a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// After exactly this many rounds, with one look at the end that spends the whole error.
    Rounds(u32),
    /// When the goal is reached, at the latest when the budget is used up.
    Until {
        /// Rounds that are made whatever the goal says.
        minimum: u32,
        /// Rounds that are never exceeded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maximum: Option<u32>,
        /// Time after which no further round starts, in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "seconds::optional")]
        #[schemars(with = "Option<f64>")]
        budget: Option<Duration>,
        /// What there is to reach.
        goal: Goal,
    },
}

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Every primary comparison left the margin or fits inside it.
    Verdict,
    /// The interval of every subject's median is at most this share of the median to either side.
    Precision(f64),
    /// Use the whole budget.
    Budget,
}

impl Stop {
    /// Returns the fewest rounds of the plan.
    pub fn minimum(&self) -> u32 {
        match *self {
            Self::Rounds(rounds) => rounds,
            Self::Until { minimum, maximum, .. } => maximum.map_or(minimum, |m| m.min(minimum)),
        }
    }

    /// Returns how many rounds fit at most, when a round takes `round` seconds.
    pub fn possible_rounds(&self, round: f64) -> Option<u32> {
        match *self {
            Self::Rounds(rounds) => Some(rounds),
            Self::Until { minimum, maximum, budget, .. } => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a float cast saturates"
                )]
                let timed = budget
                    .filter(|_| round > 0.0)
                    .map(|budget| ((budget.as_secs_f64() / round).ceil() as u32).max(minimum));
                match (timed, maximum) {
                    (Some(timed), Some(maximum)) => Some(timed.min(maximum)),
                    (timed, maximum) => timed.or(maximum),
                }
            }
        }
    }

    /// Returns the share of the plan that is used after `rounds` and `elapsed` seconds, 0..=1.
    pub fn fraction(&self, rounds: u32, elapsed: f64) -> f64 {
        match *self {
            Self::Rounds(all) => f64::from(rounds) / f64::from(all.max(1)),
            Self::Until { minimum, maximum, budget, .. } => {
                let by_rounds =
                    maximum.map_or(0.0, |all| f64::from(rounds) / f64::from(all.max(1)));
                // Before the minimum is reached the time does not end the session.
                let by_time = budget
                    .filter(|_| rounds >= minimum)
                    .map_or(0.0, |budget| elapsed / budget.as_secs_f64().max(f64::MIN_POSITIVE));
                by_rounds.max(by_time)
            }
        }
        .clamp(0.0, 1.0)
    }

    /// Says whether no further round may start.
    pub fn is_used_up(&self, rounds: u32, elapsed: f64) -> bool {
        rounds >= self.minimum() && self.fraction(rounds, elapsed) >= 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNTIL: Stop = Stop::Until {
        minimum: 10,
        maximum: Some(100),
        budget: Some(Duration::from_secs(10)),
        goal: Goal::Verdict,
    };

    #[test]
    fn the_budget_is_used_up_by_rounds_or_by_time_but_not_before_the_minimum() {
        assert!(!UNTIL.is_used_up(9, 60.0));
        assert!(UNTIL.is_used_up(10, 10.0));
        assert!(!UNTIL.is_used_up(99, 9.9));
        assert!(UNTIL.is_used_up(100, 0.1));
        assert!(Stop::Rounds(3).is_used_up(3, 0.0) && !Stop::Rounds(3).is_used_up(2, 1e9));
    }

    #[test]
    fn the_possible_rounds_follow_from_the_duration_of_one() {
        assert_eq!(UNTIL.possible_rounds(1.0), Some(10));
        assert_eq!(UNTIL.possible_rounds(0.2), Some(50));
        assert_eq!(UNTIL.possible_rounds(0.001), Some(100));
        assert_eq!(Stop::Rounds(17).possible_rounds(1.0), Some(17));
    }

    #[test]
    fn an_end_survives_being_written_and_read() {
        for stop in [UNTIL, Stop::Rounds(5)] {
            let json = serde_json::to_string(&stop).unwrap();
            assert_eq!(serde_json::from_str::<Stop>(&json).unwrap(), stop, "{json}");
        }
    }
}
