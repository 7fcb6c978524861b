//! `cargo xtask bench import`: what reading large files of other tools costs.
//!
//! Files with so many values of ten benchmarks are written, as the tools write them, and read by
//! `becalm import`. The peer is Python, whose `json` or `csv` module reads the same file into memory, and makes
//! nothing of it.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};
use becalm_calibrate::decisions::Table;
use becalm_kernel::wait::reap;
use becalm_stats::Rng;

use super::surroundings;
use crate::workspace::{Profile, build_becalm, scratch};

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
type Format = (&'static str, &'static str, &'static str, fn(&mut Out, &[f64]) -> io::Result<()>);

/// Where files are written to; not through memory, for what this process holds would be counted as its children's.
type Out = BufWriter<File>;

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
    let folder = scratch()?;
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
        let mut out = BufWriter::new(File::create(&path)?);
        write(&mut out, &values)?;
        out.flush()?;
        drop(out);
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
    let (status, used) = reap(i32::try_from(child.id())?)?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok((started.elapsed().as_secs_f64(), used.max_rss))
}

/// Writes something for each benchmark, with `between` between.
fn each(
    out: &mut Out,
    values: &[f64],
    between: &str,
    one: impl Fn(&mut Out, usize, &[f64]) -> io::Result<()>,
) -> io::Result<()> {
    for (at, of) in values.chunks(values.len().div_ceil(BENCHMARKS)).enumerate() {
        if at > 0 {
            out.write_all(between.as_bytes())?;
        }
        one(out, at, of)?;
    }
    Ok(())
}

/// Writes a list, whose members `one` writes.
fn list<T>(
    out: &mut Out,
    members: impl IntoIterator<Item = T>,
    one: impl Fn(&mut Out, T) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, member) in members.into_iter().enumerate() {
        if at > 0 {
            out.write_all(b",\n")?;
        }
        one(out, member)?;
    }
    out.write_all(b"]")
}

fn numbers(out: &mut Out, values: &[f64]) -> io::Result<()> {
    list(out, values, |out, value| write!(out, "{value:?}"))
}

fn hyperfine(out: &mut Out, values: &[f64]) -> io::Result<()> {
    write!(out, "{{\"results\": [")?;
    each(out, values, ",", |out, at, of| {
        write!(out, "{{\"command\": \"b{at}\", \"mean\": 0.001, \"times\": ")?;
        numbers(out, of)?;
        write!(out, "}}")
    })?;
    write!(out, "]}}")
}

fn pyperf(out: &mut Out, values: &[f64]) -> io::Result<()> {
    write!(out, "{{\"benchmarks\": [")?;
    each(out, values, ",", |out, at, of| {
        write!(out, "{{\"metadata\": {{\"name\": \"b{at}\", \"unit\": \"second\"}}, \"runs\": ")?;
        list(out, of.chunks(1000), |out, values| {
            write!(out, "{{\"values\": ")?;
            numbers(out, values)?;
            write!(out, "}}")
        })?;
        write!(out, "}}")
    })?;
    write!(out, "], \"version\": \"1.0\"}}")
}

fn pytest_benchmark(out: &mut Out, values: &[f64]) -> io::Result<()> {
    write!(out, "{{\"machine_info\": {{}}, \"version\": \"5.3.1\", \"benchmarks\": [")?;
    each(out, values, ",", |out, at, of| {
        write!(out, "{{\"name\": \"b{at}\", \"fullname\": \"t.py::b{at}\", \"stats\": ")?;
        write!(out, "{{\"rounds\": {}, \"iterations\": 1, \"data\": ", of.len())?;
        numbers(out, of)?;
        write!(out, "}}}}")
    })?;
    write!(out, "]}}")
}

/// A row is a repetition, with a real time and a CPU time: two values.
fn google_benchmark(out: &mut Out, values: &[f64]) -> io::Result<()> {
    write!(out, "{{\"context\": {{\"num_cpus\": 2}}, \"benchmarks\": [")?;
    each(out, values, ",\n", |out, at, of| {
        for (repetition, times) in of.chunks_exact(2).enumerate() {
            let between = if repetition > 0 { ",\n" } else { "" };
            write!(
                out,
                "{between}    {{\n      \"name\": \"BM_{at}\",\n      \"family_index\": {at},\n      \
                 \"per_family_instance_index\": 0,\n      \"run_name\": \"BM_{at}\",\n      \
                 \"run_type\": \"iteration\",\n      \"repetitions\": {},\n      \
                 \"repetition_index\": {repetition},\n      \"threads\": 1,\n      \
                 \"iterations\": 1000,\n      \"real_time\": {:?},\n      \"cpu_time\": {:?},\n      \
                 \"time_unit\": \"ns\"\n    }}",
                of.len() / 2,
                times[0] * 1e9,
                times[1] * 1e9
            )?;
        }
        Ok(())
    })?;
    write!(out, "]}}")
}

fn tinybench(out: &mut Out, values: &[f64]) -> io::Result<()> {
    write!(out, "[")?;
    each(out, values, ",", |out, at, of| {
        write!(out, "{{\"name\": \"b{at}\", \"result\": {{\"hz\": 1, \"mean\": 1, \"samples\": ")?;
        numbers(out, of)?;
        write!(out, ", \"sd\": 1, \"rme\": 1, \"p75\": 1, \"p99\": 1, \"p995\": 1, \"p999\": 1}}}}")
    })?;
    write!(out, "]")
}

fn nanobench(out: &mut Out, values: &[f64]) -> io::Result<()> {
    write!(out, "{{\"results\": [")?;
    each(out, values, ",", |out, at, of| {
        write!(out, "{{\"name\": \"b{at}\", \"median(elapsed)\": 0.001, \"measurements\": ")?;
        list(out, of, |out, value| write!(out, "{{\"iterations\": 10, \"elapsed\": {value:?}}}"))?;
        write!(out, "}}")
    })?;
    write!(out, "]}}")
}

fn sightglass(out: &mut Out, values: &[f64]) -> io::Result<()> {
    list(out, values.iter().enumerate(), |out, (at, value)| {
        write!(
            out,
            "{{\"arch\": \"x86_64\", \"engine\": \"e.so\", \"wasm\": \"b{}.wasm\", \"process\": {}, \
             \"iteration\": {}, \"phase\": \"Execution\", \"event\": \"cycles\", \"count\": {:.0}}}",
            at % BENCHMARKS,
            at / 10_000,
            at / BENCHMARKS % 1000,
            value * 1e9
        )
    })
}

fn go_bench(out: &mut Out, values: &[f64]) -> io::Result<()> {
    writeln!(out, "goos: linux\ngoarch: amd64\npkg: p")?;
    each(out, values, "", |out, at, of| {
        for value in of {
            writeln!(out, "BenchmarkB{at}-2\t1000\t{:.1} ns/op", value * 1e9)?;
        }
        Ok(())
    })?;
    writeln!(out, "PASS")
}

fn csv(out: &mut Out, values: &[f64]) -> io::Result<()> {
    writeln!(out, "subject,benchmark,metric,unit,direction,run,iteration,value")?;
    for (at, value) in values.iter().enumerate() {
        let (benchmark, run, iteration) = (at % BENCHMARKS, at / 10_000, at / BENCHMARKS % 1000);
        writeln!(out, "a,b{benchmark},b{benchmark} time,s,lower,{run},{iteration},{value:?}")?;
    }
    Ok(())
}
