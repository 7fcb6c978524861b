//! When a session ends: the limits that the user set, and what holds without them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Goal, Stop};
use crate::seconds;

/// Limits that the user set. A number of rounds and the others exclude each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoundLimits {
    /// Exactly this many rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// At least this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rounds: Option<u32>,
    /// At most this many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rounds: Option<u32>,
    /// No further round after this time, in seconds from the beginning of the session.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    pub max_time: Option<Duration>,
    /// Until the interval of every median is at most this wide to either side, as a share of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
}

/// What holds where the user set no limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unlimited {
    /// Rounds that are made however long they take.
    pub minimum: u32,
    /// Time after which no further round starts; `None` where the goal alone ends the session.
    pub budget: Option<Duration>,
    /// What there is to reach.
    pub goal: Goal,
}

impl RoundLimits {
    /// Says whether the user limited the number of rounds or their time.
    pub fn is_any(&self) -> bool {
        self.rounds.is_some()
            || self.min_rounds.is_some()
            || self.max_rounds.is_some()
            || self.max_time.is_some()
    }

    /// Returns these limits followed by later ones. A fixed number of rounds and the other limits replace each other.
    #[must_use]
    pub fn followed_by(&self, later: &Self) -> Self {
        let precision = later.precision.or(self.precision);
        if later.rounds.is_some() {
            return Self { rounds: later.rounds, precision, ..Self::default() };
        }
        let rounds = if later.is_any() { None } else { self.rounds };
        Self {
            rounds,
            precision,
            min_rounds: later.min_rounds.or(self.min_rounds),
            max_rounds: later.max_rounds.or(self.max_rounds),
            max_time: later.max_time.or(self.max_time),
        }
    }

    /// Returns when the session ends.
    pub fn stop(&self, unlimited: &Unlimited) -> Stop {
        if let Some(rounds) = self.rounds {
            return Stop::Rounds(rounds);
        }
        let is_limited = self.max_rounds.is_some() || self.max_time.is_some();
        Stop::Until {
            // Whoever sets a limit gets it, however few rounds fit into it.
            minimum: self.min_rounds.unwrap_or(if is_limited { 1 } else { unlimited.minimum }),
            maximum: self.max_rounds,
            budget: if is_limited { self.max_time } else { unlimited.budget },
            goal: unlimited.goal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_rounds_and_limits_replace_each_other() {
        let limited = RoundLimits {
            min_rounds: Some(2),
            max_rounds: Some(9),
            max_time: Some(Duration::from_secs(5)),
            ..RoundLimits::default()
        };
        let fixed = RoundLimits { rounds: Some(50), ..RoundLimits::default() };
        assert_eq!(limited.followed_by(&fixed), fixed);
        assert_eq!(fixed.followed_by(&limited), limited);
        let later = RoundLimits { max_rounds: Some(20), ..RoundLimits::default() };
        let both = RoundLimits { max_rounds: Some(20), ..limited.clone() };
        assert_eq!(limited.followed_by(&later), both);
        assert_eq!(fixed.followed_by(&RoundLimits::default()), fixed);
    }

    #[test]
    fn who_sets_a_limit_gets_it() {
        let unlimited =
            Unlimited { minimum: 8, budget: Some(Duration::from_secs(30)), goal: Goal::Verdict };
        let stop = |limits: RoundLimits| limits.stop(&unlimited);
        let until = |minimum, maximum, budget: Option<u64>| Stop::Until {
            minimum,
            maximum,
            budget: budget.map(Duration::from_secs),
            goal: Goal::Verdict,
        };
        assert_eq!(stop(RoundLimits::default()), until(8, None, Some(30)));
        let most = RoundLimits { max_rounds: Some(3), ..RoundLimits::default() };
        assert_eq!(stop(most), until(1, Some(3), None));
        let least = RoundLimits { min_rounds: Some(12), ..RoundLimits::default() };
        assert_eq!(stop(least), until(12, None, Some(30)));
    }
}
