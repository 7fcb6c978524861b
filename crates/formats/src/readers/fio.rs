//! fio: `--output-format=json` and `json+`.
//!
//! - `jobs[]{jobname, error, read{..}, write{..}, trim{..}}`, with `group_reporting` one for each group, and
//!   `client_stats[]` of several machines. A direction without I/O has zeros.
//! - `bw_bytes` and `iops` are of the whole run, `lat_ns{mean, min, max, stddev}` from submission to completion, and
//!   `clat_ns.percentile` from the end of submission. Before fio 3 there are `lat` in microseconds and `bw` in KiB/s.
//! - Other output may stand in front (`--output-format=normal,json`). Several documents are several processes.
//!
//! Each job and direction is a benchmark with bandwidth, operations per second and latency.

use becalm_model::{Direction, Part, Unit};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::imported::{Imported, Names, single};
use crate::json::{self, Maybe, Number, Text};
use crate::messages::messages;
use crate::units::NANOSECOND;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "fio",
    about: "fio --output-format=json",
    recognise: Takes::File(|file| {
        ["\"fio version\"", "\"jobname\""].iter().all(|field| file.holds(field))
    }),
    read: Takes::File(read),
};

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "fio version")]
    version: Text,
    timestamp: Number,
    jobs: Maybe<Vec<Job>>,
    client_stats: Maybe<Vec<Job>>,
}

#[derive(Deserialize)]
struct Job {
    jobname: Text,
    error: Number,
    read: Option<Side>,
    write: Option<Side>,
    trim: Option<Side>,
}

#[derive(Deserialize)]
struct Side {
    total_ios: Number,
    bw_bytes: Number,
    bw: Number,
    iops: Number,
    lat_ns: Option<Latency>,
    lat: Option<Latency>,
    clat_ns: Option<Latency>,
    clat: Option<Latency>,
}

#[derive(Deserialize)]
struct Latency {
    min: Number,
    max: Number,
    mean: Number,
    stddev: Number,
    percentile: Maybe<Map<String, Value>>,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("fio");
    for (before, text) in messages(file.text()?) {
        let document: Document = json::read_text(file, text, before)?;
        imported.fact("fio_version", document.version.0.trim_start_matches("fio-"));
        imported.started_at(document.timestamp.0.unwrap_or(0.0));
        let subject = imported.subject("fio");
        let mut names = Names::default();
        let mut parts = Vec::new();
        let all = document.jobs.0.into_iter().chain(document.client_stats.0);
        for job in all.filter(|job| job.jobname.0 != "All clients") {
            let name = names.unique(if job.jobname.0.is_empty() { "job" } else { &job.jobname.0 });
            if job.error.0.is_some_and(|error| error != 0.0) {
                let why = job.error.0.map(|error| format!("error {error}"));
                imported.failed(name.clone(), why);
            }
            for (direction, side) in [("read", job.read), ("write", job.write), ("trim", job.trim)]
            {
                if let Some(side) = side {
                    parts.extend(side.parts(
                        &mut imported,
                        subject,
                        &format!("{name} {direction}"),
                    ));
                }
            }
        }
        imported.parts(subject, parts);
    }
    Ok(imported)
}

impl Side {
    fn parts(&self, imported: &mut Imported, subject: usize, name: &str) -> Vec<Part> {
        if self.total_ios.0 == Some(0.0) || self.iops.0.is_none_or(|iops| iops == 0.0) {
            return Vec::new();
        }
        let mut parts = Vec::new();
        let bandwidth = self.bw_bytes.0.or_else(|| Some(self.bw.0? * 1024.0));
        for (measure, unit, rate) in [("bandwidth", "B/s", bandwidth), ("iops", "1/s", self.iops.0)]
        {
            if let Some(rate) = rate {
                let unit = Unit::Named(unit.to_owned());
                let metric = imported.benchmark(name, measure, unit, Direction::Higher);
                parts.push(single(metric, rate));
            }
        }
        let of = |now: &Option<Latency>,
                  before: &Option<Latency>|
         -> Option<(Vec<(String, f64)>, f64)> {
            let (latency, unit) = match (now, before) {
                (Some(latency), _) => (latency, NANOSECOND),
                (None, Some(latency)) => (latency, 1e-6),
                (None, None) => return None,
            };
            Some((latency.figures(unit), latency.mean.0? * unit))
        };
        if let Some((mut figures, mean)) = of(&self.lat_ns, &self.lat) {
            let percentiles =
                of(&self.clat_ns, &self.clat).map(|(figures, _)| figures).unwrap_or_default();
            figures.extend(
                percentiles
                    .into_iter()
                    .filter(|(name, _)| name.starts_with('p') || name == "median"),
            );
            let metric = imported.benchmark(name, "latency", Unit::Second, Direction::Lower);
            imported.stand_in(metric, "mean");
            imported.summary(
                subject,
                metric,
                figures.into_iter().map(|(name, value)| (name, Some(value))),
            );
            parts.push(single(metric, mean));
        }
        parts
    }
}

impl Latency {
    fn figures(&self, unit: f64) -> Vec<(String, f64)> {
        let own = [
            ("minimum", self.min.0),
            ("maximum", self.max.0),
            ("mean", self.mean.0),
            ("standard_deviation", self.stddev.0),
        ];
        let mut figures: Vec<(String, f64)> = own
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value? * unit)))
            .collect();
        for (share, value) in &self.percentile.0 {
            let name = match share.parse::<f64>() {
                Ok(50.0) => "median".to_owned(),
                Ok(share) => format!("p{share}"),
                Err(_) => continue,
            };
            figures.extend(value.as_f64().map(|value| (name, value * unit)));
        }
        figures
    }
}
