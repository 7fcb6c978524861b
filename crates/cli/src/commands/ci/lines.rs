//! From the record of a session to the lines of a report.

use becalm_model::ci::{CiLine, CiNoise, CiResult};
use becalm_model::{Comparison, MachineFacts, Record, Verdict};
use becalm_stats::{Sample, Summary};

use crate::history::{CutOff, cut_off};

/// Subjects of a job, in their order.
const BASE: usize = 0;
const BASE_AGAIN: usize = 1;
pub(super) const HEAD: usize = 2;

/// Returns what a session of base, base again and head came to. `name` is that of the whole program.
pub(super) fn report_of(record: &Record, name: &str) -> CiResult {
    let of = |candidate: usize| {
        record.comparisons.iter().filter(move |one| one.primary && one.candidate == candidate)
    };
    let lines = of(HEAD).map(|one| {
        let own = of(BASE_AGAIN).find(|other| other.metric == one.metric);
        line(record, one, own, name)
    });
    CiResult::Measured { lines: lines.collect(), rounds: record.rounds() }
}

fn line(record: &Record, one: &Comparison, own: Option<&Comparison>, name: &str) -> CiLine {
    let metric = &record.metrics[one.metric];
    let median = |subject| {
        let sample = Sample::new(record.values(subject, one.metric)).ok()?;
        Some(Summary::of(&sample, record.confidence).median)
    };
    CiLine {
        name: metric.benchmark.clone().unwrap_or_else(|| name.to_owned()),
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        direction: metric.direction,
        base: median(BASE),
        head: median(HEAD),
        ratio: one.ratio,
        verdict: one.verdict,
        noise: CiNoise {
            ratio: own.and_then(|own| own.ratio),
            verdict: own.map_or(Verdict::Inconclusive, |own| own.verdict),
        },
        rounds_needed: one.rounds_needed,
    }
}

/// Says of which side runs were cut off at the timeout.
pub(super) fn cut_off_sides(record: &Record) -> Vec<String> {
    let side =
        |subject: usize| [(BASE, "base"), (HEAD, "head")].into_iter().find(|one| one.0 == subject);
    let told = |one: CutOff| {
        let (_, side) = side(one.subject)?;
        Some(format!("{side}: {one}, so that nothing can be said for it"))
    };
    cut_off(record).into_iter().filter_map(told).collect()
}

/// Says in a few words which machine it is.
pub(super) fn machine_words(machine: &MachineFacts) -> String {
    let fact =
        |key: &str| machine.facts.get(key).map(|value| value.trim()).filter(|one| !one.is_empty());
    let mut words: Vec<String> = Vec::new();
    words.extend(fact("cpu_model").map(str::to_owned));
    words.extend(fact("kernel_release").map(|kernel| format!("Linux {kernel}")));
    words.extend(fact("virtualisation").map(str::to_owned));
    words.join(", ")
}
