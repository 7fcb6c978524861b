//! criterion: the folder `target/criterion`, or any folder in it.
//!
//! - `<group>/<function>/<value>/<baseline>/` holds `benchmark.json` (`full_id`, `throughput`),
//!   `sample.json` (`iters` and `times`: nanoseconds that so many iterations took together) and
//!   `estimates.json` (nanoseconds per iteration). Old files have no `sampling_mode`.
//! - Names of folders are cleaned (`sum/odd name?` is in `sum_odd name_`), so the name is in
//!   `benchmark.json`; without one the folder's name has to do.
//! - `change/` compares `new` with `base`; it is left out: `becalm diff` does that. `report/` too.
//! - No file names the unit. Other measurements than wall time cannot be told.
//!
//! The last run, `new`, is the first subject; `base` and named baselines are further ones, so that
//! they can be compared. When a run ends well criterion copies `new` to `base`: the same samples
//! are no second subject. Which benchmarks one process made is unknown: all of one baseline stand
//! as one.

use std::collections::BTreeMap;

use becalm_model::{Direction, ImportFact, ImportNote, Unit};
use serde::Deserialize;
use serde_json::Value;

use crate::imported::{Imported, part, single};
use crate::json::{self, Maybe, Number};
use crate::readers::NEW;
use crate::units::NANOSECOND;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const FOLDER: Entry = Entry {
    name: "criterion",
    about: "criterion's folder target/criterion",
    recognise: Takes::Files(|files| {
        files.iter().any(|file| match file.base() {
            "sample.json" => file.holds("\"iters\"") && file.holds("\"times\""),
            "estimates.json" => file.holds("\"point_estimate\""),
            _ => false,
        })
    }),
    read: Takes::Files(read),
};

#[derive(Deserialize)]
struct Benchmark {
    full_id: String,
    throughput: Maybe<Value>,
}

#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Estimates {
    mean: Maybe<Estimate>,
    median: Maybe<Estimate>,
    slope: Maybe<Estimate>,
    std_dev: Maybe<Estimate>,
}

#[derive(Deserialize, Default)]
struct Estimate {
    confidence_interval: Maybe<Interval>,
    point_estimate: Number,
}

#[derive(Deserialize, Default)]
struct Interval {
    confidence_level: Number,
    lower_bound: Number,
    upper_bound: Number,
}

/// The files of one baseline of one benchmark.
#[derive(Default)]
struct Folder<'a> {
    benchmark: Option<&'a File>,
    sample: Option<&'a File>,
    estimates: Option<&'a File>,
}

fn read(files: &[File]) -> Result<Imported, ImportError> {
    let mut folders: BTreeMap<&str, Folder> = BTreeMap::new();
    for file in files {
        let folder = folders.entry(file.folder().unwrap_or_default()).or_default();
        match file.base() {
            "benchmark.json" => folder.benchmark = Some(file),
            "sample.json" => folder.sample = Some(file),
            "estimates.json" => folder.estimates = Some(file),
            _ => {}
        }
    }
    let mut baselines: BTreeMap<(bool, &str), Vec<(&str, &Folder)>> = BTreeMap::new();
    for (path, folder) in &folders {
        let (above, baseline) = path.rsplit_once('/').unwrap_or(("", path));
        let is_empty = folder.sample.is_none() && folder.estimates.is_none();
        if !is_empty && baseline != "change" {
            let baseline = if baseline.is_empty() { NEW } else { baseline };
            // `new` comes first.
            baselines.entry((baseline != NEW, baseline)).or_default().push((above, folder));
        }
    }
    let mut imported = Imported::of("criterion");
    for ((is_other, baseline), entries) in baselines {
        for (above, folder) in entries {
            let new = if above.is_empty() { NEW.to_owned() } else { format!("{above}/{NEW}") };
            if is_other
                && let Some(new) = folders.get(new.as_str()).and_then(|new| new.sample)
                && folder.sample.is_some_and(|sample| sample.bytes() == new.bytes())
            {
                imported.note(ImportNote::CopyLeftOut { baseline: baseline.to_owned() });
                continue;
            }
            benchmark(&mut imported, baseline, above, folder)?;
        }
    }
    Ok(imported)
}

fn benchmark(
    imported: &mut Imported,
    baseline: &str,
    above: &str,
    folder: &Folder,
) -> Result<(), ImportError> {
    let mut name = if above.is_empty() { "benchmark".to_owned() } else { above.to_owned() };
    let mut throughput = Value::Null;
    match folder.benchmark {
        Some(file) => {
            let benchmark: Benchmark = json::read(file)?;
            name = benchmark.full_id;
            throughput = benchmark.throughput.0;
        }
        None => {
            imported.known(ImportFact::CriterionNames);
        }
    }
    let estimates: Option<Estimates> = folder.estimates.map(json::read).transpose()?;
    let (iterations, count) = match folder.sample {
        Some(file) => iterations(file)?,
        None => (Vec::new(), 0.0),
    };
    let subject = imported.subject(baseline);
    let metric = imported.benchmark(&name, "", Unit::Second, Direction::Lower);
    if let Some(kinds) = throughput.as_object() {
        let kinds: Vec<String> = kinds
            .iter()
            .map(|(kind, number)| format!("{number} {}", kind.to_lowercase()))
            .collect();
        imported.fact(&format!("throughput of {name}"), kinds.join(", "));
    }
    let samples = iterations.len() as f64;
    let time = |number: Number| number.0.map(|number| number * NANOSECOND);
    let value = part(metric, iterations).or_else(|| {
        imported.stand_in(metric, "mean");
        let mean = time(estimates.as_ref()?.mean.point_estimate)?;
        Some(single(metric, mean))
    });
    if let Some(estimates) = &estimates {
        let interval = &estimates.mean.confidence_interval;
        let figures = [
            ("mean", time(estimates.mean.point_estimate)),
            ("median", time(estimates.median.point_estimate)),
            ("slope", time(estimates.slope.point_estimate)),
            ("standard_deviation", time(estimates.std_dev.point_estimate)),
            ("low", time(interval.lower_bound)),
            ("high", time(interval.upper_bound)),
            ("confidence", interval.confidence_level.0),
            ("samples", Some(samples).filter(|samples| *samples > 0.0)),
            ("iterations", Some(count).filter(|count| *count > 0.0)),
        ];
        imported.summary(subject, metric, figures);
    }
    if let Some(part) = value {
        imported.add(subject, vec![part]);
    }
    Ok(())
}

/// Returns the seconds per iteration of each sample, and how many iterations there were.
fn iterations(file: &File) -> Result<(Vec<f64>, f64), ImportError> {
    let sample: Sample = json::read(file)?;
    if sample.iters.len() != sample.times.len() {
        let expected = format!(
            "{}, as many as in `iters`",
            becalm_model::counted(sample.iters.len(), "value")
        );
        let found = sample.times.len().to_string();
        return Err(ImportError::at_field(file, "times", &expected, &found));
    }
    let mut iterations = Vec::with_capacity(sample.times.len());
    for (index, (time, count)) in sample.times.iter().zip(&sample.iters).enumerate() {
        let one = time / count * NANOSECOND;
        if *count <= 0.0 || !one.is_finite() {
            let place = format!("iters[{index}]");
            let expected = "a number of iterations above 0";
            return Err(ImportError::at_field(file, &place, expected, &count.to_string()));
        }
        iterations.push(one);
    }
    Ok((iterations, sample.iters.iter().sum()))
}
