//! The tables of one stage.

use becalm_model::Unit;
use becalm_model::ablate::{AblateConfiguration, AblateRatio};

use super::said::interval;
use super::{is_control, role};
use crate::quantity::{Scale, TIMES_FROM, percent, signed_percent, times};
use crate::style::Role;
use crate::table::{Align, Cell, Table};

/// How an unknown value looks.
const NONE: &str = "-";

/// Returns mean, standard deviation, CV, extremes and spread between runs of each configuration.
pub(super) fn spread(configurations: &[&AblateConfiguration], unicode: bool) -> Table {
    let largest = configurations.iter().map(|one| one.mean).fold(0.0, f64::max);
    let scale = Scale::of(&Unit::Second, [largest], unicode);
    let mean = format!("mean ({})", scale.unit());
    let titles =
        ["runs", &mean, "std dev", "CV", "min", "max", "range", "CV of min", "CV of means"];
    let mut table = Table::of_numbers("configuration", titles);
    for one in configurations {
        table.push([
            Cell::from(one.label.as_str()),
            one.n_runs.to_string().into(),
            scale.number(one.mean).into(),
            number(&scale, one.standard_deviation).into(),
            share(one.cv).into(),
            scale.number(one.minimum).into(),
            scale.number(one.maximum).into(),
            scale.number(one.range).into(),
            share(one.cv_of_minimums).into(),
            share(one.cv_of_means).into(),
        ]);
    }
    table
}

/// Returns what each configuration does to the spread, and what it costs.
pub(super) fn effects(configurations: &[&AblateConfiguration]) -> Table {
    let mut table = Table::new([
        ("configuration", Align::Left),
        ("spread", Align::Right),
        ("interval", Align::Right),
        ("p", Align::Right),
        ("verdict", Align::Left),
        ("mean time", Align::Right),
        ("interval", Align::Right),
    ]);
    for one in
        configurations.iter().filter(|one| one.spread_ratio.is_some() || one.time_ratio.is_some())
    {
        let ratio = one.spread_ratio.as_ref();
        // Whatever it is, it is chance.
        let p = ratio.filter(|_| !is_control(one)).map(|ratio| probability(ratio.p));
        let verdict = one.verdict.map_or(Cell::of(Role::Inconclusive, NONE), |verdict| {
            Cell::of(role(verdict), verdict.name())
        });
        let time = one.time_ratio.as_ref();
        table.push([
            Cell::from(one.label.as_str()),
            ratio.map_or(NONE.to_owned(), |ratio| format!("x {}", times(ratio.ratio))).into(),
            ratio.map_or(NONE.to_owned(), interval).into(),
            p.unwrap_or_else(|| NONE.to_owned()).into(),
            verdict,
            time.map_or(NONE.to_owned(), change).into(),
            time.map_or(NONE.to_owned(), change_interval).into(),
        ]);
    }
    table
}

/// Returns the counters of the runs with their spread; `None` where there are none.
pub(super) fn counters(configurations: &[&AblateConfiguration], unicode: bool) -> Option<Table> {
    let mut names: Vec<&str> = Vec::new();
    for counter in configurations.iter().flat_map(|one| &one.counters) {
        if !names.contains(&counter.name.as_str()) {
            names.push(&counter.name);
        }
    }
    if names.is_empty() {
        return None;
    }
    let titles = names.iter().map(|name| name.replace('_', "-"));
    let mut table = Table::of_numbers("configuration", titles);
    for one in configurations {
        let mut cells = vec![Cell::from(one.label.as_str())];
        cells.extend(names.iter().map(|name| {
            let counter = one.counters.iter().find(|counter| counter.name == *name);
            let text = counter.map_or(NONE.to_owned(), |counter| {
                let unit = if counter.name == "task_clock" { Unit::Second } else { Unit::Count };
                let mean = counted(&unit, counter.mean, unicode);
                let sign = if unicode { "\u{b1}" } else { "+-" };
                counter.cv.map_or(mean.clone(), |cv| format!("{mean} {sign} {}", percent(cv)))
            });
            Cell::from(text)
        }));
        table.push(cells);
    }
    Some(table)
}

fn counted(unit: &Unit, mean: f64, unicode: bool) -> String {
    match unit {
        // A mean of counts is no count: a decimal tells whether it is nearly always the same.
        Unit::Count if mean >= 1000.0 => format!("{mean:.0}"),
        Unit::Count => format!("{mean:.1}"),
        unit => Scale::of(unit, [mean], unicode).with_unit(mean),
    }
}

fn number(scale: &Scale, value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| scale.number(value))
}

fn share(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), percent)
}

/// Writes a change of time, as a factor if the interval is too wide for percent.
fn change(ratio: &AblateRatio) -> String {
    if is_wide(ratio) {
        format!("x {}", times(ratio.ratio))
    } else {
        signed_percent(ratio.ratio - 1.0, 1)
    }
}

fn change_interval(ratio: &AblateRatio) -> String {
    if is_wide(ratio) {
        return interval(ratio);
    }
    let percent = |value: f64| signed_percent(value - 1.0, 1);
    format!("{}\u{a0}..\u{a0}{}", percent(ratio.low), percent(ratio.high))
}

fn is_wide(ratio: &AblateRatio) -> bool {
    ratio.low < 1.0 / TIMES_FROM || ratio.high > TIMES_FROM
}

/// Writes a probability; far below a thousandth nobody needs the digits.
fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}
