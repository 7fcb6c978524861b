//! hyperfine: `--export-json` of both schemas, and `--export-csv`.
//!
//! - Version 1 (up to 1.20): `results[]` with `times` in seconds; `user` and `system` are means over the
//!   runs, `exit_codes` has `null` for a signal, `memory_usage_byte` of up to 1.20 is the largest of
//!   all commands so far (hyperfine issue 965). Old files have no `times`.
//! - Version 2 (from 2.0): `schema_version: 2`, `results[].measurements[]` with one object per run.
//! - CSV: aggregates only. Version 2 names its columns by metric.
//!
//! A run of hyperfine is a process, and its commands are subjects. All runs of one command are made
//! before those of the next.

use std::collections::BTreeMap;

use becalm_model::{ImportFact, Metric, Outcome, Unit, metric};
use serde::Deserialize;
use serde_json::Value;

use crate::imported::Imported;
use crate::json::{self, Maybe, Number};
use crate::readers::table::Table;
use crate::units;
use crate::writers::FIELDS_OF_2;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "hyperfine",
    about: "hyperfine --export-json, schema 1 and 2",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| {
            let start = json::beginning(text);
            start.starts_with('{')
                && (start.contains("\"results\"") || start.contains("\"schema_version\""))
                && (start.contains("\"command\"") || start.contains("\"hyperfine_version\""))
        })
    }),
    read: Takes::File(read_json),
};

pub(crate) const CSV: Entry = Entry {
    name: "hyperfine-csv",
    about: "hyperfine --export-csv (aggregates only)",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| {
            text.starts_with("command,mean,") || text.starts_with("command,time_")
        })
    }),
    read: Takes::File(read_csv),
};

#[derive(Deserialize)]
struct Document {
    metadata: Maybe<Metadata>,
    results: Vec<ResultRow>,
}

#[derive(Deserialize, Default)]
struct Metadata {
    hyperfine_version: Maybe<String>,
    platform: Maybe<Platform>,
}

#[derive(Deserialize, Default)]
struct Platform {
    os: Maybe<String>,
    architecture: Maybe<String>,
}

#[derive(Deserialize)]
struct ResultRow {
    command: String,
    name: Option<String>,
    mean: Number,
    stddev: Number,
    median: Number,
    min: Number,
    max: Number,
    user: Number,
    system: Number,
    times: Maybe<Vec<f64>>,
    memory_usage_byte: Maybe<Vec<f64>>,
    exit_codes: Maybe<Vec<Option<i32>>>,
    parameters: Maybe<BTreeMap<String, Value>>,
    /// Only in version 2.
    measurements: Maybe<Vec<Measurement>>,
}

#[derive(Deserialize)]
struct Measurement {
    exit_code: Option<i32>,
    time_wall_clock: Option<Quantity>,
    time_cpu: Option<Quantity>,
    time_user: Option<Quantity>,
    time_system: Option<Quantity>,
    memory_peak_resident: Option<Quantity>,
    cpu_cycles: Option<Quantity>,
    instructions: Option<Quantity>,
    cache_references: Option<Quantity>,
    cache_misses: Option<Quantity>,
    branch_misses: Option<Quantity>,
}

#[derive(Deserialize, Clone, Copy)]
struct Quantity {
    value: f64,
}

fn read_json(file: &File) -> Result<Imported, ImportError> {
    let document: Document = json::read(file)?;
    let metadata = document.metadata.0;
    let mut imported =
        Imported::of(format!("hyperfine {}", metadata.hyperfine_version.0).trim_end());
    imported.fact("os", &metadata.platform.os.0);
    imported.fact("architecture", &metadata.platform.architecture.0);
    let processes = document.results.iter().map(|row| row.times.len() + row.measurements.len());
    imported.expect(processes.sum());
    let is_second = document.results.iter().any(|row| !row.measurements.is_empty());
    let metrics = if is_second { metrics_of_2(&document.results) } else { metrics_of_1() };
    for metric in &metrics {
        imported.metric(metric.clone());
    }
    if document.results.len() > 1 {
        imported.known(ImportFact::HyperfineOrder);
    }
    for (index, row) in document.results.into_iter().enumerate() {
        let name = row.name.as_ref().unwrap_or(&row.command);
        let parameters = row.parameters.iter().map(|(name, value)| (name.clone(), text_of(value)));
        let subject = imported.another(name, vec![row.command.clone()], parameters.collect());
        if is_second {
            second_version(&mut imported, subject, &metrics, &row);
        } else {
            first_version(&mut imported, file, index, subject, &row)?;
        }
    }
    Ok(imported)
}

