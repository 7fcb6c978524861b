//! mitata: what it prints.
//!
//! - `benchmark   avg (min … max) p75 / p99  ...` is the head; `• group` begins a group, and a rule alone one without a
//!   name, such as those of `summary` and `barplot`.
//! - A row: the name, `1.68 ns/iter`, the 75th percentile and a picture; below it, in parentheses, `min … max` with the
//!   99th percentile, and below that what was allocated.
//! - `clk`, `cpu` and `runtime` stand in front.
//! - Up to 0.1 the head is `benchmark  time (avg)  (min … max)  p75  p99  p999`, and all of a row stands in one line, with
//!   `'` between thousands. Percentiles can be turned off.
//! - `format: 'markdown'` has a table for each group, with `• group` as the title of its names.
//! - A benchmark that failed has `error: why` behind its name.

use becalm_model::{Direction, Part, Unit};

use crate::imported::{Imported, Names, single};
use crate::lines::{self, lines, time};
use crate::readers::cells::cells;
use crate::readers::mitata::in_group;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "mitata-text",
    about: "output of mitata (aggregates only)",
    recognise: Takes::File(|file| {
        lines::any(file, |line| is_head(line) || markdown_head(line).is_some())
    }),
    read: Takes::File(read),
};

fn is_head(line: &str) -> bool {
    line.starts_with("benchmark ")
        && (line.contains(" avg (min … max)")
            || line.contains(" time (avg) ") && line.contains(" (min … max)"))
}

/// Returns the names of the percentiles that stand behind the range, in one line with it; none if
/// the 75th stands behind the mean.
fn percentiles(head: &str) -> Vec<&'static str> {
    let behind = head.split_once(" time (avg) ").and_then(|(_, rest)| rest.split_once(')'));
    let names = behind.map_or("", |(_, names)| names).split_whitespace();
    names
        .map_while(|name| PERCENTILES.iter().find(|(known, _)| *known == name))
        .map(|one| one.1)
        .collect()
}

const PERCENTILES: [(&str, &str); 4] =
    [("p75", "p75"), ("p99", "p99"), ("p995", "p99.5"), ("p999", "p99.9")];

/// Returns what stands above the names in a table of Markdown.
fn markdown_head(line: &str) -> Option<&str> {
    let cells = line.starts_with('|').then(|| cells(line))?;
    cells[1..].starts_with(&["avg", "min", "p75", "p99", "max"]).then(|| cells[0])
}

/// Says whether this is the rule above a group.
fn is_rule(line: &str) -> bool {
    line.starts_with("-----") && line.bytes().all(|byte| byte == b'-' || byte == b' ')
}

