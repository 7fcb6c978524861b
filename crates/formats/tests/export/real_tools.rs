//! The tools themselves read what was written, where they are installed:
//!
//! - Python with pyperf, pyarrow, polars, or duckdb: `BECALM_PYTHON`, otherwise `python3`.
//! - benchstat: `BECALM_BENCHSTAT`, otherwise in the path.
//! - hyperfine's scripts: those among its sources, which `cargo install hyperfine` leaves in the folder of
//!   sources; they need Python with numpy, scipy and matplotlib.
//!
//! A tool that is missing is told as a skipped test.
#![expect(clippy::disallowed_methods, reason = "the library starts nothing, these tests do")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use becalm_formats::writer;
use becalm_model::Record;
use becalm_testkit::skipped;
use tempfile::TempDir;

use crate::support::{choose, compared, export, harness, values};

fn python() -> Command {
    let mut command =
        Command::new(std::env::var_os("BECALM_PYTHON").unwrap_or_else(|| "python3".into()));
    // No window.
    command.env("MPLBACKEND", "Agg");
    command
}

/// Says whether Python has these modules; what is missing is told.
fn has_modules(modules: &[&str]) -> bool {
    let import = format!("import {}", modules.join(", "));
    let found = python().args(["-c", &import]).output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        skipped(&format!("no Python with {}", modules.join(", ")));
    }
    found
}

#[track_caller]
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Runs a Python program on a file and returns what it printed.
#[track_caller]
fn tells(program: &str, file: &Path) -> String {
    said(&python().args(["-c", program]).arg(file).output().unwrap())
}

fn write(
    folder: &TempDir,
    name: &str,
    record: &Record,
    format: &str,
    subjects: &[&str],
) -> PathBuf {
    let options = choose(record, &[], subjects);
    let exported = (writer(format).unwrap().write)(record, &options).unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, exported.bytes).unwrap();
    path
}

#[test]
fn pyperf_checks_shows_and_compares() {
    if !has_modules(&["pyperf"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let (record, of_harness) = (compared(), harness());
    for (name, record) in [("process.json", &record), ("harness.json", &of_harness)] {
        let path = write(&folder, name, record, "pyperf", &[]);
        for command in ["check", "show", "stats", "hist", "metadata", "dump", "slowest"] {
            let output = python().args(["-m", "pyperf", command]).arg(&path).output().unwrap();
            let _ = said(&output);
        }
    }
    let path = folder.path().join("process.json");
    let program = "import pyperf, sys\n\
                   suite = pyperf.BenchmarkSuite.load(sys.argv[1])\n\
                   one = suite.get_benchmark('A')\n\
                   print(one.get_nrun(), one.get_unit(), *[v.hex() for v in one.get_values()])";
    let told = tells(program, &path);
    let hex = |value: &f64| {
        tells("import sys; print(float(sys.argv[1]).hex())", Path::new(&format!("{value:?}")))
    };
    let hex: Vec<String> =
        values(&record, "A", "wall_time").iter().map(|v| hex(v).trim().to_owned()).collect();
    assert_eq!(told.trim(), format!("9 second {}", hex.join(" ")));

    let old = write(&folder, "old.json", &record, "pyperf", &["A"]);
    let new = write(&folder, "new.json", &record, "pyperf", &["B"]);
    let output =
        python().args(["-m", "pyperf", "compare_to", "-v"]).args([old, new]).output().unwrap();
    let told = said(&output);
    assert!(told.contains("1.30x slower"), "{told}");
}

#[test]
fn benchstat_compares() {
    let benchstat = std::env::var_os("BECALM_BENCHSTAT").unwrap_or_else(|| "benchstat".into());
    if Command::new(&benchstat).arg("-h").output().is_err() {
        skipped("no benchstat");
        return;
    }
    let folder = TempDir::new().unwrap();
    let stat = |arguments: &[&str], path: &Path| {
        let output = Command::new(&benchstat).args(arguments).arg(path).output().unwrap();
        // What benchstat cannot read it tells there.
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!errors.contains("parsing"), "{errors}");
        said(&output)
    };
    let record = compared();
    let path = write(&folder, "process.txt", &record, "go-bench", &[]);
    let told = stat(&["-col", "pkg"], &path);
    assert!(told.contains("sec/op") && told.contains("+30.0"), "{told}");
    let path = write(&folder, "harness.txt", &harness(), "go-bench", &[]);
    let told = stat(&["-col", "pkg"], &path);
    for expected in ["sec/op", "B/op", "allocs/op", "B/s", "Scan/n=8", "Sort"] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let mut file = folder.path().to_owned();
    file.push("all.txt");
    std::fs::write(&file, export(&record, "go-bench", &["all"]).unwrap().bytes).unwrap();
    // An exact unit, whose values are all the same, is shown without an interval.
    let told = stat(&["-col", "pkg"], &file);
    assert!(told.contains("cpu_time-sec") && told.contains("instructions"), "{told}");
}

/// Returns the folder of the scripts of a release of hyperfine, of which the name of the folder of its sources
/// begins like this.
fn hyperfine_scripts(release: &str) -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")))?;
    let registries = std::fs::read_dir(home.join("registry/src")).ok()?;
    let crates =
        registries.flatten().filter_map(|one| std::fs::read_dir(one.path()).ok()).flatten();
    let mut folders = crates.flatten().map(|one| one.path());
    let folder = folders.find(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(release)
    })?;
    Some(folder.join("scripts"))
}

