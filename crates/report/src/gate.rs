//! The output of `becalm gate`.

use becalm_model::gate::{GateBy, GateOutcome, GateReport, GateResult};

use crate::notes::{self, advice};
use crate::page::Page;
use crate::quantity::{NBSP, Scale, count, percent, signed_percent};
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};

/// Shows what was judged, the worst first, the decision of the gate, and what to do next. Its table may be `table_width` wide.
pub fn gate_text(report: &GateReport, style: &Style, table_width: usize) -> String {
    let mut page = Page::with_tables(style, table_width);
    if !report.results.is_empty() {
        page.table(&table(&report.results, style));
    }
    let outcome = report.outcome();
    let such = report.results.iter().filter(|result| result.outcome == outcome).count();
    let of = count(report.results.len(), "result");
    let sentence = match outcome {
        GateOutcome::Fail => format!("The gate fails: {such} of {of} beyond the rules."),
        GateOutcome::Inconclusive if report.results.is_empty() => {
            "The gate is undecided: there was nothing to judge.".to_owned()
        }
        GateOutcome::Inconclusive => {
            format!("The gate is undecided: {such} of {of} undecided, none beyond the rules.")
        }
        GateOutcome::Pass if report.results.is_empty() => {
            "The gate passes: nothing is beyond the rules.".to_owned()
        }
        GateOutcome::Pass => format!("The gate passes: {of} within the rules."),
    };
    page.say_as(role(outcome), &sentence);
    for note in &report.notes {
        page.say(&format!("{}.", notes::sentence(note).trim_end_matches('.')));
    }
    if let Some(next) = report.next() {
        page.say(&advice(&next));
    }
    page.finish()
}

fn role(outcome: GateOutcome) -> Role {
    match outcome {
        GateOutcome::Pass => Role::Equivalent,
        GateOutcome::Inconclusive => Role::Inconclusive,
        GateOutcome::Fail => Role::Slower,
    }
}

fn table(results: &[GateResult], style: &Style) -> Table {
    let mut table = Table::new([
        ("benchmark", Align::Left),
        ("metric", Align::Left),
        ("", Align::Left),
        ("by", Align::Left),
        ("value", Align::Right),
        ("against", Align::Right),
        ("change", Align::Right),
        ("interval", Align::Left),
        ("margin", Align::Right),
        ("why", Align::Left),
    ]);
    for result in results {
        let values = [result.value, result.reference];
        let scale = Scale::of(&result.of.unit, values.into_iter().flatten(), style.unicode);
        let [value, reference] =
            values.map(|value| value.map_or("-".to_owned(), |value| scale.with_unit(value)));
        let change = |ratio: f64| signed_percent(ratio - 1.0, 1);
        let interval = match result.ratio {
            Some(ratio) if ratio.high.is_finite() => {
                format!("{}{NBSP}..{NBSP}{}", change(ratio.low), change(ratio.high))
            }
            Some(ratio) => format!("{} or more", change(ratio.low)),
            None => "-".to_owned(),
        };
        let reason = notes::reason(&result.reason);
        let reason = match result.by {
            GateBy::Change(id) => format!("{reason} ({id})"),
            _ => reason,
        };
        table.push([
            result.of.full_name().into(),
            result.of.metric.as_str().into(),
            Cell::of(role(result.outcome), result.outcome.word()),
            result.by.word().into(),
            value.into(),
            reference.into(),
            result.times().map_or_else(|| "-".to_owned(), change).into(),
            interval.into(),
            result.margin.map_or_else(|| "-".to_owned(), percent).into(),
            reason.into(),
        ]);
    }
    table
}
