//! Test only: fake machine trees, a hermetic command line and redaction.
//!
//! It may use `kernel` alone, and any crate but `stats` may use it for its tests. Start reading in `machine.rs`,
//! which invents machines, and in `command.rs`, which runs becalm in a folder of its own.

mod browser;
mod certificate;
mod command;
mod cpufreq;
mod machine;
mod postgres;
mod process;
mod redact;
mod skip;
mod slurm;
mod ssh;
mod tree;
mod wait;

pub use becalm_kernel::clock::thread_cpu_time;
pub use becalm_kernel::seccomp::{Call, refuse_call};
pub use becalm_kernel::timer::FileTimer;

pub use browser::Browser;
pub use certificate::{self_made_certificate, signed_certificate};
pub use command::{CommandOutput, TestEnv};
pub use cpufreq::{FakeCpufreq, Switch};
pub use machine::FakeMachine;
pub use postgres::{PostgresServer, postgres, postgres_with_tls};
pub use process::{Sleeper, write_program};
pub use redact::redact;
pub use skip::skipped;
pub use slurm::SlurmCluster;
pub use ssh::SshHost;
pub use tree::FakeTree;
pub use wait::wait_until;
