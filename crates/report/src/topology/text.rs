//! The machine as text: parts indented inside each other, equal cores in one line.

use becalm_model::counted;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use becalm_model::wire::{TopologyChoice, TopologyDocument, Worded};

use super::parts::{Part, Rank, alike_at_front, machine};
use super::{cpu_word, devices, list};
use crate::page::Page;
use crate::style::{Role, Style};
use crate::width::{columns, wrap};

/// Draws a machine, and says which CPUs a measurement would use and why.
pub fn topology_text(document: &TopologyDocument, style: &Style) -> String {
    let mut page = Page::new(style);
    page.say_as(Role::Heading, &headline(document));
    for (label, cpus) in [
        ("Switched off", &document.offline),
        ("Isolated from the scheduler", &document.isolated),
        ("Without a tick while busy", &document.nohz_full),
    ] {
        if !cpus.is_empty() {
            page.say(&format!("{label}: {} {}.", cpu_word(cpus.len()), list(cpus)));
        }
    }
    if document.allowed.len() < document.online.len() {
        page.say(&format!(
            "becalm may use only {} {}.",
            cpu_word(document.allowed.len()),
            list(&document.allowed)
        ));
    }
    if let Some(quota) = document.cpu_quota {
        page.say(&format!("A control group allows {quota:.2} CPUs' worth of time."));
    }
    page.gap();
    let mut picture = Picture::new(document, style);
    for part in &machine(document).parts {
        picture.part(part, 0);
    }
    picture.bare_nodes();
    page.drawn(&picture.out);
    if let Some(legend) = picture.legend() {
        page.say_as(Role::Hint, &legend);
    }
    let devices = devices::groups(document);
    if !devices.is_empty() {
        page.section("PCI devices");
    }
    for group in &devices {
        page.item(&group.line(document));
    }
    for choice in &document.choices {
        page.section(&choice_title(choice));
        page.indented(choice.reason.text());
        for limit in &choice.limits {
            page.item(limit.text());
        }
    }
    page.list("Unknown", document.limits.iter().map(Worded::text));
    page.finish()
}

fn headline(document: &TopologyDocument) -> String {
    let mut counts = Vec::new();
    for (number, word) in [
        (document.drawers.len(), "drawer"),
        (document.books.len(), "book"),
        (document.packages.len(), "package"),
        (document.dies.len(), "die"),
        (document.nodes.iter().filter(|node| !node.assumed).count(), "NUMA node"),
        (document.cores.len(), "core"),
        (document.cpus.len(), "CPU"),
    ] {
        if number > 0 {
            counts.push(counted(number, word));
        }
    }
    let mut text = counts.join(", ");
    if document.kinds.len() > 1 {
        let kinds = document.kinds.iter().map(|kind| {
            let cpus: BTreeSet<u32> = kind.cpus.iter().copied().collect();
            let cores = document.cores.iter();
            let number =
                cores.filter(|core| core.cpus.iter().any(|cpu| cpus.contains(cpu))).count();
            format!(
                "{number} \u{d7} {} ({} {})",
                kind.name,
                cpu_word(kind.cpus.len()),
                list(&kind.cpus)
            )
        });
        let _ = write!(text, ": {}", kinds.collect::<Vec<_>>().join(", "));
    }
    text
}

fn choice_title(choice: &TopologyChoice) -> String {
    match choice.threads {
        Some(1) => "For one thread".to_owned(),
        Some(threads) => format!("For {threads} threads"),
        None => "For as many threads as fit".to_owned(),
    }
}

/// The picture while it grows.
struct Picture<'a> {
    document: &'a TopologyDocument,
    style: &'a Style,
    allowed: BTreeSet<u32>,
    /// CPUs that a measurement of one thread would use.
    chosen: BTreeSet<u32>,
    out: String,
}

impl<'a> Picture<'a> {
    fn new(document: &'a TopologyDocument, style: &'a Style) -> Self {
        let one = document.choices.iter().find(|choice| choice.threads == Some(1));
        Self {
            document,
            style,
            allowed: document.allowed.iter().copied().collect(),
            chosen: one.map(|choice| choice.subject.iter().copied().collect()).unwrap_or_default(),
            out: String::new(),
        }
    }

    fn part(&mut self, part: &Part, depth: usize) {
        if part.core.is_some() {
            // A core that is a whole package keeps its own line below that package.
            let outer = part.titles_where(|rank| rank < Rank::CACHE);
            let depth = depth + usize::from(!outer.is_empty());
            if !outer.is_empty() {
                self.heading(&outer, depth - 1);
            }
            self.cores(&[part], depth);
            return;
        }
        self.heading(&part.titles_where(|rank| rank != Rank::FirstLevel), depth);
        let mut rest = part.parts.as_slice();
        while let Some(first) = rest.first() {
            let same = alike_at_front(rest);
            let (run, others) = rest.split_at(same);
            if same > 1 {
                self.cores(&run.iter().collect::<Vec<_>>(), depth + 1);
            } else {
                self.part(first, depth + 1);
            }
            rest = others;
        }
    }

    fn heading(&mut self, titles: &[String], depth: usize) {
        let title = titles.join(self.style.pick(" \u{b7} ", ", "));
        self.line(&title, depth, (depth == 0).then_some(Role::Heading));
    }

    /// Writes a line at a depth, broken where the terminal ends.
    fn line(&mut self, text: &str, depth: usize, role: Option<Role>) {
        let indent = "  ".repeat(depth);
        let room = self.style.width.saturating_sub(columns(&indent) + 4).max(20);
        for (index, line) in wrap(text, room).iter().enumerate() {
            let hang = if index == 0 { "" } else { "    " };
            let line = role.map_or_else(|| line.clone(), |role| self.style.paint(role, line));
            let _ = writeln!(self.out, "{indent}{hang}{line}");
        }
    }

    /// Writes cores that are alike.
    fn cores(&mut self, cores: &[&Part], depth: usize) {
        let Some(first) = cores.first() else { return };
        let titles = first.inner_titles();
        let (kind, caches) = titles.split_last().expect("a core has a title");
        let mut line = match cores.len() {
            1 => kind.clone(),
            number => format!("{number} {} {kind}", self.style.pick("\u{d7}", "x")),
        };
        if !caches.is_empty() {
            let _ = write!(line, " with {}", caches.join(", "));
        }
        line.push(':');
        let boxes = cores.iter().map(|core| {
            let cpus = core.cpus.iter().map(|cpu| self.mark(*cpu)).collect::<Vec<_>>();
            // Kept together when lines are broken.
            format!("[{}]", cpus.join("\u{a0}"))
        });
        let text = format!("{} {}", line, boxes.collect::<Vec<_>>().join(" "));
        self.line(&text, depth, None);
    }

    fn mark(&self, cpu: u32) -> String {
        match (self.chosen.contains(&cpu), self.allowed.contains(&cpu)) {
            (true, _) => format!("{cpu}*"),
            (false, true) => cpu.to_string(),
            (false, false) => format!("({cpu})"),
        }
    }

    /// Writes nodes that have memory and no CPU, which lie in no part.
    fn bare_nodes(&mut self) {
        for node in self.document.nodes.iter().filter(|node| node.cpus.is_empty()) {
            let _ = writeln!(self.out, "{}", super::node_title(self.document, node));
        }
    }

    fn legend(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.chosen.is_empty() {
            parts.push("* would run a single thread");
        }
        if self.allowed.len() < self.document.online.len() {
            parts.push("(n) not available to becalm");
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
