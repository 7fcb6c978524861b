//! `cargo xtask bench import`: what reading large files of other tools costs.
//!
//! Files with so many values of ten benchmarks are written, as the tools write them, and read by
//! `becalm import`. The peer is Python, whose `json` or `csv` module reads the same file into memory, and makes
//! nothing of it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};
use becalm_stats::Rng;

use super::surroundings;
use super::tally::Table;
use crate::sys::wait_with_memory;
use crate::workspace::{Profile, build_becalm};

/// Read large files of other tools and measure time and memory
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Values in each file
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    values: usize,

    /// How often each file is read; the fastest counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    times: usize,
}

/// Benchmarks in each file.
const BENCHMARKS: usize = 10;

/// Reads a file with what Python brings along.
const PEER: &str = "import csv, json, sys
with open(sys.argv[1]) as file:
    data = json.load(file) if sys.argv[1].endswith('.json') else list(csv.reader(file, delimiter=sys.argv[2]))";

/// A format: its name, the ending of its files, what separates its columns, and how a file is written.
type Format = (&'static str, &'static str, &'static str, fn(&[f64]) -> String);

const FORMATS: [Format; 9] = [
    ("hyperfine", "json", "", hyperfine),
    ("pyperf", "json", "", pyperf),
    ("pytest-benchmark", "json", "", pytest_benchmark),
    ("google-benchmark", "json", "", google_benchmark),
    ("tinybench", "json", "", tinybench),
    ("nanobench", "json", "", nanobench),
    ("sightglass", "json", "", sightglass),
    ("go-bench", "txt", "\t", go_bench),
    ("csv", "csv", ",", csv),
];

/// Measures and prints the table.
pub(crate) fn run(args: &Args) -> Result<()> {
    let becalm = build_becalm(Profile::Release)?;
    println!("Machine: {}. Load: {:.1}.", surroundings::machine(), surroundings::load());
    println!("{} values of {BENCHMARKS} benchmarks.\n", args.values);
    let mut rng = Rng::new(1);
    let values: Vec<f64> = (0..args.values).map(|_| 0.001 * (1.0 + 0.05 * rng.normal())).collect();
    let folder = tempfile::tempdir_in(".")?;
    let mut table = Table::new(&[
        "format",
        "MB",
        "seconds",
        "memory, MB",
        "time / Python's",
        "memory / Python's",
    ]);
    for (name, ending, separator, write) in FORMATS {
        let path = folder.path().join(format!("{name}.{ending}"));
        std::fs::write(&path, write(&values))?;
        let mut own = (f64::INFINITY, 0);
        let mut peer = own;
        for _ in 0..args.times {
            own = better(own, timed(Command::new(&becalm).arg("import").arg(&path))?);
            let mut python = Command::new("python3");
            peer = better(peer, timed(python.args(["-c", PEER]).arg(&path).arg(separator))?);
        }
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let row = [
            name.to_owned(),
            format!("{:.0}", megabytes(size(&path)?)),
            format!("{:.2}", own.0),
            format!("{:.0}", megabytes(own.1)),
            format!("{:.2}", own.0 / peer.0),
            format!("{:.2}", megabytes(own.1) / megabytes(peer.1)),
        ];
        println!("{}", row.join(" | "));
        table.rows.push(row.to_vec());
        std::fs::remove_file(&path)?;
    }
    println!("\n{}\nLoad at the end: {:.1}.", table.markdown(), surroundings::load());
    Ok(())
}

fn size(path: &Path) -> Result<u64> {
    Ok(path.metadata()?.len())
}

fn better(a: (f64, u64), b: (f64, u64)) -> (f64, u64) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Runs a command to its end; returns seconds and the peak of its memory in bytes.
fn timed(command: &mut Command) -> Result<(f64, u64)> {
    let started = Instant::now();
    let child = command.stdout(Stdio::null()).spawn()?;
    let (status, memory) = wait_with_memory(&child)?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok((started.elapsed().as_secs_f64(), memory))
}

/// Returns the values of each benchmark.
fn by_benchmark(values: &[f64]) -> impl Iterator<Item = (usize, &[f64])> {
    values.chunks(values.len().div_ceil(BENCHMARKS)).enumerate()
}

/// Writes something for each benchmark, with commas between.
fn each(values: &[f64], one: impl Fn(usize, &[f64]) -> String) -> String {
    by_benchmark(values).map(|(at, of)| one(at, of)).collect::<Vec<_>>().join(",\n")
}

fn hyperfine(values: &[f64]) -> String {
    let one =
        |at, of: &[f64]| format!("{{\"command\": \"b{at}\", \"mean\": 0.001, \"times\": {of:?}}}");
    format!("{{\"results\": [{}]}}", each(values, one))
}

fn pyperf(values: &[f64]) -> String {
    let one = |at, of: &[f64]| {
        let runs: Vec<String> =
            of.chunks(1000).map(|values| format!("{{\"values\": {values:?}}}")).collect();
        let name = format!("{{\"name\": \"b{at}\", \"unit\": \"second\"}}");
        format!("{{\"metadata\": {name}, \"runs\": [{}]}}", runs.join(","))
    };
    format!("{{\"benchmarks\": [{}], \"version\": \"1.0\"}}", each(values, one))
}

fn pytest_benchmark(values: &[f64]) -> String {
    let one = |at, of: &[f64]| {
        let stats = format!("{{\"rounds\": {}, \"iterations\": 1, \"data\": {of:?}}}", of.len());
        format!("{{\"name\": \"b{at}\", \"fullname\": \"t.py::b{at}\", \"stats\": {stats}}}")
    };
    let head = "\"machine_info\": {}, \"commit_info\": {}, \"version\": \"5.3.1\"";
    format!("{{{head}, \"benchmarks\": [{}]}}", each(values, one))
}

/// A row is a repetition, with a real time and a CPU time: two values.
fn google_benchmark(values: &[f64]) -> String {
    let one = |at, of: &[f64]| {
        let row = |(repetition, times): (usize, &[f64])| {
            format!(
                "    {{\n      \"name\": \"BM_{at}\",\n      \"family_index\": {at},\n      \
                 \"per_family_instance_index\": 0,\n      \"run_name\": \"BM_{at}\",\n      \
                 \"run_type\": \"iteration\",\n      \"repetitions\": {},\n      \
                 \"repetition_index\": {repetition},\n      \"threads\": 1,\n      \
                 \"iterations\": 1000,\n      \"real_time\": {:?},\n      \"cpu_time\": {:?},\n      \
                 \"time_unit\": \"ns\"\n    }}",
                of.len() / 2,
                times[0] * 1e9,
                times[1] * 1e9
            )
        };
        of.chunks_exact(2).enumerate().map(row).collect::<Vec<_>>().join(",\n")
    };
    let head = "\"context\": {\"num_cpus\": 2, \"library_build_type\": \"release\"}";
    format!("{{\n{head},\n\"benchmarks\": [\n{}\n]}}", each(values, one))
}

fn tinybench(values: &[f64]) -> String {
    let one = |at, of: &[f64]| {
        format!(
            "{{\"name\": \"b{at}\", \"result\": {{\"mean\": 1, \"p75\": 1, \"samples\": {of:?}}}}}"
        )
    };
    format!("[{}]", each(values, one))
}

fn nanobench(values: &[f64]) -> String {
    let one = |at, of: &[f64]| {
        let row = |value: &f64| format!("{{\"iterations\": 10, \"elapsed\": {value:?}}}");
        let rows: Vec<String> = of.iter().map(row).collect();
        let rows = rows.join(",");
        format!("{{\"name\": \"b{at}\", \"median(elapsed)\": 0.001, \"measurements\": [{rows}]}}")
    };
    format!("{{\"results\": [{}]}}", each(values, one))
}

fn sightglass(values: &[f64]) -> String {
    let row = |(at, value): (usize, &f64)| {
        format!(
            "{{\"arch\": \"x86_64\", \"engine\": \"e.so\", \"wasm\": \"b{}.wasm\", \"process\": {}, \
             \"iteration\": {}, \"phase\": \"Execution\", \"event\": \"cycles\", \"count\": {:.0}}}",
            at % BENCHMARKS,
            at / 10_000,
            at / BENCHMARKS % 1000,
            value * 1e9
        )
    };
    format!("[{}]", values.iter().enumerate().map(row).collect::<Vec<_>>().join(","))
}

fn go_bench(values: &[f64]) -> String {
    let mut text = "goos: linux\ngoarch: amd64\npkg: p\n".to_owned();
    for (at, of) in by_benchmark(values) {
        for value in of {
            let _ = writeln!(text, "BenchmarkB{at}-2\t1000\t{:.1} ns/op", value * 1e9);
        }
    }
    text + "PASS\n"
}

fn csv(values: &[f64]) -> String {
    let mut text = "subject,benchmark,metric,unit,direction,run,iteration,value\n".to_owned();
    for (at, value) in values.iter().enumerate() {
        let (benchmark, run, iteration) = (at % BENCHMARKS, at / 10_000, at / BENCHMARKS % 1000);
        let _ =
            writeln!(text, "a,b{benchmark},b{benchmark} time,s,lower,{run},{iteration},{value:?}");
    }
    text
}
