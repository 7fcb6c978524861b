//! What the server counts, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use becalm_model::wire::WebChangeCounts;

use crate::history::locked;

/// How many answers there were, and how long they took together.
type Answers = (u64, Duration);

/// What was answered so far, by page and status.
#[derive(Debug, Default)]
pub(super) struct Counters {
    answered: Mutex<BTreeMap<(&'static str, u16), Answers>>,
}

impl Counters {
    /// Counts an answer of a kind of page.
    pub(super) fn count(&self, page: &'static str, status: u16, took: Duration) {
        let mut answered = locked(&self.answered);
        let (n, time) = answered.entry((page, status)).or_default();
        *n += 1;
        *time += took;
    }

    /// Writes all counters, with what the history has.
    pub(super) fn text(&self, counts: WebChangeCounts, entries: usize, series: usize) -> String {
        let mut out = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, String)]| {
            let _ = write!(out, "# HELP becalm_{name} {help}\n# TYPE becalm_{name} {kind}\n");
            for (labels, value) in values {
                let _ = writeln!(out, "becalm_{name}{labels} {value}");
            }
        };
        let answered = locked(&self.answered);
        let labelled = |value: fn(&Answers) -> String| -> Vec<(String, String)> {
            let of = answered.iter();
            of.map(|((page, status), one)| {
                (format!("{{page=\"{page}\",status=\"{status}\"}}"), value(one))
            })
            .collect()
        };
        metric(
            "http_requests_total",
            "counter",
            "Requests answered",
            &labelled(|one| one.0.to_string()),
        );
        metric(
            "http_request_seconds_total",
            "counter",
            "Time that answers took",
            &labelled(|one| format!("{:.6}", one.1.as_secs_f64())),
        );
        let plain = |value: usize| vec![(String::new(), value.to_string())];
        metric("entries", "gauge", "Entries of the history", &plain(entries));
        metric("series", "gauge", "Series of main metrics", &plain(series));
        let state = |state: &str, n: usize| (format!("{{state=\"{state}\"}}"), n.to_string());
        let states = [
            state("open", counts.open),
            state("acknowledged", counts.acknowledged),
            state("dismissed", counts.dismissed),
        ];
        metric("changes", "gauge", "Changes by the decision about them", &states);
        let worse = plain(counts.open_regressions);
        metric(
            "open_regressions",
            "gauge",
            "Open changes that are confirmed and for the worse",
            &worse,
        );
        out
    }
}
