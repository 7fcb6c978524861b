//! The stages, one after the other, and the blocks of each.

use std::time::Duration;

use becalm_lab::ablate::design::{self, Configuration, Kind};
use becalm_lab::ablate::{Recommended, StageRuns};
use becalm_model::ablate::{AblateRun, Stage};
use becalm_runner::monotonic_raw;

use super::Laboratory;
use super::bench::{Measured, Trouble};
use crate::error::Error;
use crate::event::Event;

impl Laboratory<'_> {
    /// Runs all stages.
    pub(super) fn stages(&mut self, possible: &[usize]) -> Result<(), Error> {
        let costly = self.costly();
        self.stage(Stage::Singly, design::singly(possible), &costly)?;
        let stacks = self.stacks(&costly);
        self.stage(Stage::Cumulatively, stacks, &costly)?;
        let Some(chosen) = self.experiment.chosen() else { return Ok(()) };
        let mut members = chosen.stack.clone();
        if members.len() > 1 {
            self.stage(Stage::Without, design::without(&chosen.stack), &costly)?;
            let by_weight = self.experiment.by_weight(&chosen.stack);
            self.stage(Stage::Fewer, design::fewer(&chosen.stack, &by_weight), &costly)?;
            members = self.experiment.smallest_as_good(&chosen.stack);
        }
        let last = design::again(&members, &chosen.stack);
        let most = if chosen.is_demonstrated {
            design::most_blocks(Stage::Again)
        } else {
            design::MOST_TO_CONFIRM
        };
        self.blocks(Stage::Again, last, &costly, most)?;
        let members = self.experiment.settled(members, &chosen.stack);
        if !self.experiment.holds(&chosen) {
            self.experiment.withdraw();
            return Ok(());
        }
        self.experiment.recommended = Some(Recommended { members, chosen });
        Ok(())
    }

    /// Runs blocks of one stage while there is time, as many as it is worth.
    fn stage(
        &mut self,
        stage: Stage,
        configurations: Vec<Configuration>,
        costly: &[usize],
    ) -> Result<(), Error> {
        self.blocks(stage, configurations, costly, design::most_blocks(stage))
    }

    fn blocks(
        &mut self,
        stage: Stage,
        configurations: Vec<Configuration>,
        costly: &[usize],
        most: u32,
    ) -> Result<(), Error> {
        let number = configurations.len();
        let at = self.experiment.stages.len();
        self.experiment.stages.push(StageRuns { stage, configurations, runs: Vec::new() });
        let mut longest = Duration::ZERO;
        let mut block = 0;
        while design::goes_on(stage, (block, most), longest, self.used(), self.whole) {
            let begun = monotonic_raw();
            self.bench.listener.hears(Event::Block {
                stage: stage.name(),
                block: block + 1,
                used: self.used(),
                whole: self.whole,
            });
            // A block that is broken off is left out.
            let mut runs = Vec::with_capacity(number);
            let before = self.uncounted;
            let order = design::order(self.experiment.seed, stage, block, number);
            for (place, configuration) in (0..).zip(order) {
                let one = self.experiment.stages[at].configurations[configuration].clone();
                if !design::takes_part(stage, &one, block, costly) {
                    continue;
                }
                if let Some(run) = self.one(&one, configuration, block, place)? {
                    runs.push(run);
                    self.uncounted += 1;
                }
            }
            self.uncounted = before;
            self.experiment.stages[at].runs.extend(runs);
            longest = longest.max(monotonic_raw().saturating_sub(begun));
            block += 1;
        }
        Ok(())
    }

    fn one(
        &mut self,
        one: &Configuration,
        configuration: usize,
        block: u32,
        place: u32,
    ) -> Result<Option<AblateRun>, Error> {
        let started = self.used().as_secs_f64();
        match self.bench.run(&one.members, block) {
            Ok(Measured { shown, finished, failures }) => {
                self.note(failures);
                let values = shown.values;
                let counters = finished.counters;
                Ok(Some(AblateRun { configuration, block, place, started, values, counters }))
            }
            Err(Trouble::Refused(why)) if one.kind != Kind::Baseline => {
                self.note([format!("`{}` could not be run in every block: {why}", one.name())]);
                Ok(None)
            }
            Err(trouble) => Err(self.ended(trouble)),
        }
    }
}
