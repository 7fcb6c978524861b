//! fortio: the file of `fortio load -json`.
//!
//! `DurationHistogram{Avg, Min, Max, StdDev, Percentiles[{Percentile, Value}]}` in seconds, `ActualQPS`, `RetCodes`, and what was
//! asked for: `URL`, `NumThreads`, `RequestedQPS`. Percentiles are interpolated inside the bins of a histogram.

use std::collections::BTreeMap;

use becalm_model::{Direction, ImportFact};
use serde::Deserialize;

use crate::imported::Imported;
use crate::json::{self, Maybe, Number, Text};
use crate::messages::messages;
use crate::readers::load::Load;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "fortio",
    about: "fortio load -json",
    recognise: Takes::File(|file| {
        json::names(file, &['{'], &["\"DurationHistogram\"", "\"ActualQPS\"", "\"NumThreads\""])
    }),
    read: Takes::File(read),
};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    #[serde(rename = "URL")]
    url: Text,
    /// The place of a call that is not HTTP.
    destination: Text,
    run_type: Text,
    num_threads: Text,
    #[serde(rename = "RequestedQPS")]
    requested: Text,
    #[serde(rename = "ActualQPS")]
    actual: Number,
    duration_histogram: Histogram,
    ret_codes: Maybe<BTreeMap<String, Number>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Histogram {
    min: Number,
    max: Number,
    avg: Number,
    std_dev: Number,
    percentiles: Maybe<Vec<Percentile>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Percentile {
    percentile: Number,
    value: Number,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("fortio");
    for (before, text) in messages(file.text()?) {
        let report: Report = json::read_text(file, text, before)?;
        let names = [report.url.0, report.destination.0, report.run_type.0, "fortio".to_owned()];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        let mut load = Load { name, ..Load::default() };
        for (name, value) in
            [("threads", report.num_threads.0), ("requested rate", report.requested.0)]
        {
            if !value.is_empty() {
                load.parameters.push((name, value));
            }
        }
        let histogram = report.duration_histogram;
        load.figure("minimum", histogram.min.0);
        load.figure("mean", histogram.avg.0);
        load.figure("standard_deviation", histogram.std_dev.0);
        for one in histogram.percentiles.0 {
            let Some(percent) = one.percentile.0 else { continue };
            let is_middle = (percent - 50.0).abs() < 1e-9;
            let name = if is_middle { "median".to_owned() } else { format!("p{percent}") };
            load.figure(name, one.value.0);
        }
        load.figure("maximum", histogram.max.0);
        load.stands_for_latency(["median", "mean"]);
        load.requests = report.actual.0;
        let codes = report.ret_codes.0;
        // Codes are statuses of HTTP, or words such as `SERVING` and `OK`.
        let is_wrong = |code: &str| {
            code.parse::<i64>()
                .map_or(!["OK", "SERVING"].contains(&code), |status| !(200..400).contains(&status))
        };
        let wrong = codes.iter().filter(|(code, _)| is_wrong(code));
        let wrong = wrong.filter_map(|(_, count)| count.0).sum();
        load.counts.push(("failures", Direction::Lower, wrong));
        imported.known(ImportFact::LatencyFromSending);
        load.add(&mut imported);
    }
    Ok(imported)
}
