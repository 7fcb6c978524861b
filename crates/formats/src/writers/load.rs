//! Loads of servers as other tools have them: the log of histograms, a table of seconds, the summary of k6.
//!
//! - `hdr-log`: an interval for each run and time, with the tags `SUBJECT.response`, `.service` and `.lag`, values in
//!   nanoseconds, the largest one in milliseconds (`HistogramLogWriter` of `HdrHistogram`, format 1.3). Requests without an
//!   answer have no value, so there is a note if there are any.
//! - `load-csv`: a row for each second of each run.
//! - `k6-summary`: what `k6 run --summary-export` writes, of one subject. `http_req_duration` is the service time, because
//!   k6 counts from sending, too; the response time from the due time is a trend `response_time`.

use std::fmt::Write as _;

use becalm_model::load::{LoadCounts, LoadSecond, RunLoad};
use becalm_model::{Record, Run};
use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

use crate::histograms::decoded;
use crate::writers::{ExportError, Exported, Options, Writer};

pub(crate) const HDR_LOG: Writer = Writer {
    name: "hdr-log",
    about: "HdrHistogram log of servers that were loaded: response, service and lag of each run",
    ending: "hlog",
    write: hdr_log,
};

pub(crate) const SECONDS: Writer = Writer {
    name: "load-csv",
    about: "CSV of servers that were loaded: figures of each second of each run",
    // `csv` is that of another format, which is meant by it.
    ending: "seconds",
    write: seconds,
};

pub(crate) const K6: Writer = Writer {
    name: "k6-summary",
    about: "k6 --summary-export of a server that was loaded",
    ending: "json",
    write: k6_summary,
};

/// The loads of measured runs: subject, number of the run among those of the subject, run and load.
fn loads<'a>(
    record: &'a Record,
    options: &Options,
    format: &'static str,
) -> Result<Vec<(usize, usize, &'a Run, &'a RunLoad)>, ExportError> {
    let is_chosen =
        |subject: &usize| options.subjects.as_ref().is_none_or(|chosen| chosen.contains(subject));
    let of = |subject: usize| {
        record
            .measured(subject)
            .filter_map(|run| Some((run, run.load.as_deref()?)))
            .enumerate()
            .map(move |(number, (run, load))| (subject, number, run, load))
    };
    let all: Vec<_> = (0..record.subjects.len()).filter(is_chosen).flat_map(of).collect();
    if all.is_empty() {
        let is_invalid = record.runs.iter().any(|run| run.load.is_some());
        let why = if is_invalid {
            "the load is invalid or has no answer, so it has no times of the server"
        } else {
            "no run has a load (becalm load, or compare --load)"
        };
        return Err(ExportError::nothing(format, why));
    }
    Ok(all)
}

/// Says how many requests have no value in histograms of known times.
fn unanswered<'a>(loads: impl Iterator<Item = &'a RunLoad>) -> Vec<String> {
    let missing: u64 = loads.map(|load| load.response.censored).sum();
    if missing == 0 {
        return Vec::new();
    }
    vec![format!("requests without the expected answer, which have no time: {missing}")]
}

fn hdr_log(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let loads = loads(record, options, HDR_LOG.name)?;
    let first = loads.iter().map(|(_, _, run, _)| run.started).fold(f64::INFINITY, f64::min);
    let epoch = record.started_at + first;
    let mut text = format!(
        "#[Logged with becalm; times in ns, an interval for each run]\n#[Histogram log format version 1.3]\n\
         #[BaseTime: {epoch:.3} (seconds since epoch)]\n#[StartTime: {epoch:.3} (seconds since epoch)]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
    );
    for (subject, _, run, load) in &loads {
        let name = &record.subjects[*subject].name;
        // What a line is divided by is no part of a tag.
        let name: String =
            name.chars().map(|c| if c == ',' || c.is_whitespace() { '_' } else { c }).collect();
        for (time, latency) in
            [("response", &load.response), ("service", &load.service), ("lag", &load.lag)]
        {
            if latency.known == 0 {
                continue;
            }
            let largest = decoded(&latency.histogram).map_or(0, |histogram| histogram.max());
            let _ = writeln!(
                text,
                "Tag={name}.{time},{:.3},{:.3},{:.3},{}",
                run.started - first,
                load.elapsed,
                largest as f64 * 1e-6,
                latency.histogram
            );
        }
    }
    let notes = unanswered(loads.iter().map(|(_, _, _, load)| *load));
    Ok(Exported { bytes: text.into_bytes(), notes })
}

