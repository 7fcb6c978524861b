//! The time that an experiment has, and what is left out for lack of it.

use std::time::Duration;

use becalm_lab::ablate::design::{self, Configuration, Kind, Stage};

use super::Laboratory;
use crate::error::CommandError;

/// Fewest blocks of a stage from which anything could be concluded.
const FEWEST_BLOCKS: u32 = 3;

/// Blocks for which the second stage leaves time, by taking fewer steps.
const WANTED_BLOCKS: u32 = 6;

/// Steps that the second stage has however long they take.
const FEWEST_STEPS: usize = 4;

/// A mitigation is costly when it makes a run take so many times as long as the untuned run.
const COSTLY: u32 = 10;

impl Laboratory<'_> {
    /// Gives up mitigations whose set-up takes too long for the time there is, the longest first.
    ///
    /// # Errors
    ///
    /// If that is not enough.
    pub(super) fn make_time(
        &mut self,
        not_tried: &mut [Option<String>],
    ) -> Result<(), CommandError> {
        let left = self.whole.mul_f64(Stage::Singly.ends_at()).saturating_sub(self.used());
        loop {
            let needed = (self.untuned * 2 + self.alone.values().sum::<Duration>()) * FEWEST_BLOCKS;
            if needed <= left {
                return Ok(());
            }
            let costly = self.costly();
            let longest = costly.into_iter().max_by_key(|member| self.alone[member]);
            let Some(longest) = longest else { return Err(self.no_time(needed)) };
            let time = self.alone.remove(&longest).unwrap_or_default();
            not_tried[longest] = Some(format!(
                "setting it up and putting it back takes {:.1} s, for which there is no time \
                 (--max-time)",
                time.as_secs_f64()
            ));
        }
    }

    fn no_time(&self, needed: Duration) -> CommandError {
        let enough = needed.as_secs_f64() / Stage::Singly.ends_at() + self.used().as_secs_f64();
        CommandError::measure(format!(
            "{FEWEST_BLOCKS} runs under each mitigation take {:.0} s: they do not fit into the time",
            needed.as_secs_f64().ceil()
        ))
        .hint(format!(
            "--max-time {:.0}m would do; --only or --skip leave fewer mitigations, and a shorter \
             subject tells more in the same time",
            (enough / 60.0).ceil()
        ))
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
        let end = self.whole.mul_f64(Stage::Cumulatively.ends_at());
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
                "for lack of time only the best {steps} mitigations were stacked (--max-time)"
            )]);
        }
        stage
    }
}
