//! The machine as a picture: boxes inside boxes, as `lstopo` draws them.
//!
//! The file stands alone: it has its own colours, for light and dark surroundings.

use becalm_model::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use becalm_model::wire::TopologyDocument;

use super::parts::{Part, Rank, machine};
use crate::escape;

/// Height of a line of text.
const LINE: f64 = 15.0;
/// Space around what is in a box.
const PAD: f64 = 6.0;
/// Width of a character, on the safe side.
const CHARACTER: f64 = 6.6;
const CPU_WIDTH: f64 = 38.0;
const CPU_HEIGHT: f64 = 22.0;
/// How much wider than high a picture should be.
const SHAPE: f64 = 1.6;

const STYLE: &str = "\
svg{font:11px system-ui,sans-serif;background:#fff}text{fill:#1a1a1a}rect{stroke:#777}\
.part{fill:#f4f4f1}.cache{fill:#fdfdfb}.node{fill:#eaf1e6}\
.k0{fill:#cfe0f5}.k1{fill:#f7e3c1}.k2{fill:#e6d6ef}.k3{fill:#d5ead9}\
.cpu{fill:#fff}.chosen{fill:#2f6fb5;stroke:#174a80;stroke-width:2}.chosen+.n{fill:#fff;font-weight:bold}\
.barred{fill:#ddd;stroke-dasharray:3 2}.barred+.n{fill:#777}.isolated{stroke:#b3541e;stroke-width:2}\
@media (prefers-color-scheme:dark){svg{background:#16181b}text{fill:#e8e8e8}rect{stroke:#808790}\
.part{fill:#22262b}.cache{fill:#1b1e22}.node{fill:#22302a}\
.k0{fill:#26405f}.k1{fill:#5a4522}.k2{fill:#46345a}.k3{fill:#27482f}\
.cpu{fill:#16181b}.chosen{fill:#5b9be0;stroke:#a9cdf5}.chosen+.n{fill:#0b1420}\
.barred{fill:#33373c}.barred+.n{fill:#8a9099}.isolated{stroke:#e88a4f}}";

/// Draws a machine as a self-contained SVG file.
pub fn topology_svg(document: &TopologyDocument) -> String {
    let drawing = Drawing::new(document);
    let machine = machine(document);
    let whole = measure(&machine);
    let legend = drawing.legend();
    let bottom = whole.height + PAD + LINE * legend.len() as f64;
    let width = legend.iter().map(|(_, text)| width_of(text) + 24.0).fold(whole.width, f64::max);
    let (width, height) = (width + 2.0 * PAD, bottom + 2.0 * PAD);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-labelledby=\"title\">\n\
         <title id=\"title\">{}</title>\n<style>{STYLE}</style>\n",
        escape::html(&title(document))
    );
    drawing.draw(&mut out, &machine, &whole, (PAD, PAD));
    for (index, (class, text)) in legend.iter().enumerate() {
        let y = PAD + whole.height + PAD + LINE * index as f64;
        rectangle(&mut out, class, (PAD, y + 2.0), (14.0, LINE - 4.0));
        label(&mut out, (PAD + 20.0, y + 11.0), text);
    }
    out.push_str("</svg>\n");
    out
}

fn title(document: &TopologyDocument) -> String {
    format!(
        "A machine of {}, {} and {}",
        counted(document.packages.len(), "package"),
        counted(document.cores.len(), "core"),
        counted(document.cpus.len(), "CPU")
    )
}

/// The size of a part, and of those in it.
struct PartSize {
    width: f64,
    height: f64,
    /// How many parts stand side by side.
    columns: usize,
    parts: Vec<PartSize>,
}

struct Drawing<'a> {
    document: &'a TopologyDocument,
    chosen: BTreeSet<u32>,
    barred: BTreeSet<u32>,
    isolated: BTreeSet<u32>,
    kinds: BTreeMap<u32, usize>,
}

impl<'a> Drawing<'a> {
    fn new(document: &'a TopologyDocument) -> Self {
        let allowed: BTreeSet<u32> = document.allowed.iter().copied().collect();
        let one = document.choices.iter().find(|choice| choice.threads == Some(1));
        Self {
            document,
            chosen: one.map(|choice| choice.subject.iter().copied().collect()).unwrap_or_default(),
            barred: document.online.iter().copied().filter(|cpu| !allowed.contains(cpu)).collect(),
            isolated: document.isolated.iter().copied().collect(),
            kinds: document.cpus.iter().map(|cpu| (cpu.id, cpu.kind)).collect(),
        }
    }

    fn draw(&self, out: &mut String, part: &Part, measured: &PartSize, at: (f64, f64)) {
        let (x, y) = at;
        rectangle(out, &self.class(part), at, (measured.width, measured.height));
        for (index, title) in part.titles.iter().enumerate() {
            label(out, (x + PAD, y + 12.0 + LINE * index as f64), &title.text);
        }
        let mut top = y + LINE * part.titles.len() as f64 + PAD;
        if measured.parts.is_empty() {
            for (index, &cpu) in part.cpus.iter().enumerate() {
                self.cpu(out, cpu, (x + PAD + index as f64 * (CPU_WIDTH + PAD), top));
            }
            return;
        }
        let rows = part.parts.chunks(measured.columns).zip(measured.parts.chunks(measured.columns));
        for (parts, sizes) in rows {
            let mut left = x + PAD;
            for (inner, size) in parts.iter().zip(sizes) {
                self.draw(out, inner, size, (left, top));
                left += size.width + PAD;
            }
            top += sizes.iter().map(|one| one.height).fold(0.0, f64::max) + PAD;
        }
    }

