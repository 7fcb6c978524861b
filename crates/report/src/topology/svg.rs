//! The machine as a picture: boxes inside boxes, as `lstopo` draws them.
//!
//! The file stands alone: it has its own colours, for light and dark surroundings.

use becalm_model::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use becalm_model::wire::TopologyDocument;

use super::layout::{LINE, PAD, Shape, of_machine, row_height, width_of};
use super::parts::{Part, Rank, machine};
use crate::escape;

const STYLE: &str = "\
svg{font:11px system-ui,sans-serif;background:#fff}text{fill:#1a1a1a}rect{stroke:#777}\
.part{fill:#f4f4f1}.cache{fill:#fdfdfb}.node{fill:#eaf1e6}.device{fill:#f3e9e4}\
.k0{fill:#cfe0f5}.k1{fill:#f7e3c1}.k2{fill:#e6d6ef}.k3{fill:#d5ead9}\
.cpu{fill:#fff}.chosen{fill:#2f6fb5;stroke:#174a80;stroke-width:2}.chosen+.n{fill:#fff;font-weight:bold}\
.barred{fill:#ddd;stroke-dasharray:3 2}.barred+.n{fill:#777}.isolated{stroke:#b3541e;stroke-width:2}\
@media (prefers-color-scheme:dark){svg{background:#16181b}text{fill:#e8e8e8}rect{stroke:#808790}\
.part{fill:#22262b}.cache{fill:#1b1e22}.node{fill:#22302a}.device{fill:#3a2b25}\
.k0{fill:#26405f}.k1{fill:#5a4522}.k2{fill:#46345a}.k3{fill:#27482f}\
.cpu{fill:#16181b}.chosen{fill:#5b9be0;stroke:#a9cdf5}.chosen+.n{fill:#0b1420}\
.barred{fill:#33373c}.barred+.n{fill:#8a9099}.isolated{stroke:#e88a4f}}";

