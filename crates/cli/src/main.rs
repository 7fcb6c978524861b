//! The `becalm` binary: one file per command, and the few things they share.

mod args;
mod caller;
mod commands;
mod error;
mod exit;
mod files;
mod foreign;
mod gate;
mod history;
mod init;
mod measuring;
mod memory;
mod records;
mod steady;
mod suite;
mod topology;
mod tuning;
mod ui;

use std::process::ExitCode;

fn main() -> ExitCode {
    args::run(std::env::args_os()).into()
}
