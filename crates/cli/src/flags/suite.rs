//! Flags of a suite.

use std::path::PathBuf;

use becalm_model::terms::SubjectSource;

use crate::error::CommandError;

/// Flags of a suite.
#[derive(Debug, clap::Args)]
pub(crate) struct SuiteFlags {
    /// Measure the benchmarks of a suite, in turns, in one session: FILE, or the becalm.toml in
    /// this folder or above it. The file says how each is measured, and flags set what it leaves
    /// open; but --rounds, --env and --max-time (for the whole suite) override the file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Suite")]
    #[arg(conflicts_with_all = [
        "command", "precision", "min_rounds", "max_rounds", "metric", "metric_json", "iterations", "harness",
        "filter", "expect_output", "setup", "prepare", "conclude", "cleanup", "parameter_list",
        "parameter_scan", "shell", "names", "input", "in_memory", "build",
        "backend",
    ])]
    #[expect(clippy::option_option, reason = "how clap tells a flag without its value")]
    suite: Option<Option<PathBuf>>,

    /// Only benchmarks of this name; `*` matches anything; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Suite")]
    only: Vec<String>,

    /// Only benchmarks with this tag; may be repeated, for benchmarks with any of the tags
    #[arg(long, value_name = "TAG", help_heading = "Suite")]
    tag: Vec<String>,

    /// List what would be measured and how long it would take, and exit
    #[arg(long, help_heading = "Suite")]
    pub(crate) list: bool,

    /// Stop at the first benchmark that fails, instead of continuing with the others
    #[arg(long, help_heading = "Suite")]
    fail_fast: bool,
}

impl SuiteFlags {
    /// Refuses flags that mean nothing without a suite; clap accepts them beside a command, which
    /// excludes a suite.
    pub(crate) fn refuse_alone(&self) -> Result<(), CommandError> {
        let is_there = [
            ("--only", !self.only.is_empty()),
            ("--tag", !self.tag.is_empty()),
            ("--list", self.list),
            ("--fail-fast", self.fail_fast),
        ];
        match is_there.iter().find(|(_, is_there)| *is_there && self.suite.is_none()) {
            Some((flag, _)) => Err(CommandError::usage(format!("{flag} applies only to a suite"))
                .hint("add --suite, which measures the benchmarks of becalm.toml")),
            None => Ok(()),
        }
    }

    /// Returns the suite to measure, if there is one.
    pub(super) fn source(&self) -> Option<SubjectSource> {
        Some(SubjectSource::Suite {
            file: self.suite.clone()?,
            only: self.only.clone(),
            tags: self.tag.clone(),
            fail_fast: self.fail_fast,
        })
    }
}
