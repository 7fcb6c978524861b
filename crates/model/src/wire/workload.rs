//! What `becalm workload NAME --iterations N --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{VersionError, WORKLOAD_SCHEMA, check_readable};

/// The timed iterations of a built-in workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadDocument {
    /// `becalm/workload/1`.
    pub schema: String,
    /// Name of the workload.
    pub workload: String,
    /// Work of an iteration.
    pub amount: u64,
    /// What one of the amount is, as a fragment: `sums`, `x 1000 loads`, `MiB`.
    pub amount_unit: String,
    /// Iterations before the first of the values.
    pub warmup: u64,
    /// Whether memory was kept from being paged out (`mlockall`).
    pub locked: bool,
    /// What was read around each iteration: `tsc` (the time-stamp counter) or `clock`
    /// (`CLOCK_MONOTONIC_RAW`).
    pub timer: String,
    /// Ticks of the timer in a second, by which values become ticks again. Measured against
    /// `CLOCK_MONOTONIC_RAW` for `tsc`, 1e9 for `clock`.
    pub ticks_per_second: f64,
    /// Unit of the values: `s`.
    pub unit: String,
    /// What the timed iterations computed, in hexadecimal: the same on every machine for the same name,
    /// amount, warm-up, iterations and tasks.
    pub checksum: String,
    /// Seconds per iteration in time order; with several tasks those of the first.
    pub values: Vec<f64>,
    /// Every task; with a single one its values once more.
    pub tasks: Vec<WorkloadTaskDocument>,
}

/// One of several tasks that ran at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadTaskDocument {
    /// The CPU that it was put on; absent if the scheduler chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// Seconds per iteration in time order.
    pub values: Vec<f64>,
}

/// Why the output of a workload cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadReadError {
    /// It is not the document.
    #[error("unexpected output of a workload: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another version.
    #[error(transparent)]
    Version(#[from] VersionError),
}

/// Reads the document back.
pub fn read_workload(text: &[u8]) -> Result<WorkloadDocument, WorkloadReadError> {
    let document: WorkloadDocument = serde_json::from_slice(text)?;
    check_readable(&document.schema, &[WORKLOAD_SCHEMA])?;
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(schema: &str) -> WorkloadDocument {
        WorkloadDocument {
            schema: schema.to_owned(),
            workload: "array-sum".to_owned(),
            amount: 1,
            amount_unit: "sums".to_owned(),
            warmup: 0,
            locked: false,
            timer: "tsc".to_owned(),
            ticks_per_second: 2.5e9,
            unit: "s".to_owned(),
            checksum: "00".to_owned(),
            values: vec![0.1 + 0.2, 2e-4],
            tasks: vec![WorkloadTaskDocument { cpu: Some(1), values: vec![0.1 + 0.2, 2e-4] }],
        }
    }

    #[test]
    fn what_is_written_is_read_back_to_the_last_digit() {
        let written = document(WORKLOAD_SCHEMA);
        let text = serde_json::to_vec(&written).unwrap();
        assert_eq!(read_workload(&text).unwrap(), written);
    }

    #[test]
    fn other_documents_and_newer_ones_are_refused() {
        for schema in ["becalm/workload/2", "becalm/run/1", "x"] {
            let text = serde_json::to_vec(&document(schema)).unwrap();
            assert!(matches!(read_workload(&text), Err(WorkloadReadError::Version(_))), "{schema}");
        }
        assert!(matches!(read_workload(b"0.1 0.2"), Err(WorkloadReadError::Json(_))));
    }
}
