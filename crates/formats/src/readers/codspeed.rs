//! `CodSpeed`, walltime: what its integrations write to the profile folder.
//!
//! - `{creator, instrument: {type: "walltime"}, benchmarks: [{name, uri, config, stats}]}`, or one such
//!   benchmark alone, as the raw results are. Times are nanoseconds per iteration, `total_time` seconds.
//! - Only aggregates. `uri` tells benchmarks apart, `name` does not.

use becalm_model::{Direction, Part, Unit};
use serde::Deserialize;

use crate::imported::{Imported, Names, single};
use crate::json::{self, Number, Text};
use crate::units::NANOSECOND;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "codspeed",
    about: "CodSpeed's walltime results: a file, or a folder of raw results",
    recognise: Takes::Files(|files| {
        !files.is_empty()
            && files
                .iter()
                .all(|file| json::names(file, &['{'], &["\"stats\"", "\"median_ns\"", "\"uri\""]))
    }),
    read: Takes::Files(read),
};

#[derive(Deserialize)]
struct Document {
    creator: Option<Creator>,
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Creator {
    name: Text,
    version: Text,
}

#[derive(Deserialize)]
struct Benchmark {
    name: Text,
    uri: Text,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    min_ns: Number,
    max_ns: Number,
    mean_ns: Number,
    stdev_ns: Number,
    q1_ns: Number,
    #[serde(deserialize_with = "Number::deserialize")]
    median_ns: Number,
    q3_ns: Number,
    rounds: Number,
    iter_per_round: Number,
}

fn read(files: &[File]) -> Result<Imported, ImportError> {
    let mut documents = Vec::new();
    for file in files {
        // Raw results are benchmarks without a list around them.
        documents.push(if file.text()?.contains("\"benchmarks\"") {
            json::read::<Document>(file)?
        } else {
            Document { creator: None, benchmarks: vec![json::read(file)?] }
        });
    }
    let creator = documents.iter().find_map(|one| one.creator.as_ref());
    let creator = creator.map(|one| format!("{} {}", one.name.0, one.version.0));
    let mut imported = Imported::of(creator.as_deref().map_or("CodSpeed", str::trim));
    imported.has_only("median");
    let subject = imported.subject("CodSpeed");
    // Integrations write one file per process.
    for (file, document) in files.iter().zip(&documents) {
        let mut names = Names::default();
        let mut parts: Vec<Part> = Vec::new();
        for (index, benchmark) in document.benchmarks.iter().enumerate() {
            let name =
                if benchmark.uri.0.is_empty() { &benchmark.name.0 } else { &benchmark.uri.0 };
            if name.is_empty() {
                let place = format!("benchmarks[{index}].uri");
                return Err(ImportError::at_field(file, &place, "a name", "nothing"));
            }
            let name = names.unique(name);
            let metric = imported.benchmark(&name, "", Unit::Second, Direction::Lower);
            imported.mark(metric, "median");
            let stats = &benchmark.stats;
            let median = stats.median_ns.0.map(|median| median * NANOSECOND);
            parts.extend(median.map(|median| single(metric, median)));
            let times = [
                ("minimum", stats.min_ns),
                ("maximum", stats.max_ns),
                ("mean", stats.mean_ns),
                ("standard_deviation", stats.stdev_ns),
                ("p25", stats.q1_ns),
                ("median", stats.median_ns),
                ("p75", stats.q3_ns),
            ];
            let times = times.map(|(name, value)| (name, value.0.map(|one| one * NANOSECOND)));
            let counts = [("samples", stats.rounds.0), ("iterations", stats.iter_per_round.0)];
            imported.summary(subject, metric, times.into_iter().chain(counts));
        }
        imported.parts(subject, parts);
    }
    Ok(imported)
}
