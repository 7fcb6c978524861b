//! What each configuration does to the spread, as bars with their intervals.

use becalm_model::ablate::{AblateConfiguration, AblateRatio};

use super::said;
use crate::bars::{Bar, Bars, Mark};
use crate::quantity::times;

/// Does something with the picture; nothing if no configuration has a ratio.
pub(super) fn with_effects<T>(
    configurations: &[&AblateConfiguration],
    reference: &str,
    draw: impl FnOnce(&Bars<'_>) -> T,
) -> Option<T> {
    let drawn: Vec<(&AblateConfiguration, &AblateRatio)> =
        configurations.iter().filter_map(|one| Some((*one, one.spread_ratio.as_ref()?))).collect();
    let said = |(one, ratio): &(&AblateConfiguration, &AblateRatio)| {
        let verdict = one.verdict.map_or(String::new(), |verdict| format!("{}, ", verdict.name()));
        format!("{verdict}x {} ({})", times(ratio.ratio), said::interval(ratio))
    };
    let rows: Vec<Bar<'_>> = drawn
        .iter()
        .map(|both| Bar {
            label: &both.0.label,
            note: said(both),
            marks: vec![Mark {
                style: 0,
                value: both.1.ratio,
                interval: Some((both.1.low, both.1.high)),
                tip: said(both),
            }],
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let words: Vec<String> =
        drawn.iter().map(|both| format!("{}: {}.", both.0.label, said(both))).collect();
    let picture = Bars {
        title: "Spread with each configuration",
        in_words: &format!("Spread over that of {reference}. {}", words.join(" ")),
        axis: "spread, as a multiple",
        from: Some(1.0),
        at_least: Some((0.5, 2.0)),
        number: &|value| format!("x {}", plain(value)),
        legend: &[],
        rows: &rows,
    };
    Some(draw(&picture))
}

/// Writes a round number of an axis.
fn plain(value: f64) -> String {
    if value >= 1.0 { format!("{value:.0}") } else { format!("{value}") }
}
