//! Damages files: whatever becomes of them, reading them ends, with a record or with an error.

use becalm_formats::{File, import};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// What is put into files.
const PATCHES: [&str; 24] = [
    "",
    "0",
    "-1",
    "1e400",
    "NaN",
    "inf",
    "99999999999999999999999",
    "µ",
    "\u{2212}",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\\",
    "\t",
    "\n",
    "\r",
    "\u{1b}[",
    ",",
    ": ",
    "│",
    "<",
    "/op 1 ",
];

/// Reads `original` cut, patched and repeated as `format`, and as whatever it looks like then.
pub(crate) fn never_panics(format: &str, original: &str) {
    let edits = prop::collection::vec((0.0..1.0f64, 0..40usize, 0..PATCHES.len()), 0..6);
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let cut = prop_oneof![Just(1.0), 0.0..1.0f64];
    let strategy = (edits, cut, prop::bool::weighted(0.2));
    let result = TestRunner::new(config).run(&strategy, |(edits, cut, twice)| {
        let mut text: Vec<char> = original.chars().collect();
        for (place, taken, patch) in edits {
            let at = position(place, text.len());
            let end = (at + taken).min(text.len());
            text.splice(at..end, PATCHES[patch].chars());
        }
        text.truncate(position(cut, text.len()));
        let mut text: String = text.into_iter().collect();
        if twice {
            text = text.repeat(2);
        }
        let files = [File::of_text("damaged", &text)];
        for format in [Some(format), None] {
            match import(&files, format) {
                Ok(record) => {
                    let is_finite = record.runs.iter().flat_map(|run| &run.parts).all(|part| {
                        part.value.is_finite() && part.iterations.iter().all(|v| v.is_finite())
                    });
                    prop_assert!(is_finite, "a value that is no finite number");
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a length is none that is larger"
)]
fn position(share: f64, length: usize) -> usize {
    (share * length as f64) as usize
}
