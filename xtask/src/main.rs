//! Project chores: `cargo xtask test`, `vm`, `docs`, `fuzz`, `projects`, `dist`, `bench`.

#![expect(clippy::print_stdout, reason = "chores speak to the person at the terminal")]

mod bench;
#[cfg(test)]
mod circles;
mod dist;
mod docs;
mod edges;
mod ending;
mod fuzz;
mod install;
#[cfg(test)]
mod named_paths;
#[cfg(test)]
mod phrases;
mod projects;
mod site;
#[cfg(test)]
mod sleeps;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod sources;
mod test;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod unsafe_code;
mod vm;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

/// Project chores
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
enum Chore {
    Test(test::Args),
    Vm(Box<vm::Args>),
    Docs(docs::Args),
    Fuzz(fuzz::Args),
    Projects(projects::Args),
    Dist(dist::Args),
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    let chore = Chore::parse();
    if let Err(error) = ending::watch() {
        println!("warning: {error:#}");
    }
    let done = match chore {
        Chore::Test(args) => test::run(&args),
        Chore::Vm(args) => vm::run(&args),
        Chore::Fuzz(args) => fuzz::run_all(&args).map(|()| true),
        Chore::Projects(args) => projects::run(&args).map(|()| true),
        Chore::Dist(args) => dist::run(&args).map(|()| true),
        Chore::Docs(args) => docs::run(&args).map(|()| true),
        Chore::Bench(bench) => bench.run().map(|()| true),
    };
    ending::let_finish();
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
