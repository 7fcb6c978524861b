//! Krun and `warmup_stats`.
//!
//! - Krun's results: `wallclock_times` has, per `benchmark:vm:variant`, one list of seconds per process
//!   execution. They are stored as `.json.bz2`, which has to be unpacked. A process that crashed has an
//!   empty list. Counts of cycles (`core_cycle_counts`, `aperf_counts`, `mperf_counts`) are left out.
//! - `warmup_stats` reads and writes CSV: `process_exec_idx,bench_name,0,1,2,...`, one process a row.
//!
//! A virtual machine is a subject, and every process execution made one benchmark.

use std::collections::BTreeMap;

use becalm_model::{Direction, ImportNote, Unit};
use serde::Deserialize;
use serde_json::Value;

use crate::imported::{Imported, part};
use crate::json::{self, Maybe};
use crate::lines::number;
use crate::readers::table::Table;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "krun",
    about: "Krun's results, unpacked",
    recognise: Takes::File(|file| {
        let is_object = |text: &str| text.trim_start().starts_with('{');
        is_packed(file) || (file.text().is_ok_and(is_object) && file.holds("\"wallclock_times\""))
    }),
    read: Takes::File(read_json),
};

pub(crate) const CSV: Entry = Entry {
    name: "warmup-stats",
    about: "warmup_stats' CSV: process_exec_idx, bench_name, 0, 1, ...",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| {
            let first = text.lines().next().unwrap_or_default();
            let mut columns = first.split(',').map(|cell| cell.trim().trim_matches('"'));
            columns.next().is_some_and(|name| name.starts_with("process"))
                && columns.next() == Some("bench_name")
                && columns.next() == Some("0")
        })
    }),
    read: Takes::File(read_csv),
};

fn is_packed(file: &File) -> bool {
    file.bytes().starts_with(b"BZh") && file.text().is_err()
}

#[derive(Deserialize)]
struct Results {
    wallclock_times: BTreeMap<String, Vec<Option<Vec<f64>>>>,
    audit: Maybe<BTreeMap<String, Value>>,
}

fn read_json(file: &File) -> Result<Imported, ImportError> {
    if is_packed(file) {
        return Err(ImportError::nothing(file, "it is packed; unpack it with `bunzip2` first"));
    }
    let results: Results = json::read(file)?;
    let mut imported = Imported::of("krun");
    if let Some(uname) = results.audit.get("uname").and_then(Value::as_str) {
        imported.fact("uname", uname.trim());
        let mut words = uname.split_whitespace();
        imported.fact("os", words.next().unwrap_or_default());
        imported.fact("kernel_release", words.nth(1).unwrap_or_default());
    }
    for (key, executions) in results.wallclock_times {
        let (benchmark, vm) = key.split_once(':').unwrap_or((key.as_str(), "krun"));
        let metric = imported.benchmark(benchmark, "", Unit::Second, Direction::Lower);
        let subject = imported.subject(vm);
        for times in executions {
            match part(metric, times.unwrap_or_default()) {
                Some(part) => imported.parts(subject, vec![part]),
                None => imported.note(ImportNote::Crashed { benchmark: key.clone() }),
            }
        }
    }
    Ok(imported)
}

fn read_csv(file: &File) -> Result<Imported, ImportError> {
    let mut table = Table::of(file)?;
    if table.header().get(1) != Some("bench_name") {
        table.require("bench_name")?;
    }
    let mut imported = Imported::of("warmup_stats");
    let subject = imported.subject("warmup_stats");
    while let Some(row) = table.next()? {
        let name = row.cells().get(1).unwrap_or_default().trim();
        if name.is_empty() {
            return Err(row.wrong("a name as bench_name", ""));
        }
        let cells = row.cells().iter().skip(2).filter(|cell| !cell.trim().is_empty());
        let times: Result<Vec<f64>, _> =
            cells.map(|cell| number(cell).ok_or_else(|| row.wrong("a time", cell))).collect();
        let metric = imported.benchmark(name, "", Unit::Second, Direction::Lower);
        if let Some(part) = part(metric, times?) {
            imported.parts(subject, vec![part]);
        }
    }
    Ok(imported)
}
