//! What happens to runs that fail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Outcome;

/// What to do when a run fails.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailurePolicy {
    /// End the session.
    #[default]
    Stop,
    /// Take the run as it is.
    Ignore,
    /// Take the run as it is when it exits with one of these codes.
    IgnoreCodes(Vec<i32>),
}

impl FailurePolicy {
    /// Says whether a run that ended so may be used.
    pub fn accepts(&self, outcome: Outcome) -> bool {
        match (self, outcome) {
            // A run that was cut off is a lower bound, not a failure.
            (_, Outcome::Exited(0) | Outcome::TimedOut) | (Self::Ignore, _) => true,
            (Self::IgnoreCodes(codes), Outcome::Exited(code)) => codes.contains(&code),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_run_is_taken_only_where_the_user_said_so() {
        assert!(!FailurePolicy::Stop.accepts(Outcome::Exited(1)));
        assert!(FailurePolicy::Stop.accepts(Outcome::TimedOut));
        assert!(FailurePolicy::Ignore.accepts(Outcome::Signalled(9)));
        assert!(FailurePolicy::IgnoreCodes(vec![3]).accepts(Outcome::Exited(3)));
        assert!(!FailurePolicy::IgnoreCodes(vec![3]).accepts(Outcome::Signalled(3)));
    }
}
