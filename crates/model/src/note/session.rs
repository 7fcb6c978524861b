//! What the reader has to know about the subjects and the course of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::{Distrust, Failed};

/// What the reader has to know about the subjects and the course of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionNote {
    /// A revision that was measured.
    Revision {
        /// The name it was given by.
        name: String,
        /// The commit.
        commit: String,
        /// Its title.
        title: String,
        /// The command that built it, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        built_by: Option<String>,
    },
    /// The working tree has no change: `.` is HEAD.
    WorkingTreeUnchanged,
    /// Files that git does not know are no part of the working tree that was built.
    UntrackedFiles {
        /// How many.
        files: usize,
        /// One of them.
        such_as: String,
    },
    /// Changes that are not committed were not measured.
    UncommittedChanges {
        /// A file that is changed.
        path: String,
        /// How many more are.
        more: usize,
    },
    /// The builds of all revisions are the same program, so nothing was measured.
    IdenticalBuilds {
        /// The program.
        program: String,
        /// Names of the revisions.
        revisions: Vec<String>,
        /// Files in which they differ.
        differing: Vec<String>,
    },
    /// Builds of different link seeds that are the same program.
    LayoutsAlike {
        /// How many were built.
        built: usize,
    },
    /// Layouts that were built.
    Layouts {
        /// How many were built.
        built: usize,
        /// How many of them are different.
        different: usize,
        /// Whether they are too few for a verdict.
        too_few: bool,
    },
    /// Two subjects are the same command.
    SameCommand {
        /// Names of the two.
        subjects: [String; 2],
    },
    /// Two programs are the same, byte for byte.
    SameProgram {
        /// Paths of the two.
        programs: [String; 2],
    },
    /// A program was changed after the session that is gone on with began.
    ProgramChanged {
        /// Path of the program.
        path: String,
    },
    /// So few requests of a run are beyond a quantile that single ones decide where it lies.
    FewBeyondQuantile {
        /// The metric.
        metric: String,
        /// Requests beyond it, on average.
        beyond: u64,
        /// Requests that there should be.
        needed: u64,
        /// Seconds of load that give as many.
        seconds: f64,
    },
    /// Runs were repeated because the generator of their load was not to be believed.
    LoadsRepeated {
        /// Loads that were not believed.
        loads: usize,
        /// Runs that were made all the same.
        runs: usize,
        /// The most frequent reason.
        reason: Distrust,
    },
    /// Requests to a server failed, in all of its runs.
    RequestsFailed {
        /// Name of the subject.
        subject: String,
        /// Requests that were due.
        scheduled: u64,
        /// What failed, the most frequent first.
        errors: Vec<Failed>,
    },
    /// A benchmark that some subjects have and others do not.
    OneSided {
        /// Name of the benchmark.
        benchmark: String,
        /// Names of the subjects that have it.
        with: Vec<String>,
        /// Names of those that do not.
        without: Vec<String>,
    },
    /// A subject failed, and the suite went on without it.
    LeftOut {
        /// The error with its causes.
        failure: String,
    },
    /// How long `--settle` waited for the machine.
    Settled {
        /// Rounds before which it could wait.
        rounds: usize,
        /// Rounds before which it did.
        waited: usize,
        /// Seconds of all waits together.
        seconds: f64,
        /// Seconds of the longest.
        longest: f64,
    },
    /// A subject has more threads or processes that want to run than CPUs.
    Crowded {
        /// Its name.
        subject: String,
        /// How many CPUs it has.
        cpus: usize,
    },
    /// Others used the machine all the time. Each share is the median over the measured runs, and `null` where it is
    /// too small to matter or not known.
    BusyMachine {
        /// Share of its time that the subject's main thread was ready to run and waited for a CPU.
        waited: Option<f64>,
        /// Share of the time of the subject's CPUs that the hypervisor took.
        stolen: Option<f64>,
        /// Share of the time of the subject's CPUs that other programs used.
        others: Option<f64>,
        /// Time that the SMT siblings of the subject's CPUs were busy, as a share of the time of these CPUs.
        siblings: Option<f64>,
    },
    /// Rounds were added after the session had ended as planned.
    ContinuedAfterItsEnd {
        /// Rounds it had at its end.
        rounds: u32,
    },
    /// Rounds were added by another plan, after looks had spent some of the error.
    ContinuedByAnotherPlan {
        /// Rounds it had before.
        rounds: u32,
    },
    /// The first rounds were measured under other conditions.
    OtherConditions {
        /// How many.
        rounds: u32,
        /// What differed.
        differing: Vec<Difference>,
    },
    /// Somebody else changed a setting of the machine during the session.
    SettingDrifted {
        /// The setting.
        target: String,
        /// Its value at the start.
        from: String,
        /// Its value at the end.
        to: String,
    },
    /// So many settings were changed that each by itself would hide the rest; the record has them all in its conditions.
    SettingsDrifted {
        /// How many.
        settings: usize,
        /// One of them.
        target: String,
        /// Whether another becalm tuned the machine at the end.
        by_becalm: bool,
    },
    /// The record was read from the log of a session.
    FromLog,
    /// The runs were made on another machine than the one where becalm was started.
    Elsewhere {
        /// As the user named it.
        host: String,
        /// Its processor; empty where that is unknown.
        processor: String,
        /// Seconds by which its clock, which has given the times in the record, was ahead of the one here, where that is
        /// notable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clock_ahead: Option<i64>,
    },
    /// The record is one revision of a comparison.
    OfComparison {
        /// How its build is described.
        built: String,
    },
}

/// One condition that differed between the first rounds of a session and the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Which one.
    pub what: ConditionName,
    /// What it was.
    pub then: String,
    /// What it is.
    pub now: String,
}

/// A condition under which subjects are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConditionName {
    /// The scheduling class.
    Scheduler,
    /// The CPUs.
    Cpus,
    /// The niceness.
    Nice,
    /// Address space layout randomisation.
    Aslr,
}
