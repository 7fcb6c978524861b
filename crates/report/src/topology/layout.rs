//! Boxes inside boxes, with their sizes: where everything of the picture stands.

use std::collections::BTreeSet;

use super::parts::{Beside, Part, Rank, alike_at_front};
use crate::width::wrap;

/// Height of a line of text.
pub(super) const LINE: f64 = 15.0;
/// Space around what is in a box.
pub(super) const PAD: f64 = 6.0;
/// Width of a character, rounded up.
const CHARACTER: f64 = 7.0;
const CPU_WIDTH: f64 = 38.0;
const CPU_HEIGHT: f64 = 22.0;
/// Of the CPUs of cores that are drawn close together.
const CLOSE_WIDTH: f64 = 32.0;
const CLOSE_PAD: f64 = 3.0;
/// How much wider than high a picture should be.
const SHAPE: f64 = 1.6;
/// No row of boxes becomes wider, unless a single one is.
const WIDEST: f64 = 1600.0;
/// Labels are broken into lines if a box is narrower than they are, but never to less than this.
const NARROWEST_LABEL: f64 = 154.0;
/// From this many cores on, cores that are alike share one label.
const MANY_CORES: usize = 65;

/// A box.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) class: String,
    pub(super) labels: Vec<String>,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Space around what is in it.
    pub(super) pad: f64,
    /// The boxes in it, row by row.
    pub(super) rows: Vec<Vec<Shape>>,
    /// The CPU that it is.
    pub(super) cpu: Option<u32>,
}

/// Gives a part its class for colours.
pub(super) type Class<'a> = &'a dyn Fn(&Part) -> String;

/// Returns the box of the whole machine.
pub(super) fn of_machine(machine: &Part, class: Class<'_>) -> Shape {
    let is_many = cores(machine) >= MANY_CORES;
    shape(machine, class, is_many)
}

fn cores(part: &Part) -> usize {
    usize::from(part.core.is_some()) + part.parts.iter().map(cores).sum::<usize>()
}

fn shape(part: &Part, class: Class<'_>, is_many: bool) -> Shape {
    let titles: Vec<String> = part.titles.iter().map(|title| title.text.clone()).collect();
    if part.parts.is_empty() {
        let cpus = vec![cpus(&part.cpus, CPU_WIDTH)];
        return holding(class(part), &titles, PAD, cpus);
    }
    let mut inner = Vec::new();
    let mut rest = part.parts.as_slice();
    while !rest.is_empty() {
        let count = if is_many { alike_at_front(rest) } else { 1 };
        let (run, others) = rest.split_at(count);
        match run {
            [one] => inner.push(shape(one, class, is_many)),
            several => inner.push(close_together(several, class)),
        }
        rest = others;
    }
    let mut rows = in_columns(inner);
    let width = rows.iter().map(|row| row_width(row, PAD)).fold(0.0, f64::max);
    rows.extend(in_lines(part.beside.iter().map(beside).collect(), width.max(300.0)));
    holding(class(part), &titles, PAD, rows)
}

/// Returns one box for several cores that are alike.
fn close_together(cores: &[Part], class: Class<'_>) -> Shape {
    let first = &cores[0];
    let has_first_level = |core: &Part| core.titles_where(|rank| rank == Rank::FirstLevel);
    let first_level = has_first_level(first);
    let is_same = cores.iter().all(|core| has_first_level(core) == first_level);
    let shown = |rank| Rank::CACHE <= rank && (is_same || rank != Rank::FirstLevel);
    let caches = first.titles_where(|rank| shown(rank) && rank != Rank::Core);
    let kind = first.titles_where(|rank| rank == Rank::Core).join(" ");
    let mut label = format!("{} \u{d7} {kind}", cores.len());
    if !caches.is_empty() {
        // A cache and its size stay in one line.
        let caches = caches.iter().map(|one| one.replace(' ', "\u{a0}")).collect::<Vec<_>>();
        label = format!("{label}, each with {}", caches.join(", "));
    }
    let boxes = cores
        .iter()
        .map(|core| holding(class(core), &[], CLOSE_PAD, vec![cpus(&core.cpus, CLOSE_WIDTH)]));
    holding("cache".to_owned(), &[label], PAD, in_columns(boxes.collect()))
}

