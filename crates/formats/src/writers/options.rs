//! What of a record is exported.

use becalm_model::{Note, Record};

use crate::writers::ExportError;
use crate::writers::names::list;

/// What of a record is exported, and what the caller knows about its values.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Indices into [`Record::metrics`]; `None` leaves it to the format.
    pub(crate) metrics: Option<Vec<usize>>,
    /// Indices into [`Record::subjects`]; `None` is all.
    pub(crate) subjects: Option<Vec<usize>>,
    /// Intervals for formats that have a place for them.
    pub(crate) estimates: Vec<Estimate>,
    /// Who makes the sentences of notes, for formats that have a place for them.
    sentence: Option<fn(&Note) -> String>,
}

/// The median of one metric of one subject with its interval. Writers compute medians by themselves;
/// an interval takes statistics that this crate does not have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Index into [`Record::subjects`].
    pub subject: usize,
    /// Index into [`Record::metrics`].
    pub metric: usize,
    /// Lower end of the interval of the median, in the unit of the metric.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The name that chooses every metric.
const ALL: &str = "all";

impl Options {
    /// Chooses metrics and subjects of `record` by their names. Without a name the format chooses metrics,
    /// and all subjects are exported; the metric `all` is every metric.
    pub fn choose(
        record: &Record,
        metrics: &[String],
        subjects: &[String],
    ) -> Result<Self, ExportError> {
        let metric_names: Vec<&str> = record.metrics.iter().map(|one| one.name.as_str()).collect();
        let subject_names: Vec<&str> =
            record.subjects.iter().map(|one| one.name.as_str()).collect();
        let metrics = if metrics.iter().any(|name| name == ALL) && !metric_names.contains(&ALL) {
            Some((0..metric_names.len()).collect())
        } else {
            indices("metric", metrics, &metric_names)?
        };
        let subjects = indices("subject", subjects, &subject_names)?;
        Ok(Self { metrics, subjects, ..Self::default() })
    }

    /// Adds intervals.
    #[must_use]
    pub fn with_estimates(mut self, estimates: Vec<Estimate>) -> Self {
        self.estimates = estimates;
        self
    }

    /// Says who makes the sentences of notes, of which this crate has none.
    #[must_use]
    pub fn with_sentences(mut self, sentence: fn(&Note) -> String) -> Self {
        self.sentence = Some(sentence);
        self
    }

    pub(crate) fn sentence(&self, note: &Note) -> Option<String> {
        self.sentence.map(|sentence| sentence(note))
    }

    pub(crate) fn estimate(&self, subject: usize, metric: usize) -> Option<&Estimate> {
        self.estimates.iter().find(|one| (one.subject, one.metric) == (subject, metric))
    }
}

/// Returns the places of names, in the order of the record and each once.
fn indices(
    kind: &'static str,
    wanted: &[String],
    there: &[&str],
) -> Result<Option<Vec<usize>>, ExportError> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut indices = Vec::new();
    for name in wanted {
        let at = there.iter().position(|one| one == name).ok_or_else(|| ExportError::Unknown {
            kind,
            name: name.clone(),
            there: list(there.iter().copied()),
        })?;
        indices.push(at);
    }
    indices.sort_unstable();
    indices.dedup();
    Ok(Some(indices))
}
