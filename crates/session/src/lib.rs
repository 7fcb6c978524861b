//! From a request to a record: set-up, log, resume, quiet machine, revisions, layouts, suites,
//! harnesses.
//!
//! [`Request`] says what is measured and by which [`Terms`](becalm_model::terms::Terms);
//! [`conduct`] carries it out and returns the [`Session`] with its record. What happens meanwhile
//! is an [`Event`] for the caller; this crate prints nothing, knows no command line and no exit
//! code. Its errors say what failed and on what, and by [`Fault`] which kind of failure it is.
//!
//! It may use the runner, the machine, the lab (for traces), load (for servers), stats and the model. Start reading in
//! `conduct.rs`; `setup.rs` makes subjects ready to be started, `record.rs` begins and concludes a record,
//! `resume.rs` says what may differ when a session goes on, `revisions/` builds commits in worktrees, `suite/` reads
//! `becalm.toml`, `bisect/` searches for a commit, `timeit/` makes workers that time a statement, `quiet.rs` tunes and
//! isolates and puts back, `init/` finds benchmarks in a repository.

pub mod ablate;
pub mod bisect;
mod build;
mod conduct;
mod environment;
mod error;
mod event;
pub mod files;
mod harness;
pub mod init;
mod layouts;
mod log;
mod metrics;
mod nearest;
mod notes;
mod pilot;
mod plan;
mod profile;
mod quiet;
mod record;
pub mod resume;
mod revisions;
mod same;
mod saved;
mod servers;
pub mod service;
mod setup;
mod subjects;
pub mod suite;
pub mod timeit;
mod tracing;
mod tuned;
mod unmoved;

pub use becalm_runner::rounds::Stand;
pub use build::BuildError;
pub use conduct::{Request, Session, conduct};
pub use environment::{EnvironmentError, environment};
pub use error::{Error, Fault};
pub use event::{Event, Listener, SearchEvent};
pub use files::FileError;
pub use harness::HarnessError;
pub use layouts::{LINK_SEED, LayoutsError};
pub use log::{
    LogLines, OF_LOG, PARTIAL, SessionLog, is_being_written, last_session, longest_log, set_aside,
};
pub use metrics::{MetricsError, decide_exactly, metrics};
pub use nearest::did_you_mean;
pub use pilot::{ComparisonPilot, PilotError, PilotRuns};
pub use profile::{ProfileError, frequency, profile};
pub use quiet::QuietError;
pub use record::{LARGEST_SEED, conclude_log, disturbed_runs};
pub use resume::ResumeError;
pub use revisions::{
    Builds, Commit, GitError, Lineage, MainBranch, Recipe, Repository, Revisions, RevisionsError,
    Signed, is_documentation,
};
pub use same::{ReplacedBySetup, changed_since};
pub use saved::own_record;
pub use servers::{
    ContentsError, ServerTermsError, body_files, contents_of, is_url, read_body, read_mix,
    read_times, read_values,
};
pub use setup::{Machine, SetupError, Statement, work_folder};
pub use subjects::{MOST_SUBJECTS, SubjectsError, combinations, fill, name, subjects};
pub use tracing::Tracing;
pub use tuned::{GivenUp, PutBack, Tuned, TunedError, failures, is_restored, queue, shown};
pub use unmoved::unmoved;
