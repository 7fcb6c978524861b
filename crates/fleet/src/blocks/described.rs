//! How far a fleet is, and what its blocks show together.

use std::fs;

use becalm_model::wire::{FLEET_SCHEMA, FleetDocument, FleetMachine, FleetTry};
use becalm_model::{Record, RecordKind};
use becalm_session::own_record;

use super::attend::FleetRun;
use super::folder::here;
use super::join::{OfMachine, join};
use super::levels::levels;
use super::next::progress;
use crate::error::FleetError;

impl FleetRun {
    /// Returns everything that is known of it, and what its blocks show together.
    pub fn document(&self) -> Result<FleetDocument, FleetError> {
        let records = self.measured()?;
        let of = |node: &str| -> Vec<&Record> {
            let of_node = records.iter().filter(|(index, _)| self.state.tries[*index].node == node);
            of_node.map(|(_, record)| record).collect()
        };
        let counting = self.state.members.iter().filter_map(|member| {
            let counts = records.iter().filter(|(index, _)| {
                let one = &self.state.tries[*index];
                one.node == member.node && self.state.counts(one)
            });
            let blocks: Vec<&Record> = counts.map(|(_, record)| record).collect();
            (!blocks.is_empty()).then_some(OfMachine { name: &member.node, blocks })
        });
        let counting: Vec<OfMachine<'_>> = counting.collect();
        let comparisons = join(&counting, self.plan.confidence, self.plan.margin);
        let of_suite = records.iter().any(|(_, record)| record.kind == RecordKind::Run);
        let levels = if of_suite { levels(&counting, self.plan.confidence) } else { Vec::new() };
        let machines = self.state.members.iter().map(|member| {
            let fact = |key: &str| {
                let records = of(&member.node);
                records.first().and_then(|record| record.machine.found(key)).map(str::to_owned)
            };
            FleetMachine {
                name: member.node.clone(),
                processor: fact("cpu_model"),
                kernel: fact("kernel_release"),
                tries: self.tries_of(&member.node),
                left_out: member.left_out.clone(),
            }
        });
        Ok(FleetDocument {
            schema: FLEET_SCHEMA.to_owned(),
            name: self.plan.name.clone(),
            place: self.plan.place.clone(),
            arguments: self.plan.arguments.clone(),
            started_at: self.plan.started_at,
            machines_wanted: self.plan.machines,
            blocks_wanted: self.plan.blocks,
            confidence: self.plan.confidence,
            margin: self.plan.margin,
            aa: self.plan.aa,
            state: progress(&self.plan, &self.state, &self.nodes),
            machines: machines.collect(),
            comparisons,
            levels,
        })
    }

    /// Returns the records of the blocks that are measured, by the places of their tries.
    pub(super) fn measured(&self) -> Result<Vec<(usize, Record)>, FleetError> {
        let mut records = Vec::new();
        for (index, one) in self.state.tries.iter().enumerate() {
            if one.is_measured() {
                let path = self.folder.of_try(index).join("record.json");
                let text = fs::read_to_string(&path).map_err(here(&path))?;
                records.push((index, own_record(&text)?.0));
            }
        }
        Ok(records)
    }

    /// Returns the record of each block that is measured.
    pub fn records(&self) -> Result<Vec<Record>, FleetError> {
        Ok(self.measured()?.into_iter().map(|(_, record)| record).collect())
    }

    fn tries_of(&self, node: &str) -> Vec<FleetTry> {
        let of_node = self.state.tries.iter().enumerate().filter(|(_, one)| one.node == node);
        let shown = of_node.map(|(index, one)| FleetTry {
            block: one.block,
            job: one.job.clone().filter(|number| !number.is_empty()),
            state: self.try_state(index),
            canary: one.canary,
        });
        shown.collect()
    }
}
