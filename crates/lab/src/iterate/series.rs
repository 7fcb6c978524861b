//! What the iterations of a workload gave.

use becalm_model::CpuId;
use becalm_model::wire::{WORKLOAD_SCHEMA, WorkloadDocument, WorkloadTaskDocument};

use crate::timer::Timer;
use crate::workloads::Workload;

/// The iterations of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What was done.
    pub workload: Workload,
    /// Work of an iteration.
    pub amount: u64,
    /// Iterations before the first timed one.
    pub warmup: usize,
    /// Whether memory was locked.
    pub is_locked: bool,
    /// What it was timed with.
    pub timer: Timer,
    /// Ticks of the timer in a second.
    pub ticks_per_second: f64,
    /// The tasks, at least one.
    pub tasks: Vec<TaskSeries>,
    /// A number that depends on what the timed iterations computed: the same on every machine.
    pub checksum: u64,
}

/// The iterations of one task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSeries {
    /// Where it ran, if it was put somewhere.
    pub cpu: Option<CpuId>,
    /// Seconds of each iteration, in time order.
    pub seconds: Vec<f64>,
}

impl Series {
    /// Returns the document that leaves the process.
    pub fn document(&self) -> WorkloadDocument {
        let tasks = self.tasks.iter().map(|task| WorkloadTaskDocument {
            cpu: task.cpu.map(|cpu| cpu.0),
            values: task.seconds.clone(),
        });
        WorkloadDocument {
            schema: WORKLOAD_SCHEMA.to_owned(),
            workload: self.workload.name().to_owned(),
            amount: self.amount,
            amount_unit: self.workload.unit().to_owned(),
            warmup: self.warmup as u64,
            locked: self.is_locked,
            timer: self.timer.name().to_owned(),
            ticks_per_second: self.ticks_per_second,
            unit: "s".to_owned(),
            checksum: format!("{:016x}", self.checksum),
            values: self.tasks.first().map(|task| task.seconds.clone()).unwrap_or_default(),
            tasks: tasks.collect(),
        }
    }
}
