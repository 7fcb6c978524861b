//! One file per tool, each with what its format holds and its traps on top.

pub(crate) mod apache_bench;
pub(crate) mod artillery;
pub(crate) mod asv;
pub(crate) mod asv_console;
mod asv_tables;
pub(crate) mod autocannon;
pub(crate) mod bencher_perf;
pub(crate) mod benchmark_dotnet;
pub(crate) mod benchmark_dotnet_markdown;
pub(crate) mod benchmark_js;
pub(crate) mod bmf;
pub(crate) mod cargo_criterion;
pub(crate) mod catch2;
pub(crate) mod catch2_xml;
mod cells;
pub(crate) mod codspeed;
pub(crate) mod criterion;
pub(crate) mod criterion_csv;
pub(crate) mod criterion_text;
pub(crate) mod csv_values;
pub(crate) mod divan;
pub(crate) mod fio;
pub(crate) mod fortio;
pub(crate) mod github_action_benchmark;
pub(crate) mod gnu_time;
pub(crate) mod go;
mod go_suffixes;
pub(crate) mod google_benchmark;
pub(crate) mod google_console;
pub(crate) mod google_csv;
mod google_rates;
mod google_rows;
pub(crate) mod gungraun;
pub(crate) mod haskell;
pub(crate) mod hdr_log;
pub(crate) mod hyperfine;
pub(crate) mod hyperfine_markdown;
pub(crate) mod hyperfine_tables;
pub(crate) mod jmeter;
pub(crate) mod jmh;
pub(crate) mod jmh_console;
pub(crate) mod julia;
pub(crate) mod k6;
pub(crate) mod k6_console;
pub(crate) mod krun;
pub(crate) mod libtest;
mod load;
pub(crate) mod locust;
pub(crate) mod mitata;
pub(crate) mod mitata_text;
pub(crate) mod nanobench;
pub(crate) mod nanobench_markdown;
pub(crate) mod oha;
pub(crate) mod otava_csv;
pub(crate) mod perf_stat;
pub(crate) mod performance_entries;
pub(crate) mod pyperf;
pub(crate) mod pytest_benchmark;
pub(crate) mod pytest_table;
pub(crate) mod ruby;
pub(crate) mod shell_time;
pub(crate) mod short_lines;
pub(crate) mod sightglass;
pub(crate) mod sysbench;
pub(crate) mod table;
pub(crate) mod tinybench;
mod tinybench_figures;
pub(crate) mod tinybench_table;
pub(crate) mod valgrind_text;
pub(crate) mod vegeta;
mod vitest_report;
pub(crate) mod wrk;

/// What the readers of files with two sides call the measurement that was made last.
pub(crate) const NEW: &str = "new";

/// Returns the beginning of a commit's id, as people know it.
fn short(commit: &str) -> &str {
    let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { &commit[..8] } else { commit }
}
