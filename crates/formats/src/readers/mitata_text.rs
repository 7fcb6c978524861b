//! mitata: what it prints.
//!
//! - `benchmark   avg (min … max) p75 / p99  ...` is the head; `• group` begins a group.
//! - A row: the name, `1.68 ns/iter`, the 75th percentile and a picture; below it, in parentheses, `min … max` with the
//!   99th percentile, and below that what was allocated.
//! - `clk`, `cpu` and `runtime` stand in front.

use becalm_model::{Direction, Unit};

use crate::imported::{Imported, Names, single};
use crate::lines::{self, lines, time};
use crate::readers::mitata::in_group;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "mitata-text",
    about: "what mitata prints (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, is_head)),
    read: Takes::File(read),
};

fn is_head(line: &str) -> bool {
    line.starts_with("benchmark ") && line.contains(" avg (min … max)")
}

/// A benchmark while it is read: its metric and the figures.
struct Benchmark {
    metric: usize,
    figures: Vec<(&'static str, f64)>,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("mitata");
    let subject = imported.subject("mitata");
    let mut names = Names::default();
    let mut group = String::new();
    let mut parts = Vec::new();
    let mut open: Option<Benchmark> = None;
    let mut is_inside = false;
    for (_, line) in lines(file)? {
        for (label, fact) in [("cpu: ", "cpu_model"), ("runtime: ", "runtime")] {
            if let Some(value) = line.strip_prefix(label).filter(|_| !is_inside) {
                imported.fact(fact, value.trim());
            }
        }
        if is_head(&line) {
            // Another run begins.
            imported.parts(subject, std::mem::take(&mut parts));
            names = Names::default();
            group.clear();
            is_inside = true;
        } else if let Some(name) = line.strip_prefix("• ") {
            name.trim().clone_into(&mut group);
        } else if let Some((name, mean, p75)) = row(&line).filter(|_| is_inside) {
            close(&mut imported, subject, open.take());
            let name = names.unique(&in_group(&group, name));
            let metric = imported.benchmark(&name, "", Unit::Second, Direction::Lower);
            imported.stand_in(metric, "mean");
            parts.push(single(metric, mean));
            let mut figures = vec![("mean", mean)];
            figures.extend(p75.map(|p75| ("p75", p75)));
            open = Some(Benchmark { metric, figures });
        } else if let Some(benchmark) = &mut open
            && benchmark.figures.iter().all(|(name, _)| *name != "minimum")
            && let Some(range) = range(&line)
        {
            benchmark.figures.extend(range);
        }
    }
    close(&mut imported, subject, open);
    imported.parts(subject, parts);
    Ok(imported)
}

fn close(imported: &mut Imported, subject: usize, open: Option<Benchmark>) {
    if let Some(Benchmark { metric, figures }) = open {
        imported.summary(
            subject,
            metric,
            figures.into_iter().map(|(name, value)| (name, Some(value))),
        );
    }
}

/// Reads `name   1.68 ns/iter 224.85 ps ...`.
fn row(line: &str) -> Option<(&str, f64, Option<f64>)> {
    let (front, behind) = line.split_once("/iter")?;
    let mut words = front.rsplitn(3, ' ');
    let (unit, value, name) = (words.next()?, words.next()?, words.next()?);
    let mean = time(&format!("{value} {unit}"))?;
    let mut behind = behind.split_whitespace();
    let p75 =
        behind.next().zip(behind.next()).and_then(|(value, unit)| time(&format!("{value} {unit}")));
    let name = name.trim();
    (!name.is_empty()).then_some((name, mean, p75))
}

/// Reads `(151.61 ps … 5.87 µs) 298.58 ps`.
fn range(line: &str) -> Option<Vec<(&'static str, f64)>> {
    let (least, rest) = line.trim().strip_prefix('(')?.split_once('…')?;
    let (most, behind) = rest.split_once(')')?;
    let mut figures = vec![("minimum", time(least)?), ("maximum", time(most)?)];
    let mut behind = behind.split_whitespace();
    let p99 =
        behind.next().zip(behind.next()).and_then(|(value, unit)| time(&format!("{value} {unit}")));
    figures.extend(p99.map(|p99| ("p99", p99)));
    Some(figures)
}
