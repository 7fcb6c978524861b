//! What a record says first, above tables and pictures.

use becalm_model::{Record, RecordKind};

use crate::comparison::headlines;
use crate::estimate;
use crate::labels::Labels;
use crate::quantity::{Scale, count};
use crate::shown;
use crate::style::Role;

/// Returns the verdicts of a comparison, or the medians where nothing was compared.
pub(crate) fn lines(record: &Record, labels: &Labels) -> Vec<(Role, String)> {
    if record.kind == RecordKind::Comparison {
        return headlines(record, labels);
    }
    if shown::is_suite(record) {
        let benchmarks = count(record.subjects.len(), "benchmark");
        return vec![(Role::Heading, format!("Suite of {benchmarks}"))];
    }
    let Some(metric) = shown::headline_metric(record) else { return Vec::new() };
    let description = shown::metric_at(record, metric);
    (0..record.subjects.len())
        .filter_map(|subject| {
            let sample = shown::sample(record, subject, metric)?;
            let summary = shown::summary(record, &sample);
            let scale = Scale::of_summaries(&description.unit, [&summary], true);
            let said = estimate::said(record, subject, &description, &summary, &scale);
            let name = &description.name;
            Some((Role::Heading, format!("{}: {name} {said}", labels.get(subject))))
        })
        .collect()
}
