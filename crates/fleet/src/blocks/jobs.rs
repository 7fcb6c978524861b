//! The jobs of a fleet: submitted, found again, asked to end.

use std::fs;

use becalm_model::wire::TryState;

use super::attend::FleetRun;
use super::folder::here;
use super::state::Try;
use crate::error::FleetError;
use crate::slurm::{Queued, own_jobs, submit};

impl FleetRun {
    /// Finds the job of a try that was about to be submitted when becalm died. Without one the try is forgotten.
    pub(super) fn find_lost_submission(&mut self) -> Result<(), FleetError> {
        let Some(index) = self.state.in_flight().find(|&at| self.state.tries[at].job.is_none())
        else {
            return Ok(());
        };
        let name = self.job_name(index);
        let found = own_jobs()?.into_iter().find(|job| job.name == name);
        let mut live = self.live(index);
        live.frames.look();
        live.canary.look();
        match found {
            Some(job) => self.state.tries[index].job = Some(job.number),
            // It is over and forgotten; its frames say how.
            None if live.frames.is_begun() || live.canary.is_begun() => {
                self.state.tries[index].job = Some(String::new());
            }
            None => drop(self.state.tries.remove(index)),
        }
        self.save()
    }

    /// Returns the name of the job of a try, which no other fleet of the user has.
    fn job_name(&self, index: usize) -> String {
        format!("becalm-{}-{:.0}-{index}", self.plan.name, self.plan.started_at * 1e3)
    }

    /// Asks a try to end.
    pub(super) fn ask_to_end(&mut self, index: usize) {
        let is_running = self.live.get(&index).is_some_and(|live| live.state == TryState::Running);
        let one = &mut self.state.tries[index];
        one.is_asked_to_end = true;
        if let Some(number) = one.job.clone().filter(|number| !number.is_empty()) {
            Queued { number }.signal(is_running);
        }
    }

    /// Submits a block; returns the number of its job. It is written down first, so that a becalm that dies meanwhile leaves
    /// no job that nobody knows.
    pub(super) fn submit(&mut self, node: &str, block: u32) -> Result<String, FleetError> {
        let index = self.state.tries.len();
        let folder = self.folder.make_try(index)?;
        let call = |job: &str, frames: &str| {
            self.cluster.call(&self.folder.path(job), &folder.join(frames))
        };
        let before = match &self.plan.canary {
            Some(_) => format!("{}\n", call("canary.json", "canary.jsonl")),
            None => String::new(),
        };
        let text = format!("#!/bin/sh\n{before}exec {}\n", call("job.json", "frames.jsonl"));
        let (script, output) = (folder.join("run.sh"), folder.join("output.txt"));
        fs::write(&script, text).map_err(here(&script))?;
        self.state.tries.push(Try::new(node, block));
        self.save()?;
        let mut allocation = self.cluster.allocation().clone();
        allocation.node = Some(node.to_owned());
        let submitted = submit(&allocation, &self.job_name(index), &script, &output, &folder);
        match submitted {
            Ok(queued) => {
                self.state.tries[index].job = Some(queued.number.clone());
                self.save()?;
                Ok(queued.number)
            }
            Err(error) => {
                self.state.tries.pop();
                self.save()?;
                Err(error)
            }
        }
    }
}
