//! Test only: fake machine trees, a hermetic command line and redaction.

mod command;
mod cpufreq;
mod machine;
mod postgres;
mod process;
mod redact;
mod skip;
mod sys;
mod time;
mod tree;
mod wait;

pub use command::{CommandOutput, TestEnv};
pub use cpufreq::{FakeCpufreq, Switch};
pub use machine::FakeMachine;
pub use postgres::{PostgresServer, postgres};
pub use process::{Sleeper, write_program};
pub use redact::redact;
pub use skip::skipped;
pub use sys::{Call, refuse_call};
pub use time::{FileTimer, thread_cpu_time};
pub use tree::FakeTree;
pub use wait::wait_until;
