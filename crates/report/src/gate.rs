//! The output of `becalm gate`.

use becalm_model::Unit;
use becalm_model::history::full_name;
use becalm_model::wire::{GateDocument, GateResultDocument};

use crate::page::Page;
use crate::quantity::{Scale, count, percent, signed_percent};
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};

/// Shows what was judged, the worst first, what the gate says, and what to do next.
pub fn gate_text(document: &GateDocument, style: &Style) -> String {
    let mut page = Page::new(style);
    if !document.results.is_empty() {
        page.table(&table(&document.results, style));
    }
    let number =
        |verdict: &str| document.results.iter().filter(|result| result.verdict == verdict).count();
    let (failed, open) = (number("fail"), number("inconclusive"));
    let of = count(document.results.len(), "result");
    let (role, sentence) = match document.verdict.as_str() {
        "fail" => (Role::Slower, format!("The gate says no: {failed} of {of} beyond the rules.")),
        "inconclusive" => (
            Role::Inconclusive,
            format!("The gate cannot tell: {open} of {of} not decided, none beyond the rules."),
        ),
        _ if document.results.is_empty() => {
            (Role::Equivalent, "The gate says yes: nothing is beyond the rules.".to_owned())
        }
        _ => (Role::Equivalent, format!("The gate says yes: {of} within the rules.")),
    };
    page.say_as(role, &sentence);
    for note in &document.notes {
        page.say(note);
    }
    if let Some(next) = &document.next {
        page.say(next);
    }
    page.finish()
}

fn table(results: &[GateResultDocument], style: &Style) -> Table {
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
        let unit = Unit::from_name(&result.unit);
        let scale = Scale::of(&unit, values.into_iter().flatten(), style.unicode);
        let [value, reference] =
            values.map(|value| value.map_or("-".to_owned(), |value| scale.with_unit(value)));
        let role = match result.verdict.as_str() {
            "fail" => Role::Slower,
            "inconclusive" => Role::Inconclusive,
            _ => Role::Equivalent,
        };
        let change = |ratio: f64| signed_percent(ratio - 1.0, 1);
        let interval = match (result.ratio_low, result.ratio_high) {
            (Some(low), Some(high)) => format!("[{}, {}]", change(low), change(high)),
            (Some(low), None) => format!("{} or more", change(low)),
            _ => "-".to_owned(),
        };
        let reason = match &result.change {
            Some(id) => format!("{} ({id})", result.reason),
            None => result.reason.clone(),
        };
        table.push([
            full_name(&result.benchmark, &result.parameters).into(),
            result.metric.as_str().into(),
            Cell::of(role, result.verdict.as_str()),
            result.by.as_str().into(),
            value.into(),
            reference.into(),
            result.ratio.map_or_else(|| "-".to_owned(), change).into(),
            interval.into(),
            result.margin.map_or_else(|| "-".to_owned(), percent).into(),
            reason.into(),
        ]);
    }
    table
}
