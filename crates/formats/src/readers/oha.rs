//! oha: `--output-format json`.
//!
//! `summary{successRate, total, slowest, fastest, average, requestsPerSec, sizePerSec}` and `latencyPercentiles{p10, .., p99.99}`
//! in seconds, `statusCodeDistribution`, `errorDistribution`. The file says neither which URL was asked nor whether times count
//! from the moment of sending or, with `--latency-correction`, from about when each request was to be sent.

use std::collections::BTreeMap;

use becalm_model::{Direction, ImportFact};
use serde::Deserialize;

use crate::imported::Imported;
use crate::json::{self, Maybe, Number};
use crate::messages::messages;
use crate::readers::load::Load;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "oha",
    about: "oha --output-format json",
    recognise: Takes::File(|file| {
        json::names(
            file,
            &['{'],
            &["\"latencyPercentiles\"", "\"statusCodeDistribution\"", "\"requestsPerSec\""],
        )
    }),
    read: Takes::File(read),
};

/// What oha says of the requests that were under way when its time was over. They are none that failed, and its success rate
/// leaves them out, too.
const UNFINISHED: &str = "aborted due to deadline";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    summary: Summary,
    latency_percentiles: Maybe<BTreeMap<String, Number>>,
    status_code_distribution: Maybe<BTreeMap<String, Number>>,
    error_distribution: Maybe<BTreeMap<String, Number>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    success_rate: Number,
    slowest: Number,
    fastest: Number,
    average: Number,
    requests_per_sec: Number,
    size_per_sec: Number,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("oha");
    for (before, text) in messages(file.text()?) {
        let report: Report = json::read_text(file, text, before)?;
        let summary = report.summary;
        let mut load = Load { name: "oha".to_owned(), ..Load::default() };
        load.figure("minimum", summary.fastest.0);
        load.figure("mean", summary.average.0);
        load.figure("maximum", summary.slowest.0);
        for (name, seconds) in report.latency_percentiles.0 {
            let name = if name == "p50" { "median".to_owned() } else { name };
            load.figure(name, seconds.0);
        }
        load.stands_for_latency(["median", "mean"]);
        load.requests = summary.requests_per_sec.0;
        load.transfer = summary.size_per_sec.0;
        load.counts.extend(summary.success_rate.0.map(|rate| ("success", Direction::Higher, rate)));
        let failed = report.error_distribution.0;
        let is_error = |what: &str| what != UNFINISHED;
        let errors = failed.iter().filter(|(what, _)| is_error(what));
        let errors = errors.filter_map(|(_, count)| count.0).sum();
        load.counts.push(("errors", Direction::Lower, errors));
        let statuses = report.status_code_distribution.0;
        let is_other = |status: &str| !status.starts_with(['2', '3']);
        let others = statuses.iter().filter(|(status, _)| is_other(status));
        let others = others.filter_map(|(_, count)| count.0).sum();
        load.counts.push(("other statuses than 2xx and 3xx", Direction::Lower, others));
        imported.known(ImportFact::LatencyStartUnknown);
        load.add(&mut imported);
    }
    Ok(imported)
}