/// A benchmark while it is read: its metric and the figures.
struct Benchmark {
    metric: usize,
    figures: Vec<(&'static str, f64)>,
}

/// Figures in seconds, with their names.
type Figures = Vec<(&'static str, f64)>;

/// What was printed, while it is read.
struct Output {
    imported: Imported,
    subject: usize,
    names: Names,
    group: String,
    parts: Vec<Part>,
    open: Option<Benchmark>,
}

impl Output {
    /// Another run begins.
    fn begin(&mut self) {
        self.close();
        self.imported.parts(self.subject, std::mem::take(&mut self.parts));
        self.names = Names::default();
        self.group.clear();
    }

    fn benchmark(&mut self, name: &str, mean: f64, behind: Figures) {
        self.close();
        let name = self.names.unique(&in_group(&self.group, name));
        let metric = self.imported.benchmark(&name, "", Unit::Second, Direction::Lower);
        self.imported.stand_in(metric, "mean");
        self.parts.push(single(metric, mean));
        let mut figures = vec![("mean", mean)];
        figures.extend(behind);
        self.open = Some(Benchmark { metric, figures });
    }

    fn failed(&mut self, name: &str, why: &str) {
        self.close();
        let name = self.names.unique(&in_group(&self.group, name));
        self.imported.failed(name, Some(why.to_owned()));
    }

    fn close(&mut self) {
        if let Some(Benchmark { metric, figures }) = self.open.take() {
            let figures = figures.into_iter().map(|(name, value)| (name, Some(value)));
            self.imported.summary(self.subject, metric, figures);
        }
    }
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("mitata");
    let subject = imported.subject("mitata");
    let (names, group) = (Names::default(), String::new());
    let mut output = Output { imported, subject, names, group, parts: Vec::new(), open: None };
    let mut columns = Vec::new();
    let (mut is_inside, mut was_named) = (false, false);
    for (_, line) in lines(file)? {
        for (label, fact) in [("cpu: ", "cpu_model"), ("runtime: ", "runtime")] {
            if let Some(value) = line.strip_prefix(label).filter(|_| !is_inside) {
                output.imported.fact(fact, value.trim());
            }
        }
        let is_named = line.starts_with("• ");
        if is_head(&line) {
            output.begin();
            columns = percentiles(&line);
            is_inside = true;
        } else if let Some(title) = markdown_head(&line) {
            if title == "benchmark" {
                output.begin();
            }
            title.strip_prefix("• ").unwrap_or_default().clone_into(&mut output.group);
            is_inside = true;
        } else if !is_inside {
            continue;
        } else if is_named {
            line.trim_start_matches("• ").trim().clone_into(&mut output.group);
        } else if is_rule(&line) {
            if !was_named {
                output.group.clear();
            }
        } else if let Some((name, mean, behind)) =
            markdown_row(&line).or_else(|| row(&line, &columns))
        {
            output.benchmark(name, mean, behind);
        } else if let Some((name, why)) = error(&line) {
            output.failed(name, why);
        } else if let Some(benchmark) = &mut output.open
            && benchmark.figures.iter().all(|(name, _)| *name != "minimum")
            && let Some(range) = range(&line, &["p99"])
        {
            benchmark.figures.extend(range);
        }
        was_named = is_named;
    }
    output.begin();
    Ok(output.imported)
}

/// Reads `name   1.68 ns/iter 224.85 ps ...` and `name   277 ps/iter (263 ps … 1'986 ns) 266 ps ...`.
fn row<'a>(line: &'a str, columns: &[&'static str]) -> Option<(&'a str, f64, Figures)> {
    let (front, behind) = line.rsplit_once("/iter")?;
    let mut words = front.rsplitn(3, ' ');
    let (unit, value, name) = (words.next()?, words.next()?, words.next()?);
    let mean = figure(value, unit)?;
    let behind = range(behind, columns).unwrap_or_else(|| named(behind, &["p75"]));
    let name = name.trim();
    (!name.is_empty() && !line.starts_with('|')).then_some((name, mean, behind))
}

/// Reads ``| name | `183.76 ps/iter` | ` 70.07 ps` | ...``. Whatever stands in the name, the figures are the last.
fn markdown_row(line: &str) -> Option<(&str, f64, Figures)> {
    let cells: Vec<&str> = line.strip_prefix('|')?.rsplitn(11, '`').collect();
    let [_, most, _, p99, _, p75, _, least, _, mean, name] = cells[..] else { return None };
    let of = |cell: &str| cell.trim().split_once(' ').and_then(|(value, unit)| figure(value, unit));
    let mean = of(mean.strip_suffix("/iter")?)?;
    let figures = [("minimum", least), ("maximum", most), ("p75", p75), ("p99", p99)];
    let figures = figures.into_iter().filter_map(|(name, cell)| Some((name, of(cell)?))).collect();
    Some((name.trim_end().strip_suffix('|')?.trim(), mean, figures))
}

/// Reads `name   error: why`, also as a row of Markdown.
fn error(line: &str) -> Option<(&str, &str)> {
    let (name, why) = line.split_once(" error: ")?;
    if let Some(name) = name.strip_prefix('|') {
        return Some((name.trim_end().strip_suffix('|')?.trim(), why.trim_end_matches(['|', ' '])));
    }
    (!name.starts_with(char::is_whitespace)).then(|| (name.trim(), why.trim()))
}

/// Reads `(151.61 ps … 5.87 µs) 298.58 ps`, of which the figures behind have these names.
fn range(line: &str, columns: &[&'static str]) -> Option<Figures> {
    let (least, rest) = line.trim().strip_prefix('(')?.split_once('…')?;
    let (most, behind) = rest.split_once(')')?;
    let of = |cell: &str| cell.trim().split_once(' ').and_then(|(value, unit)| figure(value, unit));
    let mut figures = vec![("minimum", of(least)?), ("maximum", of(most)?)];
    figures.extend(named(behind, columns));
    Some(figures)
}

/// Reads times that stand one behind the other, as far as there are names for them.
fn named(text: &str, names: &[&'static str]) -> Figures {
    let mut words = text.split_whitespace();
    names.iter().map_while(|name| Some((*name, figure(words.next()?, words.next()?)?))).collect()
}

/// Reads a time, in seconds.
fn figure(value: &str, unit: &str) -> Option<f64> {
    time(&format!("{} {unit}", value.replace('\'', "")))
}
