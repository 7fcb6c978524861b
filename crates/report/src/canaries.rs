//! The canaries of machines: a program of known work, measured before each block, and its level on each of them.

use becalm_model::Unit;
use becalm_model::wire::{CanariesDocument, CanarySeries};

use crate::moment::date;
use crate::quantity::Scale;
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};

/// Writes the canaries of each machine.
pub fn canaries_text(document: &CanariesDocument, style: &Style) -> String {
    let mut table = Table::new([
        ("machine", Align::Left),
        ("canaries", Align::Right),
        ("level", Align::Right),
        ("last", Align::Right),
        ("on", Align::Left),
        ("", Align::Left),
        ("program", Align::Left),
    ]);
    for series in &document.canaries {
        table.push(canary_row(series, style));
    }
    table.text(style)
}

/// Writes a command without the folder of its program.
fn program(command: &[String]) -> String {
    let name = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let words = command.iter().take(1).map(name).chain(command.iter().skip(1).cloned());
    words.collect::<Vec<_>>().join(" ")
}

fn canary_row(series: &CanarySeries, style: &Style) -> [Cell; 7] {
    let level: Vec<f64> =
        series.points.iter().filter(|point| !point.off).map(|point| point.value).collect();
    let mean = level.iter().sum::<f64>() / level.len().max(1) as f64;
    let last = series.points.last();
    let written = |value: f64| {
        if series.metric == becalm_model::metric::WALL_TIME {
            Scale::of(&Unit::Second, [value], style.unicode).with_unit(value)
        } else {
            format!("{value}")
        }
    };
    let is_off = last.is_some_and(|point| point.off);
    [
        series.machine.as_str().into(),
        series.points.len().to_string().into(),
        if level.is_empty() { String::new() } else { written(mean) }.into(),
        last.map_or(String::new(), |point| written(point.value)).into(),
        last.map_or(String::new(), |point| date(point.at)).into(),
        if is_off { Cell::of(Role::Slower, "off") } else { "".into() },
        program(&series.command).into(),
    ]
}
