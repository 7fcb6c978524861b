//! Reads what programs of tests print with `--show-output`, and `cargo test` of documentation: counts, failures with what they printed, and
//! tests that say that they were skipped.
//!
//! A test that cannot run where it is prints a line `skipped: REASON`; the harness calls it passed,
//! this reader does not.
//!
//! What tests that passed printed is read and not shown: in thousands of lines nobody finds the one
//! that failed.

use std::collections::BTreeMap;

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct TestLog {
    suite: String,
    /// Whether the suite printed its result; one that crashed does not.
    is_open: bool,
    part: Part,
    /// The test whose output is being read.
    showing: Option<String>,
    passed: usize,
    /// Suite and test, with the lines that it printed.
    pub(crate) failures: BTreeMap<String, Vec<String>>,
    /// Suites that ended without a result.
    pub(crate) crashed: Vec<String>,
    /// Suite and test, with the reason.
    skips: BTreeMap<String, String>,
}

/// The part of a suite's output that is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// What cargo says, and one line for each test.
    #[default]
    Tests,
    /// What the tests that passed printed, and their names.
    Successes,
    /// What the tests that failed printed, and their names.
    Failures,
}

impl TestLog {
    /// Begins with the output of a program.
    pub(crate) fn begin(&mut self, suite: &str) {
        self.close();
        suite.clone_into(&mut self.suite);
        self.showing = None;
        self.part = Part::Tests;
        self.is_open = true;
    }

    /// Takes the next line and says whether it is worth showing.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        self.read(line);
        match self.part {
            Part::Tests => !line.is_empty() && !line.ends_with(" ... ok"),
            Part::Successes => false,
            Part::Failures => true,
        }
    }

    fn read(&mut self, line: &str) {
        if let Some(suite) = suite(line) {
            self.begin(suite);
        } else if let Some(rest) = line.strip_prefix("test result: ") {
            self.passed += count_before(rest, " passed");
            self.is_open = false;
            self.showing = None;
            self.part = Part::Tests;
        } else if let Some(name) =
            line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            self.showing = Some(self.full(name));
        } else if line == "successes:" || line == "failures:" {
            self.showing = None;
            self.part = if line == "failures:" { Part::Failures } else { Part::Successes };
        } else if let (Some(reason), Some(test)) = (line.strip_prefix("skipped: "), &self.showing)
            && self.part == Part::Successes
        {
            self.skips.entry(test.clone()).or_insert_with(|| reason.to_owned());
        } else if let (Part::Failures, Some(test)) = (self.part, &self.showing) {
            self.failures.entry(test.clone()).or_default().push(line.to_owned());
        } else if let Some((name, result)) =
            line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... "))
        {
            if result == "FAILED" {
                self.failures.entry(self.full(name)).or_default();
            } else if let Some(reason) = result.strip_prefix("ignored") {
                let reason = reason.strip_prefix(", ").unwrap_or("marked `ignore`");
                self.skips.insert(self.full(name), reason.to_owned());
                // Not among the passed ones, unlike a test that says so itself.
                self.passed += 1;
            }
        }
    }

    /// Ends the log.
    pub(crate) fn close(&mut self) {
        if self.is_open {
            self.crashed.push(self.suite.clone());
            self.is_open = false;
        }
    }

    /// Says whether a test failed or a suite crashed.
    pub(crate) fn has_failures(&self) -> bool {
        !self.failures.is_empty() || !self.crashed.is_empty()
    }

    /// Returns the number of tests that did their work and passed.
    pub(crate) fn passed(&self) -> usize {
        self.passed - self.skipped().len()
    }

    /// Returns the tests that were not done, with the reason.
    pub(crate) fn skipped(&self) -> Vec<(&str, &str)> {
        self.skips.iter().map(|(test, reason)| (test.as_str(), reason.as_str())).collect()
    }

    fn full(&self, test: &str) -> String {
        format!("{} {test}", self.suite)
    }
}

/// Returns the crate whose documentation cargo says it tests.
fn suite(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("Doc-tests ")
}

fn count_before(text: &str, word: &str) -> usize {
    let before = text.split(word).next().unwrap_or_default();
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> TestLog {
        let mut log = TestLog::default();
        log.begin("becalm_runner");
        text.lines().for_each(|line| log.read(line));
        log.close();
        log
    }

    const LOG: &str = "
running 4 tests
test fine ... ok
test needs_a_tool ... ok
test slow ... ignored, takes an hour
test wrong ... FAILED

successes:

---- needs_a_tool stdout ----
skipped: needs_a_tool: taskset is not here
skipped: needs_a_tool: neither is chrt

successes:
    fine
    needs_a_tool

failures:

---- wrong stdout ----
skipped: half of it
assertion failed

failures:
    wrong

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests becalm_stats

running 1 test
test crates/stats/src/lib.rs - (line 3) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn tests_that_say_they_are_skipped_are_not_among_the_passed() {
        let log = read(LOG);
        assert_eq!(log.passed(), 2);
        assert_eq!(
            log.skipped(),
            [
                ("becalm_runner needs_a_tool", "needs_a_tool: taskset is not here"),
                ("becalm_runner slow", "takes an hour"),
            ]
        );
    }

    #[test]
    fn a_failed_test_is_failed_even_when_it_said_skipped_and_its_output_is_kept() {
        let failures = read(LOG).failures;
        assert_eq!(failures.len(), 1);
        assert_eq!(
            failures["becalm_runner wrong"],
            ["skipped: half of it", "assertion failed", ""]
        );
    }

    #[test]
    fn only_what_failed_is_shown() {
        let mut log = TestLog::default();
        log.begin("becalm_runner");
        let shown: Vec<&str> = LOG.lines().filter(|line| log.line(line)).collect();
        assert!(shown.contains(&"test wrong ... FAILED") && shown.contains(&"assertion failed"));
        assert!(!shown.iter().any(|line| line.contains("fine")), "{shown:?}");
        assert!(!shown.contains(&"successes:"), "{shown:?}");
    }

    #[test]
    fn a_suite_without_a_result_has_crashed() {
        let text = "running 1 test\n   Doc-tests b\ntest result: ok. 3 passed; 0 failed;";
        let log = read(text);
        let crashed = ["becalm_runner".to_owned()];
        assert_eq!((log.passed(), log.crashed.as_slice()), (3, crashed.as_slice()));
    }

    #[test]
    fn the_line_counts_only_inside_the_output_of_a_test() {
        assert!(read("skipped: nothing in particular").skipped().is_empty());
    }
}
