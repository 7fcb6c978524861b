//! Who took the time from traced runs, as text.

use std::borrow::Cow;

use becalm_lab::trace::explain;
use becalm_model::{Note, Record};
use becalm_report::{TraceCostTold, trace_markdown, trace_text, trace_texts};

use crate::ui::Ui;

/// Says who took the time, if that was traced.
pub(crate) fn text(record: &Record, ui: &Ui) -> String {
    let Some(trace) = &record.trace else { return String::new() };
    let explanation = explain(record, trace);
    format!("\n{}", trace_text(record, trace, &explanation, TraceCostTold::Elsewhere, ui.style()))
}

/// Returns the record with who took the time among its notes, for reports that have no section for
/// it.
pub(crate) fn with_notes(record: &Record) -> Cow<'_, Record> {
    let Some(trace) = &record.trace else { return Cow::Borrowed(record) };
    let explanation = explain(record, trace);
    let mut record = record.clone();
    let texts = trace_texts(&record, &explanation);
    record.notes.extend(texts.into_iter().map(Note::text));
    Cow::Owned(record)
}

/// Says who took the time as entries of a Markdown list, if that was traced.
pub(crate) fn markdown(record: &Record) -> String {
    let Some(trace) = &record.trace else { return String::new() };
    trace_markdown(record, &explain(record, trace))
}