/// Draws a machine as a self-contained SVG file.
pub fn topology_svg(document: &TopologyDocument) -> String {
    let drawing = Drawing::new(document);
    let whole = of_machine(&machine(document), &|part| drawing.class(part));
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
    drawing.draw(&mut out, &whole, (PAD, PAD));
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

    fn draw(&self, out: &mut String, shape: &Shape, at: (f64, f64)) {
        if let Some(cpu) = shape.cpu {
            return self.cpu(out, cpu, at, shape);
        }
        rectangle(out, &shape.class, at, (shape.width, shape.height));
        for (index, text) in shape.labels.iter().enumerate() {
            label(out, (at.0 + shape.pad, at.1 + 12.0 + LINE * index as f64), text);
        }
        let mut top = at.1 + LINE * shape.labels.len() as f64 + shape.pad;
        for row in &shape.rows {
            let mut left = at.0 + shape.pad;
            for inner in row {
                self.draw(out, inner, (left, top));
                left += inner.width + shape.pad;
            }
            top += row_height(row) + shape.pad;
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

    fn cpu(&self, out: &mut String, cpu: u32, at: (f64, f64), shape: &Shape) {
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
        rectangle(out, &class, at, (shape.width, shape.height));
        let _ = writeln!(
            out,
            "<text class=\"n\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{cpu}</text>",
            at.0 + shape.width / 2.0,
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
            legend.push(("barred".into(), "not available to becalm".into()));
        }
        if !self.isolated.is_empty() {
            legend.push(("cpu isolated".into(), "isolated from the scheduler".into()));
        }
        if !self.document.offline.is_empty() {
            let text = format!("switched off: CPU {}", super::list(&self.document.offline));
            legend.push(("part".into(), text));
        }
        legend
    }
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
    use becalm_model::wire::{
        TopologyCache, TopologyCore, TopologyCpu, TopologyDevice, TopologyGroup, TopologyKind,
    };

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
        assert!(picture.contains("not available"), "{picture}");
    }

    /// Every rectangle and the first letter of every label, as the picture has them.
    fn places(picture: &str, what: &str) -> Vec<(f64, f64, f64, f64)> {
        let number = |line: &str, name: &str| {
            let (_, rest) = line.split_once(&format!(" {name}=\""))?;
            rest.split('"').next()?.parse::<f64>().ok()
        };
        let lines = picture.lines().filter(|line| line.starts_with(what));
        lines
            .map(|line| {
                let of = |name| number(line, name).unwrap_or(0.0);
                (of("x"), of("y"), of("width"), of("height"))
            })
            .collect()
    }

    /// A machine of packages with cores of two threads, eight to a cache.
    fn many(packages: u32, cores: u32) -> TopologyDocument {
        let all = packages * cores;
        let threads = |core: u32| vec![core, core + all];
        let group = |of: u32, size: u32| -> Vec<u32> {
            let cores = of * size..(of + 1) * size;
            let mut cpus: Vec<u32> = cores.flat_map(threads).collect();
            cpus.sort_unstable();
            cpus
        };
        let cache = |name: &str, level, cpus| TopologyCache {
            name: name.to_owned(),
            level,
            content: "unified".to_owned(),
            size: Some(1 << 20),
            cpus,
        };
        let l3s = (0..all / 8).map(|index| cache("L3", 3, group(index, 8)));
        let l2s = (0..all).map(|core| cache("L2", 2, threads(core)));
        TopologyDocument {
            online: (0..2 * all).collect(),
            allowed: (0..2 * all).collect(),
            cores: (0..all)
                .map(|core| TopologyCore { id: None, cpus: threads(core), package: 0, kind: 0 })
                .collect(),
            packages: (0..packages)
                .map(|index| TopologyGroup { id: i64::from(index), cpus: group(index, cores) })
                .collect(),
            caches: l3s.chain(l2s).collect(),
            devices: (0..3)
                .map(|index| TopologyDevice {
                    address: format!("0000:0{index}:00.0"),
                    kind: "network".to_owned(),
                    names: vec![format!("eth{index}")],
                    node: None,
                    cpus: Some(group(index % packages, cores)),
                })
                .collect(),
            ..TopologyDocument::default()
        }
    }

    #[test]
    fn hundreds_of_cpus_are_all_there_side_by_side_in_a_picture_of_bounded_width() {
        for (packages, cores) in [(1, 8), (2, 96), (8, 112)] {
            let picture = topology_svg(&many(packages, cores));
            let cells = picture.matches("class=\"n\"").count();
            assert_eq!(cells, (packages * cores * 2) as usize);
            let boxes = places(&picture, "<rect");
            assert!(boxes.iter().all(|(x, _, width, _)| x + width < 1750.0), "{packages}");
            // Two boxes lie apart or one in the other.
            for (index, one) in boxes.iter().enumerate() {
                for other in &boxes[index + 1..] {
                    let apart = |a: (f64, f64), b: (f64, f64)| a.0 + a.1 <= b.0 || b.0 + b.1 <= a.0;
                    let is_apart = apart((one.0, one.2), (other.0, other.2))
                        || apart((one.1, one.3), (other.1, other.3));
                    let is_in = other.0 >= one.0
                        && other.1 >= one.1
                        && other.0 + other.2 <= one.0 + one.2
                        && other.1 + other.3 <= one.1 + one.3;
                    assert!(is_apart || is_in, "{one:?} {other:?}");
                }
            }
            assert!(picture.contains("eth0 (0000:00:00.0)"), "{packages}");
        }
        let picture = topology_svg(&many(2, 96));
        assert_eq!(picture.matches("each with").count(), 24, "one label for each cache");
    }

    #[test]
    fn a_machine_without_parts_is_still_a_picture() {
        assert!(topology_svg(&TopologyDocument::default()).contains("Machine"));
    }
}
