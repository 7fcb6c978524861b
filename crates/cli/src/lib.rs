//! The command line of becalm as a library: flags become requests, events become lines on a terminal.
//!
//! [`run`] is all of it; `main.rs` hands it the arguments of the process. Start reading in `args.rs`, which
//! lists the commands and calls one; each is a file or folder of `commands/`. What several commands share
//! stands beside it. Exit codes are those of `exit.rs`, hints those of `error.rs`, and nothing but `ui.rs`
//! writes to the terminal.
//!
//! It may use every other crate of the product; nothing depends on it.

mod args;
mod commands;
mod completing;
mod elsewhere;
mod error;
mod exit;
mod first_word;
mod flags;
mod foreign;
mod foreign_flags;
mod help;
mod measuring;
mod numbers;
mod old_arguments;
mod optional_values;
mod records;
mod refused;
mod rights;
mod steady;
mod terminal;
mod topology;
mod tuning;
mod ui;
mod written;

use std::ffi::OsString;
use std::process::ExitCode;

pub use args::command;

/// Runs the command that these arguments ask for; the first of them is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    args::run(arguments).into()
}
