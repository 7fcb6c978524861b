//! The clock of a session, which goes on where the saved part of a resumed one stopped.

use std::time::Duration;

use crate::monotonic_raw;

/// Time since a session began, without what is no measuring.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionClock {
    /// When this part of the session began, on a clock that starts at zero when the machine does: the saved part
    /// may have been longer than the machine is up.
    begun: Duration,
    /// What the session had used before.
    before: Duration,
}

impl SessionClock {
    /// Starts it at `before`.
    pub(super) fn after(before: Duration) -> Self {
        Self { begun: monotonic_raw(), before }
    }

    /// Returns the time now.
    pub(super) fn now(&self) -> Duration {
        self.at(monotonic_raw())
    }

    /// Returns the time at a moment of the raw clock.
    pub(super) fn at(&self, moment: Duration) -> Duration {
        self.before + moment.saturating_sub(self.begun)
    }

    /// Takes the time since a moment out: a session that goes on would lose it again each time.
    pub(super) fn leave_out_since(&mut self, moment: Duration) {
        self.begun += monotonic_raw().saturating_sub(moment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_may_be_older_than_the_machine_is_up() {
        let mut clock = SessionClock::after(Duration::from_secs(1 << 40));
        let now = clock.now();
        assert!(now >= Duration::from_secs(1 << 40) && clock.now() >= now);
        let begun = clock.begun;
        assert_eq!(clock.at(begun + Duration::from_secs(2)), Duration::from_secs((1 << 40) + 2));
        clock.leave_out_since(begun);
        assert!(clock.now() < Duration::from_secs((1 << 40) + 1));
    }
}
