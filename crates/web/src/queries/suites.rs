//! Where the time of suites goes: what each benchmark took in the entries of the last commit of a branch on a
//! machine.

use std::collections::BTreeMap;

use becalm_model::Unit;
use becalm_model::history::SeriesId;
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

/// Entries whose values are shown of each benchmark.
const TREND: usize = 30;

/// What a benchmark took at the last commit.
struct Timed {
    /// Where the series is among all.
    place: usize,
    value: f64,
    runs: u32,
}

impl Timed {
    fn seconds(&self) -> f64 {
        self.value * f64::from(self.runs)
    }
}

/// Returns a page of the benchmarks of a branch on a machine, those first that take longest: of those that measured last,
/// as far as none is named. `None` if there is no such page.
pub(crate) fn suites(
    history: &History,
    store: &mut Store,
    wanted: [Option<&str>; 2],
    page: usize,
) -> Result<Option<WebSuitesDocument>, StoreError> {
    let found = Findings::of(history, store)?;
    let [of_branch, of_machine] = wanted;
    let is_wanted = |branch: &str, machine: &str| {
        of_branch.is_none_or(|wanted| wanted == branch)
            && of_machine.is_none_or(|wanted| wanted == machine)
    };
    let is_one = of_branch.is_some() && of_machine.is_some();
    let of_group = found.groups.iter().zip(&found.outlines).enumerate();
    let mut all: Vec<(WebSuiteDocument, usize)> = of_group
        .filter(|(_, (group, outline))| {
            // One that is named is shown, also if it has no times.
            let is_named = is_one && is_wanted(&group.branch, &group.fingerprint);
            outline.timed > 0 || (is_named && outline.last_entry.is_some())
        })
        .map(|(place, (group, outline))| {
            let suite = WebSuiteDocument {
                branch: group.branch.clone(),
                fingerprint: group.fingerprint.clone(),
                machine: BTreeMap::new(),
                entry: outline.last_entry.map_or(0, |entry| entry.0),
                time: outline.last,
                benchmarks: outline.timed,
                seconds: outline.seconds,
            };
            (suite, place)
        })
        .collect();
    all.sort_by(|(a, _), (b, _)| b.time.total_cmp(&a.time).then(b.seconds.total_cmp(&a.seconds)));
    let chosen = all.iter().find(|(suite, _)| is_wanted(&suite.branch, &suite.fingerprint));
    if chosen.is_none() && wanted.iter().any(Option::is_some) {
        return Ok(None);
    }
    let mut timed: Vec<Timed> = Vec::new();
    if let Some((_, group)) = chosen {
        found.visit(history, store, *group, &mut |place, line| {
            let Some(at) = line.of_last_commit() else { return };
            if found.series[place].key.unit == Unit::Second {
                let (value, runs) = (line.values[at], line.runs[at]);
                timed.push(Timed { place, value, runs });
            }
        })?;
    }
    timed.sort_by(|a, b| {
        let ids = [a, b].map(|one| found.series[one.place].id);
        b.seconds().total_cmp(&a.seconds()).then(ids[0].cmp(&ids[1]))
    });
    let Some((part, range)) = part(timed.len(), EACH, page) else { return Ok(None) };
    let shown = &timed[range];
    let mut benchmarks: Vec<WebSuiteBenchmarkDocument> = Vec::new();
    if let Some((suite, _)) = chosen {
        let ids: Vec<SeriesId> = shown.iter().map(|one| found.series[one.place].id).collect();
        let points = found.points(history, store, &ids, Some(TREND))?;
        benchmarks.extend(shown.iter().zip(points).map(|(one, points)| {
            let series = &found.series[one.place];
            WebSuiteBenchmarkDocument {
                series: series.id.0,
                benchmark: series.key.benchmark.clone(),
                parameters: series.key.parameters.iter().cloned().collect(),
                metric: series.key.metric.clone(),
                value: one.value,
                runs: one.runs,
                seconds: one.seconds(),
                share: if suite.seconds > 0.0 { one.seconds() / suite.seconds } else { 0.0 },
                trend: points.iter().map(|point| point.value * f64::from(point.runs)).collect(),
            }
        }));
    }
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
        benchmarks,
    }))
}
