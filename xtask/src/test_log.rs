//! Reads the output of `cargo test -- --show-output`: counts, failures, and tests that say that
//! they were skipped.
//!
//! A test that cannot run where it is prints a line `skipped: REASON`; the harness calls it passed,
//! this reader does not.

use std::collections::BTreeMap;

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct TestLog {
    suite: String,
    /// Whether the suite printed its result; one that crashed does not.
    is_open: bool,
    /// The test whose output is being shown.
    showing: Option<String>,
    passed: usize,
    /// Suite and test.
    pub(crate) failures: Vec<String>,
    /// Suites that ended without a result.
    pub(crate) crashed: Vec<String>,
    /// Suite and test, with the reason.
    skips: BTreeMap<String, String>,
}

impl TestLog {
    /// Takes the next line.
    pub(crate) fn line(&mut self, line: &str) {
        if let Some(suite) = suite(line) {
            self.close();
            suite.clone_into(&mut self.suite);
            self.showing = None;
            self.is_open = true;
        } else if let Some(rest) = line.strip_prefix("test result: ") {
            self.passed += count_before(rest, " passed");
            self.is_open = false;
            self.showing = None;
        } else if let Some(name) =
            line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            self.showing = Some(self.full(name));
        } else if line == "successes:" || line == "failures:" {
            self.showing = None;
        } else if let Some(reason) = line.strip_prefix("skipped: ") {
            if let Some(test) = self.showing.clone() {
                self.skips.entry(test).or_insert_with(|| reason.to_owned());
            }
        } else if let Some((name, result)) =
            line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... "))
        {
            if result == "FAILED" {
                self.failures.push(self.full(name));
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
        self.skips
            .iter()
            .filter(|(test, _)| !self.failures.contains(test))
            .map(|(test, reason)| (test.as_str(), reason.as_str()))
            .collect()
    }

    fn full(&self, test: &str) -> String {
        format!("{} {test}", self.suite)
    }
}

/// Returns the name of the test binary that cargo says it starts.
fn suite(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(name);
    }
    let binary = line.strip_prefix("Running ")?.strip_suffix(')')?.rsplit_once('/')?.1;
    // Without the hash that cargo appends.
    Some(binary.rsplit_once('-').map_or(binary, |(name, _)| name))
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
        text.lines().for_each(|line| log.line(line));
        log.close();
        log
    }

    const LOG: &str = "
     Running unittests src/lib.rs (target/debug/deps/becalm_runner-0a1b)

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
    fn a_failed_test_is_failed_even_when_it_said_skipped() {
        assert_eq!(read(LOG).failures, ["becalm_runner wrong"]);
    }

    #[test]
    fn a_suite_without_a_result_has_crashed() {
        let text = "     Running tests/a.rs (t/deps/a-1)\nrunning 1 test\n   Doc-tests b\n\
                    test result: ok. 3 passed; 0 failed;";
        let log = read(text);
        assert_eq!((log.passed(), log.crashed.as_slice()), (3, ["a".to_owned()].as_slice()));
    }

    #[test]
    fn the_line_counts_only_inside_the_output_of_a_test() {
        assert!(read("skipped: nothing in particular").skipped().is_empty());
    }
}
