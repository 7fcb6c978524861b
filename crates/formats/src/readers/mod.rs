//! One file per tool, each with what its format holds and its traps on top.

pub(crate) mod asv;
pub(crate) mod benchmark_dotnet;
pub(crate) mod bmf;
pub(crate) mod codspeed;
pub(crate) mod github_action_benchmark;
pub(crate) mod google_benchmark;
pub(crate) mod gungraun;
pub(crate) mod hyperfine;
pub(crate) mod jmh;
pub(crate) mod k6;
pub(crate) mod nanobench;
pub(crate) mod pyperf;
pub(crate) mod pytest_benchmark;
pub(crate) mod tinybench;
