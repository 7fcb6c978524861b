//! Formats that are JSON, one file per tool.

mod asv;
mod benchmark_dotnet;
mod bmf;
mod codspeed;
#[path = "../common/mod.rs"]
mod common;
mod damaged;
mod github_action_benchmark;
mod google_benchmark;
mod gungraun;
mod history;
mod hyperfine;
mod jmh;
mod k6;
mod mitata;
mod nanobench;
mod pyperf;
mod pytest_benchmark;
mod tinybench;
