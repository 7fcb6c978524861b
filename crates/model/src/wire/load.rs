//! A load on a server, read back as a record with one run, so that everything that works on records works on it.

use serde::Deserialize;

use crate::load::{
    CPU_PER_REQUEST, FEWEST_BEYOND, Failed, Gaps, Latency, LoadCounts, LoadPart, LoadSecond,
    LoadTerms, LoadTime, ObjectiveResult, RunLoad, ThreadUse, Trust, USUAL_QUANTILES, metrics,
};
use crate::note::Interruption;
use crate::{
    ImportFact, ImportNote, MachineFacts, Outcome, Record, RecordKind, Run, Source, Subject,
};

/// What a record keeps of a document of `becalm load`.
#[derive(Debug, Deserialize)]
pub(super) struct LoadDocument {
    becalm: String,
    started_at: f64,
    machine: MachineFacts,
    terms: LoadTerms,
    counts: LoadCounts,
    elapsed: f64,
    #[serde(default)]
    answering: Option<f64>,
    response: Latency,
    service: Latency,
    lag: Latency,
    errors: Vec<Failed>,
    #[serde(default)]
    mix: Vec<LoadPart>,
    fidelity: Fidelity,
    #[serde(default)]
    objectives: Vec<ObjectiveResult>,
    #[serde(default)]
    seconds: Vec<LoadSecond>,
    #[serde(default)]
    signal: Option<i32>,
}

#[derive(Debug, Deserialize)]
struct Fidelity {
    verdict: Trust,
    reasons: Vec<Reason>,
    #[serde(default)]
    gaps: Option<Gaps>,
    threads: Vec<ThreadUse>,
}

/// Why a load is invalid, as its document says it.
#[derive(Debug, Deserialize)]
struct Reason {
    #[serde(rename = "text")]
    sentence: String,
}

/// Makes a record of a load. Its run is measured only if the generator kept to the schedule.
pub(super) fn record_of_load(document: LoadDocument) -> Record {
    let LoadDocument { terms, fidelity, counts, .. } = &document;
    let mut record = Record::empty(RecordKind::Import);
    let tool = format!("becalm {}", document.becalm);
    record.source = Some(Source { format: "becalm-load".to_owned(), tool });
    record.started_at = document.started_at;
    let subject = Subject {
        parameters: terms.series_parameters(),
        ..Subject::new(terms.url.clone(), Vec::new())
    };
    let mut failed = |why: Option<String>| {
        record.notes.push(ImportNote::Failed { benchmark: subject.name.clone(), why }.into());
    };
    for Reason { sentence } in &fidelity.reasons {
        failed(Some(sentence.clone()));
    }
    let is_valid = fidelity.verdict == Trust::Valid;
    // Without an answer there is no time, only that the server failed.
    if is_valid && counts.answered == 0 {
        failed(document.errors.first().map(Failed::in_words));
    }
    let discarded = !is_valid || counts.answered == 0;
    record.notes.push(ImportNote::Known { what: ImportFact::LatencyFromDue }.into());
    record.interrupted = document.signal.map(|signal| Interruption::Signal { signal });
    let beyond = |q: f64| (1.0 - q) * counts.scheduled as f64;
    let quantiles: Vec<f64> =
        USUAL_QUANTILES.into_iter().filter(|q| beyond(*q) >= FEWEST_BEYOND).collect();
    record.metrics = metrics(&quantiles);
    // It is that of a server which becalm started.
    record.metrics.retain(|metric| metric.name != CPU_PER_REQUEST);
    let time_limit = terms.time_limit;
    let load = RunLoad {
        seed: terms.seed,
        counts: *counts,
        elapsed: document.elapsed,
        answering: document.answering,
        response: document.response,
        service: document.service,
        lag: document.lag,
        errors: document.errors,
        mix: document.mix,
        threads: document.fidelity.threads,
        gaps: document.fidelity.gaps,
        invalid: !is_valid,
        objectives: document.objectives,
        seconds: document.seconds,
        repeated: Vec::new(),
    };
    let times = [(LoadTime::Response, &load.response), (LoadTime::Service, &load.service)];
    let mut values: Vec<Option<f64>> = Vec::new();
    for (_, latency) in times {
        values.extend(quantiles.iter().map(|q| value_of(latency, *q, time_limit)));
    }
    values.extend([load.error_rate(), load.throughput()].map(Some));
    // Somebody may have written the document by hand.
    let values = values.into_iter().map(|value| value.filter(|value| value.is_finite())).collect();
    record.subjects.push(subject);
    record.machine = document.machine;
    let (outcome, load) = (Outcome::Unknown, Some(Box::new(load)));
    let run = Run { discarded, outcome, values, load, ..Run::blank(0, 0) };
    record.runs.push(run);
    record
}

