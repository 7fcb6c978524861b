//! github-action-benchmark: custom results, `[{name, unit, value, range, extra}]`.
//!
//! A file has one direction, and says it only by the name of the tool that it is given to
//! (`customSmallerIsBetter`, `customBiggerIsBetter`). The value is the median over the processes. Units are
//! always those in which becalm keeps values, seconds and bytes: the action compares the numbers of two
//! commits without looking at their units, so a unit that fits the value would raise false alarms.

use becalm_model::{Direction, Record};
use serde::Serialize;

use crate::writers::names::{Unique, list, one_line};
use crate::writers::selection::{Selection, Usual};
use crate::writers::{ExportError, Exported, Options, Writer, figures, json, numbers};

pub(crate) const EITHER: Writer = Writer {
    name: "github-action-benchmark",
    about: "github-action-benchmark's custom JSON, if all metrics have the same direction",
    ending: "json",
    write: |record, options| write(record, options, EITHER.name, None),
};

pub(crate) const SMALLER: Writer = Writer {
    name: "customSmallerIsBetter",
    about: "the same, only metrics for which less is better",
    ending: "json",
    write: |record, options| write(record, options, SMALLER.name, Some(Direction::Lower)),
};

pub(crate) const BIGGER: Writer = Writer {
    name: "customBiggerIsBetter",
    about: "the same, only metrics for which more is better",
    ending: "json",
    write: |record, options| write(record, options, BIGGER.name, Some(Direction::Higher)),
};

#[derive(Serialize)]
struct Bench {
    name: String,
    unit: String,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

fn write(
    record: &Record,
    options: &Options,
    format: &'static str,
    wanted: Option<Direction>,
) -> Result<Exported, ExportError> {
    let mut selection =
        Selection::new(record, options, format, Usual::Results, |metric| match wanted {
            Some(Direction::Lower) if metric.direction == Direction::Higher => {
                Err("more is better for it, which needs customBiggerIsBetter")
            }
            Some(Direction::Higher) if metric.direction == Direction::Lower => {
                Err("less is better for it, which needs customSmallerIsBetter")
            }
            _ => Ok(()),
        })?;
    let names_of = |direction: Direction| {
        let chosen = selection.metrics.iter().map(|&at| &record.metrics[at]);
        chosen.filter(move |one| one.direction == direction).map(|one| one.name.as_str())
    };
    if names_of(Direction::Lower).next().is_some() && names_of(Direction::Higher).next().is_some() {
        let (lower, higher) = (list(names_of(Direction::Lower)), list(names_of(Direction::Higher)));
        return Err(ExportError::Directions { format, lower, higher });
    }
    let (mut names, mut benches) = (Unique::default(), Vec::new());
    for &subject in &selection.subjects {
        for at in selection.metrics_of(subject) {
            let values = selection.values(subject, at);
            let Some(value) = figures::median(&values).filter(|value| value.is_finite()) else {
                continue;
            };
            let range = options.estimate(subject, at).and_then(|estimate| {
                // The farther end: the format has one number for both.
                let reach = (value - estimate.low).max(estimate.high - value);
                reach.is_finite().then(|| format!("± {}", numbers::text(reach)))
            });
            let one = &record.metrics[at];
            let name = one_line(&selection.name(subject, at));
            benches.push(Bench {
                name: names.unique_or(&name, "unnamed"),
                unit: one_line(&one.unit.to_string()),
                value,
                range,
                extra: format!("median of {}", becalm_model::counted(values.len(), "run")),
            });
        }
    }
    if benches.is_empty() {
        return Err(ExportError::nothing(format, "no measured run has a value"));
    }
    let is_higher = names_of(Direction::Higher).next().is_some();
    let tool = if is_higher { BIGGER.name } else { SMALLER.name };
    selection.note(format!(
        "the file cannot say which direction is better: set `tool: {tool}` in the action"
    ));
    Ok(Exported { bytes: json::write(&benches), notes: selection.notes })
}
