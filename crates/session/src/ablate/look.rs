//! Before the first stage: what decides about mitigations, and which of those that look possible are not.

use std::collections::BTreeMap;

use becalm_lab::ablate::advice;
use becalm_lab::ablate::here::{Here, KnobPlan};
use becalm_lab::ablate::mitigation::{MITIGATIONS, Means};
use becalm_machine::{Chooser, Leases, Width, may_change};
use becalm_model::PlacementLimit;
use becalm_runner::{monotonic_raw, pin_self};

use super::bench::{Measured, Trouble};
use super::{AblateRequest, Laboratory};
use crate::error::Error;
use crate::event::Event;

/// Untuned runs before anything else: the first fills caches, the others tell how long a run takes.
const FIRST_RUNS: u32 = 3;

impl Laboratory<'_> {
    /// Finds out what decides about mitigations, from the machine and from the first runs.
    pub(super) fn look(
        &mut self,
        request: &AblateRequest,
        chooser: &Chooser,
        leases: &mut Leases,
    ) -> Result<Here, Error> {
        let mut run_time = f64::INFINITY;
        let mut single_threaded = true;
        for _ in 0..FIRST_RUNS {
            let begun = monotonic_raw();
            let Measured { shown, finished, .. } =
                self.bench.run(&[], 0).map_err(|trouble| self.ended(trouble))?;
            self.uncounted += 1;
            self.untuned = monotonic_raw().saturating_sub(begun);
            run_time = run_time.min(finished.wall);
            single_threaded = shown.single_threaded;
        }
        if !single_threaded {
            // Its own leases would be in the way.
            *leases = Leases::default();
            let (choice, taken) = chooser.take(Width::All);
            *leases = taken;
            self.bench.choice = choice;
        }
        if let Err(error) = pin_self(&self.bench.choice.housekeeping) {
            self.limits.push(PlacementLimit::NotKeptOff { error: error.to_string() }.into());
        }
        let root = self.bench.root;
        let rt_runtime = root.read("/proc/sys/kernel/sched_rt_runtime_us").value();
        Ok(Here {
            is_root: may_change(root),
            allowed: self.bench.allowed().clone(),
            chosen: self.bench.choice.subject.clone(),
            single_threaded,
            timing: self.bench.subject.timing(),
            run_time,
            rt_runtime: rt_runtime.and_then(|text| text.trim().parse().ok()),
            isolation: self.bench.isolation().map(drop),
            huge_pages: becalm_machine::huge_pages(root),
            knobs: self.knob_plans(),
            is_strict: request.is_strict,
            only: request.only.clone(),
            skip: request.skip.clone(),
        })
    }

    fn knob_plans(&self) -> BTreeMap<&'static str, KnobPlan> {
        let plans = MITIGATIONS.iter().enumerate().filter_map(|(index, one)| {
            let plan = self.bench.plan(&[index], &advice::request(&[index])?);
            let changes = plan.changes.iter().filter(|change| change.new.is_some()).count();
            let notes = plan.notes.into_iter().map(|note| note.text).collect();
            Some((one.name, KnobPlan { changes, notes }))
        });
        plans.collect()
    }

    /// Runs each mitigation once, which shows those that look possible and are not.
    pub(super) fn try_once(&mut self, not_tried: &mut [Option<String>]) -> Result<(), Error> {
        for (index, reason) in not_tried.iter_mut().enumerate() {
            if reason.is_some() {
                continue;
            }
            self.bench.listener.hears(Event::Tries(MITIGATIONS[index].name));
            let begun = monotonic_raw();
            match self.bench.run(&[index], 0) {
                Ok(measured) => {
                    self.uncounted += 1;
                    self.alone.insert(index, monotonic_raw().saturating_sub(begun));
                    self.note(measured.failures);
                }
                Err(Trouble::Refused(why)) => {
                    // The workload says so on standard error, which nobody hears.
                    let hint = match MITIGATIONS[index].means {
                        Means::LockMemory => " (is it allowed to lock memory? see `ulimit -l`)",
                        _ => "",
                    };
                    *reason = Some(format!("{why}{hint}"));
                }
                Err(trouble) => return Err(self.ended(trouble)),
            }
        }
        Ok(())
    }
}