/// A parameter is a text in version 1 and an object with a `value` in version 2.
fn text_of(value: &Value) -> String {
    let value = value.get("value").unwrap_or(value);
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn metrics_of_1() -> Vec<Metric> {
    let name = |name| Metric::lower(name, Unit::Second);
    vec![
        name(metric::WALL_TIME),
        Metric::lower(metric::MAX_RSS, Unit::Byte),
        Metric { statistic: Some("mean".to_owned()), ..name(metric::USER_TIME) },
        Metric { statistic: Some("mean".to_owned()), ..name(metric::SYSTEM_TIME) },
    ]
}

fn first_version(
    imported: &mut Imported,
    file: &File,
    index: usize,
    subject: usize,
    row: &ResultRow,
) -> Result<(), ImportError> {
    for (run, &time) in row.times.iter().enumerate() {
        if time < 0.0 {
            let place = format!("results[{index}].times[{run}]");
            return Err(ImportError::at_field(file, &place, "a time", &time.to_string()));
        }
        let outcome = match row.exit_codes.get(run) {
            Some(Some(code)) => Outcome::Exited(*code),
            // hyperfine does not tell which signal it was.
            Some(None) | None => Outcome::Unknown,
        };
        let memory = row.memory_usage_byte.get(run).copied();
        imported.process(subject, vec![Some(time), memory], outcome);
    }
    if !row.memory_usage_byte.is_empty() {
        imported.known(ImportFact::HyperfineMemory);
    }
    let [wall, _, user, system] = [0, 1, 2, 3];
    if row.times.is_empty() {
        imported.has_only("mean");
        imported.mark(wall, "mean");
        imported.process(subject, vec![row.mean.0], Outcome::Unknown);
    }
    imported.summary(subject, wall, figures(row));
    imported.summary(subject, user, [("mean", row.user.0)]);
    imported.summary(subject, system, [("mean", row.system.0)]);
    Ok(())
}

fn figures(row: &ResultRow) -> [(&'static str, Option<f64>); 5] {
    [
        ("mean", row.mean.0),
        ("standard_deviation", row.stddev.0),
        ("median", row.median.0),
        ("minimum", row.min.0),
        ("maximum", row.max.0),
    ]
}

type Field = (&'static str, Unit, fn(&Measurement) -> Option<Quantity>);

const FIELDS: [Field; 10] = [
    (metric::WALL_TIME, Unit::Second, |one| one.time_wall_clock),
    (metric::CPU_TIME, Unit::Second, |one| one.time_cpu),
    (metric::USER_TIME, Unit::Second, |one| one.time_user),
    (metric::SYSTEM_TIME, Unit::Second, |one| one.time_system),
    (metric::MAX_RSS, Unit::Byte, |one| one.memory_peak_resident),
    (metric::CYCLES, Unit::Count, |one| one.cpu_cycles),
    (metric::INSTRUCTIONS, Unit::Count, |one| one.instructions),
    (metric::CACHE_REFERENCES, Unit::Count, |one| one.cache_references),
    (metric::CACHE_MISSES, Unit::Count, |one| one.cache_misses),
    (metric::BRANCH_MISSES, Unit::Count, |one| one.branch_misses),
];

fn metrics_of_2(rows: &[ResultRow]) -> Vec<Metric> {
    let is_there = |field: &Field| {
        rows.iter().flat_map(|row| &row.measurements.0).any(|one| (field.2)(one).is_some())
    };
    FIELDS
        .iter()
        .filter(|field| is_there(field))
        .map(|(name, unit, _)| Metric::lower(name, unit.clone()))
        .collect()
}

fn second_version(imported: &mut Imported, subject: usize, metrics: &[Metric], row: &ResultRow) {
    let fields: Vec<&Field> = metrics
        .iter()
        .filter_map(|metric| FIELDS.iter().find(|(name, ..)| *name == metric.name))
        .collect();
    for one in &row.measurements.0 {
        let values = fields.iter().map(|(_, _, get)| get(one).map(|quantity| quantity.value));
        let outcome = one.exit_code.map_or(Outcome::Unknown, Outcome::Exited);
        imported.process(subject, values.collect(), outcome);
    }
}

fn read_csv(file: &File) -> Result<Imported, ImportError> {
    let mut table = Table::strict(file)?;
    let header = table.header().clone();
    // Version 1 has one metric, in seconds, whose columns have no prefix.
    let means = header.iter().filter_map(|name| name.strip_suffix("_mean")).collect::<Vec<_>>();
    let prefixes: Vec<String> = if means.is_empty() {
        vec![String::new()]
    } else {
        means.iter().map(|m| format!("{m}_")).collect()
    };
    let mut imported = Imported::of("hyperfine");
    imported.has_only("mean");
    while let Some(row) = table.next()? {
        let number = |name: &str| match row.text(name) {
            "" => Ok(None),
            text => text
                .parse::<f64>()
                .map(|number| Some(number).filter(|n| n.is_finite()))
                .map_err(|_| row.wrong("a number", text)),
        };
        let command = row.text("command");
        let parameters = header
            .iter()
            .zip(row.cells())
            .filter_map(|(name, value)| {
                Some((name.strip_prefix("parameter_")?.to_owned(), value.to_owned()))
            })
            .collect();
        let subject = imported.another(command, vec![command.to_owned()], parameters);
        let mut values = Vec::new();
        for prefix in &prefixes {
            let unit = match row.text(&format!("{prefix}unit")) {
                "" if prefix.is_empty() => "s",
                unit => unit,
            };
            let (unit, factor) = units::unit(unit);
            let of = |name: &str| Ok(number(&format!("{prefix}{name}"))?.map(|n| n * factor));
            let metric = imported.metric(Metric::lower(csv_metric(prefix), unit));
            imported.mark(metric, "mean");
            let mean = of("mean")?;
            values.push(mean);
            let figures = [
                ("mean", mean),
                ("standard_deviation", of("stddev")?),
                ("median", of("median")?),
                ("minimum", of("min")?),
                ("maximum", of("max")?),
            ];
            imported.summary(subject, metric, figures);
        }
        imported.process(subject, values, Outcome::Unknown);
    }
    Ok(imported)
}

fn csv_metric(prefix: &str) -> &str {
    let column = prefix.trim_end_matches('_');
    let known = FIELDS_OF_2.iter().find(|(_, field, _)| *field == column);
    if prefix.is_empty() { metric::WALL_TIME } else { known.map_or(column, |(name, ..)| name) }
}
