//! The names that complete. Each list is read anew, and is empty where it cannot be read.

use std::collections::BTreeSet;

use becalm_formats::FORMATS;
use becalm_machine::knobs::KNOBS;
use becalm_model::Metric;
use becalm_model::history::SeriesKey;
use becalm_runner::harness::HARNESSES;
use becalm_series::{Access, HistoryLocation, SeriesFilter, open};
use becalm_session::Repository;
use becalm_session::service::installed_profiles;
use becalm_session::suite::SuiteFile;

use crate::commands::history::{Settings, StoreFlags};

/// Branches and tags of the repository.
pub(super) fn revisions() -> Vec<String> {
    let repository = Repository::find().ok().flatten();
    let named = repository.and_then(|repository| repository.named().ok()).unwrap_or_default();
    ["HEAD".to_owned()].into_iter().chain(named).collect()
}

/// Profiles of `tune`.
pub(super) fn profiles() -> Vec<String> {
    ["safe", "strict"].map(str::to_owned).into_iter().chain(installed_profiles()).collect()
}

/// Knobs of `tune`.
pub(super) fn knobs() -> Vec<String> {
    KNOBS.iter().map(|knob| knob.name.to_owned()).collect()
}

/// Metrics that every run has, and those of the history.
pub(super) fn metrics() -> Vec<String> {
    let always = Metric::always().into_iter().map(|metric| metric.name);
    always.chain(of_the_history(|key| key.metric)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Benchmarks of the history.
pub(super) fn benchmarks() -> Vec<String> {
    of_the_history(|key| key.benchmark)
}

/// Branches of the history.
pub(super) fn branches() -> Vec<String> {
    of_the_history(|key| key.branch)
}

/// Benchmarks of the suite.
pub(super) fn of_the_suite() -> Vec<String> {
    suite().map(|file| file.names().into_iter().map(str::to_owned).collect()).unwrap_or_default()
}

/// Tags of the suite.
pub(super) fn tags() -> Vec<String> {
    let Some(file) = suite() else { return Vec::new() };
    let tags = file.document.benchmark.into_values().filter_map(|benchmark| benchmark.tags);
    tags.flatten().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Harnesses whose output becalm reads.
pub(super) fn harnesses() -> Vec<String> {
    let known = HARNESSES.iter().map(|harness| harness.name);
    ["auto"].into_iter().chain(known).map(str::to_owned).collect()
}

/// Formats that becalm reads.
pub(super) fn formats() -> Vec<String> {
    FORMATS.iter().map(|entry| entry.name.to_owned()).collect()
}

fn suite() -> Option<SuiteFile> {
    SuiteFile::read_if_there().ok().flatten()
}

/// Looks into a history that is a file: a database somewhere else may let the user wait.
fn of_the_history(name: impl Fn(SeriesKey) -> String) -> Vec<String> {
    let place = Settings::read().ok().and_then(|it| StoreFlags::of_environment().place(&it).ok());
    let Some(place @ HistoryLocation::File(_)) = place else { return Vec::new() };
    let series = open(&place, Access::Read).and_then(|mut it| it.series(&SeriesFilter::default()));
    let names = series.unwrap_or_default().into_iter().map(|series| name(series.key));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}
