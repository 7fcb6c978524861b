//! The command line as users meet it: real processes in a hermetic environment.
//!
//! One program for all files, because linking takes longer than running them.

mod ablate;
mod boot_params;
mod callgrind;
mod check;
mod conditions;
mod deciding;
mod degraded;
mod disturbed;
mod exec;
mod export;
mod failures;
mod files;
mod guardian;
mod harness;
mod hooks;
mod import;
mod init;
mod interrupted;
mod layouts;
mod leases;
mod machine;
mod memory;
mod noise_reproduce;
mod output;
mod plan;
mod probe;
mod real_harnesses;
mod resume;
mod revisions;
mod saved;
mod schema;
mod steady;
mod subjects;
mod sudo;
mod suite;
mod support;
mod timeit;
mod topology;
mod tune;
mod workload;
