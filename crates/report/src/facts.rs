//! The facts about a machine, and what could not be read.

use becalm_model::{MachineFacts, counted};

use crate::page::Page;
use crate::style::Style;
use crate::table::{Align, Table};
use crate::width::columns;

/// Names the machine in a line: its processor, its size, its kernel, and whether it is a virtual one.
pub fn machine_line(machine: &MachineFacts) -> String {
    let fact = |name: &str| machine.facts.get(name).map(String::as_str);
    let cores =
        fact("cores").and_then(|cores| cores.parse().ok()).map(|cores| counted(cores, "core"));
    let kernel = fact("kernel_release").map(|release| format!("Linux {release}"));
    let virtualisation = fact("virtualisation").filter(|what| *what != "none");
    let parts = [
        fact("cpu_model").map(str::to_owned),
        cores,
        kernel,
        virtualisation.map(|what| format!("virtual machine ({what})")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("This machine: {}.", parts.join(", "))
}

/// A key wider than this does not push all values to the right.
const WIDEST_KEY: usize = 28;

/// Lists the facts by key, then what could not be read and why.
pub fn facts_text(machine: &MachineFacts, style: &Style) -> String {
    let mut page = Page::new(style);
    write_facts(&mut page, machine);
    page.finish()
}

pub(crate) fn write_facts(page: &mut Page, machine: &MachineFacts) {
    pairs(page, machine.facts.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    if !machine.unreadable.is_empty() {
        page.gap();
        page.say("Could not be read:");
        // A missing driver hides many facts at once; that is one reason.
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for (key, reason) in &machine.unreadable {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, keys)) => keys.push(key),
                None => reasons.push((reason, vec![key])),
            }
        }
        for (reason, keys) in reasons {
            page.item(&format!("{}: {reason}", keys.join(", ")));
        }
    }
}

/// Writes keys and values, the values wrapped beside their keys.
pub(crate) fn pairs<'a>(page: &mut Page, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
    let pairs: Vec<(&str, &str)> = pairs.collect();
    let widest = pairs.iter().map(|(key, _)| columns(key)).max().unwrap_or(0);
    let width = widest.min(WIDEST_KEY).min(page.style.width / 2);
    for (key, value) in pairs {
        let value = if value.trim().is_empty() { "-" } else { value };
        page.labelled(key, width, value);
    }
}

/// Returns the facts as a table, for HTML.
pub(crate) fn table(machine: &MachineFacts) -> Table {
    let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
    for (key, value) in &machine.facts {
        table.push([key.as_str().into(), value.as_str().into()]);
    }
    for (key, reason) in &machine.unreadable {
        table.push([key.as_str().into(), format!("could not be read: {reason}").into()]);
    }
    table
}