#[track_caller]
fn hyperfines_scripts_read(release: &str, format: &str) {
    let Some(scripts) = hyperfine_scripts(release) else {
        skipped(&format!("no sources of {release}*"));
        return;
    };
    if !has_modules(&["numpy", "scipy", "matplotlib"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let path = write(&folder, "file.json", &compared(), format, &[]);
    let script = |name: &str, more: &[&str]| {
        let script = scripts.join(name);
        let picture = folder.path().join("picture.png");
        let mut command = python();
        command.arg(script).arg(&path).args(more);
        if name.starts_with("plot") {
            command.arg("-o").arg(picture);
        }
        said(&command.output().unwrap())
    };
    let told = script("advanced_statistics.py", &[]);
    assert!(told.contains("Command 'A'") && told.contains("median:"), "{told}");
    let told = script("welch_ttest.py", &[]);
    assert!(told.contains("Command 2: B"), "{told}");
    let _ = script("plot_whisker.py", &["--sort-by", "median"]);
    let _ = script("plot_histogram.py", &[]);
    let _ = script("plot_progression.py", &[]);
}

#[test]
fn hyperfines_scripts_read_the_first_schema() {
    hyperfines_scripts_read("hyperfine-1.", "hyperfine");
}

#[test]
fn hyperfines_scripts_read_the_second_schema() {
    hyperfines_scripts_read("hyperfine-2.", "hyperfine-2");
}

const PARQUET: &str = "\
import sys, math, pyarrow.parquet as parquet
table = parquet.read_table(sys.argv[1])
print(','.join(table.column_names))
show = lambda v: '' if v is None else v.hex() if isinstance(v, float) else str(v).lower() if isinstance(v, bool) else str(v)
for row in table.to_pylist(): print('|'.join(show(v) for v in row.values()))
";

const CSV: &str = "\
import sys, csv
rows = csv.DictReader(open(sys.argv[1], newline=''))
print(','.join(rows.fieldnames))
for row in rows:
    row['value'] = float(row['value']).hex()
    print('|'.join(row.values()))
";

#[test]
fn parquet_holds_what_the_csv_holds() {
    if !has_modules(&["pyarrow"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    for record in [compared(), harness()] {
        let csv = write(&folder, "rows.csv", &record, "csv", &[]);
        let parquet = write(&folder, "rows.parquet", &record, "parquet", &[]);
        assert_eq!(tells(PARQUET, &parquet), tells(CSV, &csv));
    }
}

#[test]
fn other_data_frames_read_parquet_too() {
    let folder = TempDir::new().unwrap();
    let record = harness();
    let n_rows = 6 * (4 * 3 + 1);
    let path = write(&folder, "rows.parquet", &record, "parquet", &[]);
    if has_modules(&["polars"]) {
        let program = "import sys, polars; t = polars.read_parquet(sys.argv[1]); \
                       print(t.height, t['iteration'].null_count(), t['exact'].sum(), t['unit'].n_unique())";
        assert_eq!(tells(program, &path).trim(), format!("{n_rows} 6 18 4"));
    }
    if has_modules(&["duckdb"]) {
        let program = "import sys, duckdb; print(duckdb.sql(f\"select count(*), count(iteration), \
                       count(distinct metric), min(run), max(run) from '{sys.argv[1]}'\").fetchall()[0])";
        assert_eq!(tells(program, &path).trim(), format!("({n_rows}, {}, 5, 0, 2)", n_rows - 6));
    }
}