fn cpus(cpus: &BTreeSet<u32>, width: f64) -> Vec<Shape> {
    let cell = |cpu: &u32| Shape {
        class: String::new(),
        labels: Vec::new(),
        width,
        height: CPU_HEIGHT,
        pad: 0.0,
        rows: Vec::new(),
        cpu: Some(*cpu),
    };
    cpus.iter().map(cell).collect()
}

fn beside(beside: &Beside) -> Shape {
    match beside {
        Beside::Node(title) => {
            holding("node".to_owned(), std::slice::from_ref(title), PAD, Vec::new())
        }
        Beside::Devices(group) => {
            let mut labels = vec![group.kind.clone()];
            labels.extend(group.entries.iter().cloned());
            holding("device".to_owned(), &labels, PAD, Vec::new())
        }
    }
}

/// Returns a box around rows of boxes, with its labels above them.
fn holding(class: String, labels: &[String], pad: f64, rows: Vec<Vec<Shape>>) -> Shape {
    let inner = rows.iter().map(|row| row_width(row, pad)).fold(0.0, f64::max);
    let room = (inner.max(NARROWEST_LABEL) / CHARACTER).floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small width")]
    let room = room as usize;
    let labels: Vec<String> = labels.iter().flat_map(|label| wrap(label, room)).collect();
    let titled = labels.iter().map(|label| width_of(label)).fold(0.0, f64::max);
    let head = LINE * labels.len() as f64 + pad;
    let body: f64 = rows.iter().map(|row| row_height(row) + pad).sum();
    Shape {
        class,
        width: titled.max(inner) + 2.0 * pad,
        height: head + body,
        pad,
        rows,
        labels,
        cpu: None,
    }
}

pub(super) fn row_height(row: &[Shape]) -> f64 {
    row.iter().map(|one| one.height).fold(0.0, f64::max)
}

fn row_width(row: &[Shape], pad: f64) -> f64 {
    row.iter().map(|one| one.width + pad).sum::<f64>() - pad
}

/// Puts boxes into as many columns as suit them best.
fn in_columns(shapes: Vec<Shape>) -> Vec<Vec<Shape>> {
    let columns = best_columns(&shapes);
    let mut rows: Vec<Vec<Shape>> = Vec::new();
    for shape in shapes {
        match rows.last_mut() {
            Some(row) if row.len() < columns => row.push(shape),
            _ => rows.push(vec![shape]),
        }
    }
    rows
}

/// Puts boxes side by side while there is room.
fn in_lines(shapes: Vec<Shape>, width: f64) -> Vec<Vec<Shape>> {
    let mut rows: Vec<Vec<Shape>> = Vec::new();
    for shape in shapes {
        match rows.last_mut() {
            Some(row) if row_width(row, PAD) + PAD + shape.width <= width => row.push(shape),
            _ => rows.push(vec![shape]),
        }
    }
    rows
}

fn best_columns(shapes: &[Shape]) -> usize {
    let count = shapes.len();
    let width = shapes.iter().map(|one| one.width + PAD).fold(0.0, f64::max);
    let height = shapes.iter().map(|one| one.height + PAD).fold(0.0, f64::max);
    let error = |columns: &usize| {
        let rows = count.div_ceil(*columns);
        let shape = (*columns as f64 * width) / (rows as f64 * height);
        // A ragged last row counts a little.
        let ragged = (rows * columns - count) as f64 / count as f64;
        (shape / SHAPE).ln().abs() + ragged
    };
    let fits = |columns: &usize| *columns == 1 || *columns as f64 * width <= WIDEST;
    (1..=count).filter(fits).min_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or(1)
}

pub(super) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}