fn seconds(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let loads = loads(record, options, SECONDS.name)?;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = "a table in memory is written";
    writer.write_record(["subject", "run"].into_iter().chain(LoadSecond::COLUMNS)).expect(failed);
    for (subject, number, _, load) in loads {
        for second in &load.seconds {
            let run = [record.subjects[subject].name.clone(), number.to_string()];
            writer.write_record(run.into_iter().chain(second.cells())).expect(failed);
        }
    }
    let bytes = writer.into_inner().expect(failed);
    Ok(Exported { bytes, notes: Vec::new() })
}

fn k6_summary(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let loads = loads(record, options, K6.name)?;
    let subject = loads[0].0;
    if loads.iter().any(|(other, ..)| *other != subject) {
        return Err(ExportError::nothing(
            K6.name,
            "it is about one subject; choose it with --subject",
        ));
    }
    let mut counts = LoadCounts::default();
    let mut answering = 0.0;
    for (_, _, _, load) in &loads {
        counts.scheduled += load.counts.scheduled;
        counts.answered += load.counts.answered;
        counts.sent += load.counts.sent;
        counts.unsent += load.counts.unsent;
        counts.connections += load.counts.connections;
        answering += load.answering();
    }
    let trend = |of: fn(&RunLoad) -> &str| -> Value {
        let mut all = Histogram::<u64>::new(3).expect("three digits are permitted");
        all.auto(true);
        for one in loads.iter().filter_map(|(_, _, _, load)| decoded(of(load))) {
            all.add(one).expect("it grows");
        }
        let ms = |nanos: f64| json!(nanos * 1e-6);
        let at = |q: f64| ms(all.value_at_quantile(q) as f64);
        json!({
            "avg": ms(all.mean()),
            "min": ms(all.min() as f64),
            "med": at(0.5),
            "max": ms(all.max() as f64),
            "p(90)": at(0.9),
            "p(95)": at(0.95),
            "p(99)": at(0.99),
            "p(99.9)": at(0.999),
        })
    };
    let rate = |count: u64| count as f64 / answering.max(f64::MIN_POSITIVE);
    let failed = counts.scheduled.saturating_sub(counts.answered);
    let mut metrics = Map::new();
    metrics.insert("http_req_duration".to_owned(), trend(|load| &load.service.histogram));
    metrics.insert("response_time".to_owned(), trend(|load| &load.response.histogram));
    metrics.insert("send_lag".to_owned(), trend(|load| &load.lag.histogram));
    let count = |n: u64| json!({ "count": n, "rate": rate(n) });
    metrics.insert("http_reqs".to_owned(), count(counts.sent));
    metrics.insert("iterations".to_owned(), count(counts.sent));
    metrics.insert("dropped_iterations".to_owned(), count(counts.unsent));
    metrics.insert(
        "http_req_failed".to_owned(),
        json!({
            "value": failed as f64 / counts.scheduled.max(1) as f64,
            // In k6's words: how often it was true that a request failed.
            "passes": failed,
            "fails": counts.answered,
        }),
    );
    let document = json!({ "metrics": metrics, "root_group": { "name": "", "path": "", "groups": {}, "checks": {} } });
    let mut bytes = serde_json::to_vec_pretty(&document).expect("plain values are JSON");
    bytes.push(b'\n');
    let mut notes = vec![
        "http_req_duration is the service time, from sending, as k6 has it; response_time counts from when requests were due"
            .to_owned(),
    ];
    notes.extend(unanswered(loads.iter().map(|(_, _, _, load)| *load)));
    Ok(Exported { bytes, notes })
}
