//! The time that an experiment has, and what is skipped for lack of it.

use std::time::Duration;

use becalm_lab::ablate::design::{self, Configuration, Kind, ends_at};
use becalm_model::ablate::Stage;

use super::Laboratory;
use super::error::AblateError;

/// Fewest blocks of a stage that allow a conclusion.
pub(super) const FEWEST_BLOCKS: u32 = 3;

/// Blocks for which the second stage leaves time, by taking fewer steps.
const WANTED_BLOCKS: u32 = 6;

/// Steps of the second stage that are always made.
const FEWEST_STEPS: usize = 4;

/// A mitigation is costly when it makes a run take so many times as long as the untuned run.
const COSTLY: u32 = 10;

impl Laboratory<'_> {
    /// Gives up mitigations whose set-up takes too long for the available time, the longest first.
    ///
    /// # Errors
    ///
    /// If that is not enough.
    pub(super) fn make_time(
        &mut self,
        not_tried: &mut [Option<String>],
    ) -> Result<(), AblateError> {
        let left = self.whole.mul_f64(ends_at(Stage::Singly)).saturating_sub(self.used());
        loop {
            let needed = (self.untuned * 2 + self.alone.values().sum::<Duration>()) * FEWEST_BLOCKS;
            if needed <= left {
                return Ok(());
            }
            let costly = self.costly();
            let longest = costly.into_iter().max_by_key(|member| self.alone[member]);
            let Some(longest) = longest else { return Err(self.no_time(needed, left)) };
            let time = self.alone.remove(&longest).unwrap_or_default();
            not_tried[longest] = Some(format!(
                "setting it up and putting it back takes {:.1} s, for which there is no time \
                 (--max-time)",
                time.as_secs_f64()
            ));
        }
    }

    fn no_time(&self, needed: Duration, left: Duration) -> AblateError {
        let (used, whole) = (self.used(), self.whole);
        AblateError::NoTime { needed, left, used, whole, enough: enough(needed, used) }
    }

    /// Returns the mitigations that take long to set up: they would take the time of all others.
    pub(super) fn costly(&self) -> Vec<usize> {
        let costly =
            |(&index, &time): (&usize, &Duration)| (time > self.untuned * COSTLY).then_some(index);
        self.alone.iter().filter_map(costly).collect()
    }

    /// Returns how long a run under several mitigations takes, at most.
    fn expected(&self, one: &Configuration) -> Duration {
        let more = one.members.iter().filter_map(|member| self.alone.get(member));
        self.untuned + more.map(|time| time.saturating_sub(self.untuned)).sum::<Duration>()
    }

    /// Returns the second stage, with as many steps as there is time for.
    pub(super) fn stacks(&mut self, costly: &[usize]) -> Vec<Configuration> {
        let order = self.experiment.stack_order(costly);
        let all = order.best_first.len();
        let end = self.whole.mul_f64(ends_at(Stage::Cumulatively));
        let left = end.saturating_sub(self.used());
        let fits = |steps: &usize| {
            let stage = design::cumulatively(&order, *steps);
            let time = |one: &Configuration| match one.kind {
                Kind::Branch => self.expected(one) / design::COSTLY_EVERY,
                _ => self.expected(one),
            };
            stage.iter().map(time).sum::<Duration>() * WANTED_BLOCKS <= left
        };
        let steps = (FEWEST_STEPS..=all).rev().find(fits).unwrap_or(FEWEST_STEPS);
        let stage = design::cumulatively(&order, steps);
        if steps < all {
            self.note([format!(
                "for lack of time only the best {steps} mitigations were combined (--max-time)"
            )]);
        }
        stage
    }
}

/// Returns a total time in which the first stage fits, after so much is used up. The same will be
/// used again, and not in exactly the same time.
fn enough(needed: Duration, used: Duration) -> String {
    const RESERVE: f64 = 1.2;
    let seconds = RESERVE * (needed + used).as_secs_f64() / ends_at(Stage::Singly);
    if seconds <= 120.0 {
        format!("{:.0}s", (seconds / 10.0).ceil() * 10.0)
    } else {
        format!("{:.0}m", (seconds / 60.0).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_would_do_has_room_for_what_was_used_and_what_is_needed() {
        let check = |needed, used, expected: &str| {
            let seconds = Duration::from_secs;
            assert_eq!(enough(seconds(needed), seconds(used)), expected);
        };
        // A minute was too short for these: 60 s * 0.4 - 15 s < 12 s.
        check(12, 15, "90s");
        check(1, 1, "10s");
        check(100, 20, "6m");
    }
}
