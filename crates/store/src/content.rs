//! What makes two measurements the same.

use becalm_model::history::Commit;
use becalm_model::{Record, RecordKind};

use crate::hash::Hash;

/// Hashes what was measured, so that the same measurement is not counted twice. What becalm measured is told
/// by its own values and times, wherever it is said to belong; of another tool's file also commit and branch
/// are looked at, because two commits may well give the same numbers.
pub fn content(record: &Record, commit: Option<&Commit>, branch: &str) -> String {
    let mut hash = Hash::new();
    let kind = match record.kind {
        RecordKind::Run => "run",
        RecordKind::Comparison => "comparison",
        RecordKind::Import => "import",
    };
    hash.part(kind.as_bytes());
    hash.part(&record.started_at.to_bits().to_le_bytes());
    hash.part(&record.seed.to_le_bytes());
    if record.kind == RecordKind::Import {
        hash.part(commit.map_or("", |commit| &commit.id).as_bytes());
        hash.part(branch.as_bytes());
    }
    for metric in &record.metrics {
        hash.part(metric.name.as_bytes());
        hash.part(metric.unit.name().as_bytes());
    }
    for subject in &record.subjects {
        hash.part(subject.name.as_bytes());
        for (name, value) in subject.labels() {
            hash.part(name.as_bytes());
            hash.part(value.as_bytes());
        }
    }
    let number = |hash: &mut Hash, value: f64| hash.part(&value.to_bits().to_le_bytes());
    for run in &record.runs {
        hash.part(&(run.subject as u64).to_le_bytes());
        number(&mut hash, run.started);
        for value in &run.values {
            number(&mut hash, value.unwrap_or(f64::NAN));
        }
        for part in &run.parts {
            hash.part(&(part.metric as u64).to_le_bytes());
            number(&mut hash, part.value);
            for value in &part.iterations {
                number(&mut hash, *value);
            }
        }
        for value in &run.iterations {
            number(&mut hash, *value);
        }
    }
    hash.digits(40)
}
