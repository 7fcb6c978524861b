//! Strip plots: one dot for each run of each configuration.

use becalm_model::Unit;
use becalm_model::ablate::{AblateDocument, Stage, Timing};
use becalm_stats::{Sample, center, spread};

use super::of_stage;
use crate::strip::{Marks, Median, Strip, strips};
use crate::style::Style;

/// What the dots of one configuration are.
pub(super) struct Dots<'a> {
    pub(super) label: &'a str,
    /// CV of each run in percent, or seconds of each run.
    pub(super) values: Vec<f64>,
    pub(super) median: f64,
}

/// Returns the unit of the dots, and what they are.
pub(super) fn axis(document: &AblateDocument) -> (Unit, &'static str) {
    if document.spread_of == Timing::Iterations {
        (Unit::Named("%".to_owned()), "CV of each run")
    } else {
        (Unit::Second, "time of each run")
    }
}

/// Returns the dots of a stage.
pub(super) fn dots(document: &AblateDocument, stage: Stage) -> Vec<Dots<'_>> {
    let is_iterated = document.spread_of == Timing::Iterations;
    of_stage(document, stage)
        .into_iter()
        .filter_map(|configuration| {
            let place =
                document.configurations.iter().position(|one| std::ptr::eq(one, configuration))?;
            let runs = document.runs.iter().filter(|run| run.configuration == place);
            let values: Vec<f64> = runs
                .filter_map(|run| {
                    if is_iterated {
                        let sample = Sample::new(run.values.clone()).ok()?;
                        spread::coefficient_of_variation(&sample).map(|cv| cv * 100.0)
                    } else {
                        run.values.first().copied()
                    }
                })
                .collect();
            let median = center::median(&Sample::new(values.clone()).ok()?);
            Some(Dots { label: &configuration.label, values, median })
        })
        .collect()
}

/// Draws a stage as text.
pub(super) fn text(document: &AblateDocument, stage: Stage, style: &Style) -> String {
    let dots = dots(document, stage);
    let rows: Vec<Strip<'_>> = dots
        .iter()
        .map(|one| Strip {
            label: one.label,
            values: &one.values,
            median: Some(Median { value: one.median, interval: None }),
            beside: &[],
        })
        .collect();
    let (unit, what) = axis(document);
    let drawn = strips(&rows, &unit, None, Marks::All, style);
    if drawn.is_empty() { drawn } else { format!("  {what}\n{drawn}") }
}
