//! Experiments about the noise of a machine.

mod ablate;
mod figures;
mod probe;
mod reproduce;
mod reproduced;
mod side_by_side;
mod trace;

pub use ablate::{ablate_html, ablate_list_text, ablate_text};
pub use probe::{probe_html, probe_markdown, probe_text};
pub use reproduce::{reproduce_html, reproduce_markdown, reproduce_text};
pub use trace::{
    TraceCostTold, trace_html, trace_markdown, trace_report_markdown, trace_text, trace_texts,
    watch_html, watch_markdown, watch_text,
};