/// Returns a quantile as the value of a run, in seconds. If it lies among the requests without the expected answer, that
/// is the time limit, or the largest time that is known, if that is longer, so that a server that fails more never looks
/// faster. `None` where the document has only a lower bound of it.
fn value_of(latency: &Latency, q: f64, time_limit: f64) -> Option<f64> {
    let n = latency.known.saturating_add(latency.censored);
    // As many digits as two doubles have in common.
    let rank = ((q * n as f64 * 1e6).round() / 1e6).ceil();
    if rank > latency.known as f64 {
        let known = latency.quantiles.iter().filter(|one| !one.at_least);
        return (n > 0).then(|| known.map(|one| one.value).fold(time_limit, f64::max));
    }
    let found = latency.quantiles.iter().find(|one| (one.q - q).abs() < 1e-9)?;
    (!found.at_least).then_some(found.value)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::read_document;
    use super::*;

    fn latency(known: u64, censored: u64, quantiles: &[(f64, f64)]) -> Value {
        let quantiles: Vec<Value> = quantiles
            .iter()
            .map(|(q, value)| json!({"q": q, "value": value, "at_least": false}))
            .collect();
        json!({"known": known, "censored": censored, "quantiles": quantiles, "histogram": ""})
    }

    fn document(answered: u64, errors: u64) -> Value {
        let times = latency(answered, errors, &[(0.5, 0.001), (0.9, 0.002), (0.99, 0.009)]);
        json!({
            "schema": "becalm/load/1", "becalm": "0.1.0", "started_at": 1_000.0, "machine": {},
            "terms": {
                "url": "http://127.0.0.1/", "protocol": "HTTP/1.1", "method": "POST", "body_bytes": 0,
                "expected_status": [], "arrivals": "poisson", "seed": 3, "duration": 2.0,
                "stages": [{"seconds": 2.0, "from": 1000.0, "to": 1000.0}], "time_limit": 5.0,
                "connections": 10, "new_connections": false, "threads": 1,
            },
            "counts": {
                "scheduled": answered + errors, "sent": answered + errors, "answered": answered,
                "errors": errors, "starved": 0, "unsent": 0, "connections": 1,
            },
            "elapsed": 2.0, "response": times, "service": times, "lag": times, "errors": [],
            "fidelity": {"verdict": "valid", "reasons": [], "threads": []},
            "objectives": [], "seconds": [],
        })
    }

    fn values(record: &Record) -> Vec<(&str, Option<f64>)> {
        let names = record.metrics.iter().map(|metric| metric.name.as_str());
        names.zip(record.runs[0].values.iter().copied()).collect()
    }

    #[test]
    fn a_load_is_a_record_of_one_run() {
        let record = read_document(&document(2000, 0).to_string()).unwrap();
        assert_eq!(record.subjects[0].name, "http://127.0.0.1/");
        let parameters = &record.subjects[0].parameters;
        assert_eq!(
            parameters[..2],
            [("rate", "1000"), ("method", "POST")].map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
        let expected = [
            ("response_p50", Some(0.001)),
            ("response_p90", Some(0.002)),
            ("response_p99", Some(0.009)),
            ("service_p50", Some(0.001)),
            ("service_p90", Some(0.002)),
            ("service_p99", Some(0.009)),
            ("error_rate", Some(0.0)),
            ("throughput", Some(1000.0)),
        ];
        assert_eq!(values(&record), expected);
        assert!(record.measured(0).count() == 1 && record.runs[0].load.is_some());
    }

    #[test]
    fn loads_of_different_kinds_are_different_series() {
        let parameters = |change: &dyn Fn(&mut Value)| {
            let mut document = document(2000, 0);
            change(&mut document["terms"]);
            read_document(&document.to_string()).unwrap().subjects[0].parameters.clone()
        };
        let usual = parameters(&|_| ());
        let changes: [(&str, Value); 8] = [
            ("arrivals", "even".into()),
            ("grpc", true.into()),
            ("unix_socket", "/run/a".into()),
            ("follow", 2.into()),
            ("requests_digest", "12".into()),
            ("new_connections", true.into()),
            ("protocol", "HTTP/2".into()),
            (
                "stages",
                json!([{"seconds": 1.0, "from": 10.0, "to": 10.0}, {"seconds": 2.0, "from": 5.0, "to": 5.0}]),
            ),
        ];
        for (name, value) in changes {
            assert_ne!(parameters(&|terms| terms[name] = value.clone()), usual, "{name}");
        }
        // The same archetype is, whatever the capacity was.
        let latency = |capacity: f64| {
            parameters(&|terms| {
                terms["archetype"] =
                    json!({"archetype": "latency", "capacity": capacity, "connections": 4});
                terms["stages"][0]["from"] = (capacity * 0.4).into();
            })
        };
        assert_eq!(latency(1000.0), latency(1100.0));
        assert_eq!(latency(1000.0)[0], ("archetype".to_owned(), "latency".to_owned()));
    }

    #[test]
    fn failures_take_the_time_limit_and_what_is_not_known_has_no_value() {
        let record = read_document(&document(1960, 40).to_string()).unwrap();
        let (_, p99) = values(&record)[2];
        assert_eq!(p99, Some(5.0));
        let mut known_in_part = document(1985, 15);
        known_in_part["response"]["quantiles"][2]["at_least"] = true.into();
        let record = read_document(&known_in_part.to_string()).unwrap();
        assert_eq!((values(&record)[2].1, values(&record)[5].1), (None, Some(0.009)));
    }

    #[test]
    fn a_load_without_an_answer_is_not_measured() {
        let mut silent = document(0, 100);
        silent["errors"] = json!([{"kind": "refused", "count": 100}]);
        let record = read_document(&silent.to_string()).unwrap();
        assert_eq!(record.measured(0).count(), 0);
        assert!(format!("{:?}", record.notes).contains("refused"), "{:?}", record.notes);
    }

    #[test]
    fn an_invalid_load_is_not_measured() {
        let mut invalid = document(2000, 0);
        invalid["fidelity"]["verdict"] = "invalid".into();
        invalid["fidelity"]["reasons"] = json!([{"kind": "unsent", "requests": 1, "scheduled": 9, "text": "one was never sent"}]);
        let record = read_document(&invalid.to_string()).unwrap();
        assert_eq!(record.measured(0).count(), 0);
        assert!(format!("{:?}", record.notes).contains("one was never sent"), "{:?}", record.notes);
    }
}
