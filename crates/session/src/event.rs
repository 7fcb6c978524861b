//! What a session reports while it runs. The caller puts it into words and shows it.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use becalm_machine::service::{Queued, TimeUp};
use becalm_machine::tune::{Applied, Recovered};
use becalm_model::{Comparison, Note, Record, SessionLimit, Subject, SuiteOutlook, Verdict};
use becalm_runner::rounds::{Hook, Plan};

use crate::revisions::Commit;

/// What happens in a session.
#[derive(Debug)]
pub enum Event<'a> {
    /// The reader of the record has to know this, and it is known before the first run.
    Note(&'a Note),
    /// The plan makes fewer rounds than any verdict needs.
    Undecidable {
        /// Rounds of the plan.
        possible: u32,
        /// Rounds that a verdict needs at least.
        needed: u32,
        /// Confidence that is asked for.
        confidence: f64,
    },
    /// The first round shows that the fewest rounds take longer than the budget.
    LongerThanPlanned {
        /// Time of a round.
        round: Duration,
        /// Fewest rounds.
        minimum: u32,
    },
    /// The warm-up shows how long a suite takes.
    Outlook(SuiteOutlook),
    /// The limits of a continued session were already used up: its answer stays.
    NothingAdded {
        /// Rounds that the session has.
        rounds: u32,
        /// Time that they took.
        took: Duration,
    },
    /// The log of a session that was killed was in the way and was renamed.
    LogSetAside(&'a Path),
    /// A build command starts.
    Building(&'a str),
    /// The build of a revision starts.
    BuildingRevision {
        /// As the user named it.
        name: &'a str,
        /// What that is.
        commit: &'a Commit,
    },
    /// What the build command writes in the present folder is that of the last of this many
    /// layouts.
    LastLayoutStays(u32),
    /// A revision does not have the program, and nothing builds it.
    NotBuilt {
        /// As the user named it.
        revision: &'a str,
        /// The program.
        program: &'a str,
    },
    /// Others have the machine first.
    Queued(&'a Queued),
    /// The service has put the machine back before the session ended.
    TimeUp(TimeUp),
    /// An earlier becalm had left the machine changed; this is the result of putting it back.
    Leftovers(&'a Recovered),
    /// The machine was put back, with this result.
    Restored(&'a Recovered),
    /// These changes of the machine were made, or refused.
    Changed(&'a [Applied]),
    /// Idle states that take long to leave cannot be prevented.
    LatencyNotHeld(&'a std::io::Error),
    /// A control group that nobody uses any more was in the way of isolation.
    GroupRemoved(&'a str),
    /// The machine is not tuned, because this user may not.
    NotTuned(&'a SessionLimit),
    /// The subjects cannot have CPUs of their own.
    NotIsolated(&'a str),
    /// A hook starts that runs once.
    Hook {
        /// Which one.
        hook: Hook,
        /// Its command.
        command: &'a str,
    },
    /// The first run starts.
    Started {
        /// By this plan.
        plan: &'a Plan,
        /// With what is known already.
        record: &'a Record,
    },
    /// These lines were added to the log, whether or not it can be kept.
    Logged(&'a str),
    /// A run is over.
    Ran {
        /// Of this subject.
        subject: &'a Subject,
        /// In the warm-up.
        warmup: bool,
    },
    /// A round is over.
    Round {
        /// Rounds that are measured.
        rounds: u32,
        /// Share of the plan that is used.
        fraction: f64,
        /// Whether it was one of the warm-up.
        warmup: bool,
    },
    /// The comparisons were looked at.
    Looked(&'a [Comparison]),
    /// The last run is over.
    Measured,
    /// A mitigation of noise is tried, to see whether it is possible.
    Tries(&'static str),
    /// A block of runs under mitigations starts.
    Block {
        /// In this stage.
        stage: &'static str,
        /// Its number in the stage.
        block: u32,
        /// Time used before.
        used: Duration,
        /// Time for all of the experiment.
        whole: Duration,
    },
    /// A search for a commit goes on.
    Search(SearchEvent<'a>),
}

/// What happens in a search for a commit.
#[derive(Debug)]
pub enum SearchEvent<'a> {
    /// It starts, or continues.
    Begins {
        /// Commits after the good end.
        commits: usize,
        /// Where it is saved.
        place: &'a Path,
    },
    /// The ends are compared, for this time at most.
    ComparesEnds {
        /// The time, where one is set.
        budget: Option<Duration>,
    },
    /// The ends differ.
    EndsDiffer {
        /// What the bad end is.
        verdict: Verdict,
        /// On this metric.
        metric: &'a str,
    },
    /// A step is over.
    Step {
        /// How many there were.
        number: usize,
        /// The commit that was measured.
        commit: &'a Commit,
        /// Its verdict against the good end.
        verdict: &'a str,
        /// With this probability.
        probability: f64,
        /// The likeliest commit of the change.
        likeliest: &'a Commit,
        /// And its probability.
        of_likeliest: f64,
    },
    /// A commit is measured in a new build before the answer is believed.
    BuiltAnew(&'a Commit),
    /// A commit has the program of another one that is known.
    SameProgram(&'a Commit),
    /// A commit cannot be built or run.
    Skipped(&'a Commit),
}

/// Receives what a session reports.
#[derive(Clone, Copy)]
pub struct Listener<'a>(&'a dyn Fn(Event<'_>));

impl<'a> Listener<'a> {
    /// Returns one that hands every event to a function.
    pub fn new(hear: &'a dyn Fn(Event<'_>)) -> Self {
        Self(hear)
    }

    /// Hears an event.
    pub fn hears(&self, event: Event<'_>) {
        (self.0)(event);
    }
}

impl fmt::Debug for Listener<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}
