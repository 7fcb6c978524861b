//! Gives bytes to one importer (`BECALM_FUZZ_FORMAT`), or to whichever recognises them: none may panic, and
//! libFuzzer watches memory and time.

#![no_main]

use std::sync::LazyLock;

use becalm_formats::{File, import};
use libfuzzer_sys::fuzz_target;

static FORMAT: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("BECALM_FUZZ_FORMAT").ok());

fuzz_target!(|bytes: &[u8]| {
    // Formats that are folders get several files, cut where a byte says so.
    let files = match bytes.split_first() {
        Some((&0, rest)) => rest
            .split(|byte| *byte == 0xff)
            .zip(["new/benchmark.json", "new/sample.json", "new/estimates.json", "machine.json"])
            .map(|(bytes, name)| File::new(name, bytes.to_vec()))
            .collect(),
        _ => vec![File::new("file", bytes.to_vec())],
    };
    if let Ok(record) = import(&files, FORMAT.as_deref()) {
        for run in &record.runs {
            assert!(run.subject < record.subjects.len());
            assert!(run.parts.iter().all(|part| part.metric < record.metrics.len()));
            assert!(run.parts.iter().all(|part| part.value.is_finite()));
            assert!(run.values.iter().flatten().all(|value| value.is_finite()));
        }
    }
});
