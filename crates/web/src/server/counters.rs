//! What the server counts, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use becalm_model::wire::WebProjectStanding;

use crate::history::locked;

/// How many answers there were, and how long they took together.
type Answers = (u64, Duration);

/// What was asked for: the project (`None` for what is of none) and the page, and the status of the answer.
type Asked = (Option<usize>, &'static str, u16);

/// What was answered so far.
#[derive(Debug, Default)]
pub(super) struct Counters {
    answered: Mutex<BTreeMap<Asked, Answers>>,
}

/// A project whose numbers are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted<'a> {
    /// Which it is.
    pub(super) project: usize,
    /// Its name, where there are several.
    pub(super) name: Option<&'a str>,
    /// How it stands, if that can be read.
    pub(super) standing: Option<&'a WebProjectStanding>,
}

impl Counted<'_> {
    /// Writes a label for each of these, after that of the project.
    fn labels(&self, more: &[(&str, &str)]) -> String {
        labels(self.name, more)
    }
}

fn labels(project: Option<&str>, more: &[(&str, &str)]) -> String {
    let of = project.map(|name| ("project", name));
    let all: Vec<String> =
        of.iter().chain(more).map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
}

impl Counters {
    /// Counts an answer of a kind of page.
    pub(super) fn count(
        &self,
        project: Option<usize>,
        page: &'static str,
        status: u16,
        took: Duration,
    ) {
        let mut answered = locked(&self.answered);
        let (n, time) = answered.entry((project, page, status)).or_default();
        *n += 1;
        *time += took;
    }

    /// Writes the counters of these projects and of what is of none, with what the histories have.
    pub(super) fn text(&self, of: &[Counted<'_>]) -> String {
        let mut out = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, values: Vec<(String, String)>| {
            let _ = write!(out, "# HELP becalm_{name} {help}\n# TYPE becalm_{name} {kind}\n");
            for (labels, value) in values {
                let _ = writeln!(out, "becalm_{name}{labels} {value}");
            }
        };
        let answered = locked(&self.answered);
        let labelled = |value: fn(&Answers) -> String| -> Vec<(String, String)> {
            let one = |((project, page, status), one): (&Asked, &Answers)| {
                let name = match project {
                    None => None,
                    Some(project) => of.iter().find(|known| known.project == *project)?.name,
                };
                let status = status.to_string();
                Some((labels(name, &[("page", *page), ("status", &status)]), value(one)))
            };
            answered.iter().filter_map(one).collect()
        };
        let requests = labelled(|one| one.0.to_string());
        metric("http_requests_total", "counter", "Requests answered", requests);
        let seconds = labelled(|one| format!("{:.6}", one.1.as_secs_f64()));
        metric("http_request_seconds_total", "counter", "Time that answers took", seconds);
        if of.iter().any(|one| one.name.is_some()) {
            let up =
                |one: &Counted<'_>| (one.labels(&[]), u8::from(one.standing.is_some()).to_string());
            let help = "Whether the history of the project can be read";
            metric("up", "gauge", help, of.iter().map(up).collect());
        }
        let plain = |value: fn(&WebProjectStanding) -> usize| {
            let known = of.iter().filter_map(|one| Some((one.labels(&[]), one.standing?)));
            known.map(|(labels, standing)| (labels, value(standing).to_string())).collect()
        };
        metric("entries", "gauge", "Entries of the history", plain(|one| one.entries));
        metric("series", "gauge", "Series of main metrics", plain(|one| one.series));
        let states = of.iter().filter_map(|one| Some((one, one.standing?.counts)));
        let states = states.flat_map(|(one, counts)| {
            let state = |state: &str, n: usize| (one.labels(&[("state", state)]), n.to_string());
            [
                state("open", counts.open),
                state("acknowledged", counts.acknowledged),
                state("dismissed", counts.dismissed),
            ]
        });
        metric("changes", "gauge", "Changes by the decision about them", states.collect());
        metric(
            "open_regressions",
            "gauge",
            "Open changes that are confirmed and for the worse",
            plain(|one| one.counts.open_regressions),
        );
        out
    }
}
