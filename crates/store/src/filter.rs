//! Which entries and series are asked for.

use becalm_model::fits;
use becalm_model::history::{EntryId, Series, SeriesId};

/// Which entries. Everything that is `None` or empty lets all through.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryFilter {
    /// These alone.
    pub ids: Vec<EntryId>,
    /// Of this branch.
    pub branch: Option<String>,
    /// Of this machine, as far as it splits series; see [`crate::fingerprint`].
    pub fingerprint: Option<String>,
    /// Whose commit's id begins so.
    pub commit: Option<String>,
    /// With this tag.
    pub tag: Option<String>,
    /// Not before this place in time, in seconds since the Unix epoch.
    pub since: Option<f64>,
    /// Of this measurement; see [`crate::content`].
    pub content: Option<String>,
    /// Without the last so many of what the others let through.
    pub skip: usize,
    /// Only the last so many.
    pub limit: Option<usize>,
}

/// Which series. Everything that is `None` or empty lets all through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeriesFilter {
    /// These alone.
    pub ids: Vec<SeriesId>,
    /// Of a benchmark whose name fits; `*` stands for any text.
    pub benchmark: Option<String>,
    /// Of a metric whose name fits; `*` stands for any text.
    pub metric: Option<String>,
    /// Of this branch.
    pub branch: Option<String>,
    /// Only what benchmarks are about.
    pub main: bool,
}

impl SeriesFilter {
    /// Says whether a series is asked for.
    pub fn takes(&self, series: &Series) -> bool {
        let fits = |pattern: &Option<String>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| fits(pattern, text))
        };
        (self.ids.is_empty() || self.ids.contains(&series.id))
            && fits(&self.benchmark, &series.key.benchmark)
            && fits(&self.metric, &series.key.metric)
            && self.branch.as_ref().is_none_or(|branch| *branch == series.key.branch)
            && (!self.main || series.main)
    }
}
