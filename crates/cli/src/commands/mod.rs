//! One file per command.

pub(crate) mod boot_params;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod exec;
pub(crate) mod export;
pub(crate) mod guardian;
pub(crate) mod hist;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod machine;
pub(crate) mod noise;
pub(crate) mod plan;
pub(crate) mod plot;
pub(crate) mod restore;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod services;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod timeit;
pub(crate) mod topology;
pub(crate) mod tune;
pub(crate) mod workload;