    fn class(&self, part: &Part) -> String {
        if part.core.is_some() {
            let kind = part.cpus.first().and_then(|cpu| self.kinds.get(cpu)).copied().unwrap_or(0);
            return format!("k{}", kind % 4);
        }
        let class = match part.titles.first().map(|title| title.rank) {
            Some(Rank::Cache { .. } | Rank::FirstLevel) => "cache",
            Some(Rank::Node) => "node",
            _ => "part",
        };
        class.to_owned()
    }

    fn cpu(&self, out: &mut String, cpu: u32, at: (f64, f64)) {
        let mut class = if self.barred.contains(&cpu) {
            "barred"
        } else if self.chosen.contains(&cpu) {
            "chosen"
        } else {
            "cpu"
        }
        .to_owned();
        if self.isolated.contains(&cpu) {
            class.push_str(" isolated");
        }
        rectangle(out, &class, at, (CPU_WIDTH, CPU_HEIGHT));
        let _ = writeln!(
            out,
            "<text class=\"n\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{cpu}</text>",
            at.0 + CPU_WIDTH / 2.0,
            at.1 + 15.0
        );
    }

    /// Returns what has to be explained: a class and its meaning.
    fn legend(&self) -> Vec<(String, String)> {
        let mut legend = Vec::new();
        if self.document.kinds.len() > 1 {
            for (index, kind) in self.document.kinds.iter().enumerate() {
                legend.push((format!("k{}", index % 4), kind.name.clone()));
            }
        }
        if !self.chosen.is_empty() {
            legend.push(("chosen".into(), "would run the subject, if it has one thread".into()));
        }
        if !self.barred.is_empty() {
            legend.push(("barred".into(), "may not be used by becalm".into()));
        }
        if !self.isolated.is_empty() {
            legend.push(("cpu isolated".into(), "isolated from the scheduler".into()));
        }
        if !self.document.offline.is_empty() {
            let text = format!("switched off: CPU {}", super::list(&self.document.offline));
            legend.push(("part".into(), text));
        }
        for node in self.document.nodes.iter().filter(|node| node.cpus.is_empty()) {
            legend.push(("node".into(), format!("NUMA node {} has no CPU that runs", node.id)));
        }
        legend
    }
}

/// Returns how large a part has to be.
fn measure(part: &Part) -> PartSize {
    let titled = part.titles.iter().map(|title| width_of(&title.text)).fold(0.0, f64::max);
    let head = LINE * part.titles.len() as f64 + PAD;
    if part.parts.is_empty() {
        let inner = part.cpus.len() as f64 * (CPU_WIDTH + PAD) - PAD;
        return PartSize {
            width: titled.max(inner) + 2.0 * PAD,
            height: head + CPU_HEIGHT + PAD,
            columns: part.cpus.len().max(1),
            parts: Vec::new(),
        };
    }
    let parts: Vec<PartSize> = part.parts.iter().map(measure).collect();
    let columns = best_columns(&parts);
    let (mut width, mut height) = (0.0, 0.0);
    for row in parts.chunks(columns) {
        width = row.iter().map(|one| one.width + PAD).sum::<f64>().max(width);
        height += row.iter().map(|one| one.height).fold(0.0, f64::max) + PAD;
    }
    PartSize { width: titled.max(width - PAD) + 2.0 * PAD, height: head + height, columns, parts }
}

/// Returns in how many columns parts stand best.
fn best_columns(parts: &[PartSize]) -> usize {
    let count = parts.len();
    let width = parts.iter().map(|one| one.width + PAD).fold(0.0, f64::max);
    let height = parts.iter().map(|one| one.height + PAD).fold(0.0, f64::max);
    let error = |columns: &usize| {
        let rows = count.div_ceil(*columns);
        let shape = (*columns as f64 * width) / (rows as f64 * height);
        // A ragged last row counts a little.
        let ragged = (rows * columns - count) as f64 / count as f64;
        (shape / SHAPE).ln().abs() + ragged
    };
    (1..=count).min_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or(1)
}

fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

fn rectangle(out: &mut String, class: &str, at: (f64, f64), size: (f64, f64)) {
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\"/>",
        at.0, at.1, size.0, size.1
    );
}

fn label(out: &mut String, at: (f64, f64), text: &str) {
    let _ =
        writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", at.0, at.1, escape::html(text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::wire::{TopologyCore, TopologyCpu, TopologyKind};

    #[test]
    fn a_picture_stands_alone_escapes_names_and_has_every_cpu() {
        let cpu = |id| TopologyCpu {
            id,
            core: 0,
            package: 0,
            die: None,
            cluster: None,
            node: Some(0),
            kind: 0,
            siblings: Vec::new(),
            allowed: true,
            capacity: None,
            max_khz: None,
            preference: None,
        };
        let document = TopologyDocument {
            online: vec![3, 700],
            allowed: vec![3],
            cpus: vec![cpu(3), cpu(700)],
            cores: vec![TopologyCore { id: None, cpus: vec![3, 700], package: 0, kind: 0 }],
            kinds: vec![TopologyKind { name: "<core>".into(), cpus: vec![3, 700] }],
            ..TopologyDocument::default()
        };
        let picture = topology_svg(&document);
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
        assert!(picture.contains("prefers-color-scheme:dark") && !picture.contains("href"));
        assert!(picture.contains("&lt;core&gt;") && !picture.contains("<core>"), "{picture}");
        assert!(picture.contains(">3</text>") && picture.contains(">700</text>"), "{picture}");
        assert!(picture.contains("may not be used"), "{picture}");
    }

    #[test]
    fn a_machine_without_parts_is_still_a_picture() {
        assert!(topology_svg(&TopologyDocument::default()).contains("Machine"));
    }
}
