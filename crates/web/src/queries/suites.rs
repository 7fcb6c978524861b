//! Where the time of suites goes: what each benchmark of the last entry of a branch on a machine took.

use std::collections::BTreeMap;

use becalm_model::Unit;
use becalm_model::wire::{
    WEB_SUITES_SCHEMA, WebSuiteBenchmarkDocument, WebSuiteDocument, WebSuitesDocument,
};
use becalm_series::{Store, StoreError};

use super::{Findings, part};
use crate::history::History;

/// Benchmarks of a page.
const EACH: usize = 50;

/// Branches on machines that are listed.
const SUITES: usize = 30;

/// Values that are shown of each benchmark.
const TREND: usize = 30;

/// Returns a page of the benchmarks of a branch on a machine, those first that take longest: of those that measured last,
/// if none is named. `None` if there is no such page.
pub(crate) fn suites(
    history: &History,
    store: &mut Store,
    wanted: Option<(&str, &str)>,
    page: usize,
) -> Result<Option<WebSuitesDocument>, StoreError> {
    let found = Findings::of(history, store)?;
    let mut all: Vec<(WebSuiteDocument, usize)> = Vec::new();
    for (place, group) in found.groups.iter().enumerate() {
        let mut suite = WebSuiteDocument {
            branch: group.branch.clone(),
            fingerprint: group.fingerprint.clone(),
            machine: BTreeMap::new(),
            ..WebSuiteDocument::default()
        };
        found.visit(history, store, group, &mut |series, line| {
            let Some(last) = line.moments.last() else { return };
            (suite.entry, suite.time) = (last.entry.0, last.at);
            let Some(at) = line.at(line.moments.len() - 1) else { return };
            if series.key.unit == Unit::Second {
                suite.benchmarks += 1;
                suite.seconds += line.values[at] * f64::from(line.runs[at]);
            }
        })?;
        all.push((suite, place));
    }
    all.retain(|(suite, _)| suite.benchmarks > 0);
    all.sort_by(|(a, _), (b, _)| b.time.total_cmp(&a.time).then(b.seconds.total_cmp(&a.seconds)));
    let is_wanted = |suite: &WebSuiteDocument| {
        wanted.is_none_or(|wanted| (suite.branch.as_str(), suite.fingerprint.as_str()) == wanted)
    };
    let chosen = all.iter().find(|(suite, _)| is_wanted(suite));
    if chosen.is_none() && wanted.is_some() {
        return Ok(None);
    }
    let mut benchmarks = Vec::new();
    if let Some((suite, place)) = chosen {
        found.visit(history, store, &found.groups[*place], &mut |series, line| {
            let Some(at) = line.at(line.moments.len() - 1) else { return };
            if series.key.unit != Unit::Second {
                return;
            }
            let taken = |at: usize| line.values[at] * f64::from(line.runs[at]);
            benchmarks.push(WebSuiteBenchmarkDocument {
                series: series.id.0,
                benchmark: series.key.benchmark.clone(),
                parameters: series.key.parameters.iter().cloned().collect(),
                metric: series.key.metric.clone(),
                value: line.values[at],
                runs: line.runs[at],
                seconds: taken(at),
                share: if suite.seconds > 0.0 { taken(at) / suite.seconds } else { 0.0 },
                trend: ((at + 1).saturating_sub(TREND)..=at).map(taken).collect(),
            });
        })?;
    }
    benchmarks.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(a.series.cmp(&b.series)));
    let Some((part, range)) = part(benchmarks.len(), EACH, page) else { return Ok(None) };
    let (branch, fingerprint) = chosen
        .map(|(suite, _)| (suite.branch.clone(), suite.fingerprint.clone()))
        .unwrap_or_default();
    let mut suites: Vec<WebSuiteDocument> =
        all.into_iter().take(SUITES).map(|(suite, _)| suite).collect();
    for suite in &mut suites {
        suite.machine = found.machine(&suite.fingerprint);
    }
    Ok(Some(WebSuitesDocument {
        schema: WEB_SUITES_SCHEMA.to_owned(),
        branch,
        fingerprint,
        suites,
        part,
        benchmarks: benchmarks.drain(range).collect(),
    }))
}
