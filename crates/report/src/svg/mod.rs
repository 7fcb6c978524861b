//! Pictures: what is drawn, as values, from which SVG and pixels are made. Looks go by class (`look.rs`), so that one
//! picture suits a light and a dark page; every subject has a shape too, so that colour is never needed.

mod bars;
mod ecdf;
mod frame;
mod histogram;
mod iterations;
pub(crate) mod look;
mod markup;
mod paired;
mod ridges;
mod rows;
mod scan;
mod sequence;
mod sheet;
mod spans;
mod spectrum;
mod strip;
mod timeline;
pub(crate) mod tone;
mod violin;

use crate::distinct::distinct;
use crate::quantity::NBSP;

pub(crate) use bars::bars;
pub(crate) use ecdf::{FEW_RUNS, ecdf};
pub(crate) use frame::Frame;
pub(crate) use histogram::histograms;
pub(crate) use iterations::iterations;
pub(crate) use markup::{alone, key, with_links, within};
pub(crate) use paired::paired;
pub(crate) use ridges::ridges;
pub(crate) use scan::scan;
pub(crate) use sequence::sequence;
pub(crate) use sheet::sheet;
pub(crate) use spectrum::{percentile, percentiles_below, spectrum};
pub(crate) use strip::{StripRow, strip, strip_of};
pub(crate) use timeline::timeline;
pub(crate) use violin::violins;

/// Width of every picture in its own units; whoever shows it scales it.
pub(crate) const WIDTH: f64 = 720.0;

/// A place in a picture: from the left and from the top.
pub(crate) type Place = (f64, f64);

/// A picture that grows element by element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Svg {
    /// What it is called on its page.
    pub(crate) id: String,
    title: String,
    description: String,
    pub(crate) height: f64,
    pub(crate) elements: Vec<Element>,
}

/// A part of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Element {
    /// Names in `look.rs`, separated by spaces.
    pub(crate) class: String,
    pub(crate) form: Form,
}

/// The form of a part.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    Line(Place, Place),
    /// A rectangle between two corners.
    Area(Place, Place),
    /// A closed shape with these corners.
    Polygon(Vec<Place>),
    /// An open line through these places.
    Path(Vec<Place>),
    /// Upright lines at these places from the left, between two heights.
    Ticks(Vec<f64>, (f64, f64)),
    Text(Anchor, Place, String),
    /// The mark of a value; the text is shown when the pointer rests on it.
    Mark(Shape, Place, String),
}

/// Which end of a text its position means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// Starts a picture. `id` has to be unique on its page; `title` and `description` are what a
    /// screen reader says instead of it.
    pub(crate) fn new(id: &str, title: &str, description: &str, height: f64) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
            height,
            elements: Vec::new(),
        }
    }

    pub(crate) fn line(&mut self, class: &str, from: Place, to: Place) {
        self.add(class, Form::Line(from, to));
    }

    /// Draws a rectangle between two corners.
    pub(crate) fn area(&mut self, class: &str, from: Place, to: Place) {
        self.add(class, Form::Area(from, to));
    }

    /// Draws a closed shape with these corners.
    pub(crate) fn polygon(&mut self, class: &str, corners: &[Place]) {
        self.add(class, Form::Polygon(corners.to_vec()));
    }

    /// Draws an open line through these places.
    pub(crate) fn path(&mut self, class: &str, places: Vec<Place>) {
        if places.len() > 1 {
            self.add(class, Form::Path(places));
        }
    }

    /// Draws upright lines at these places, between two heights.
    pub(crate) fn ticks(&mut self, class: &str, places: Vec<f64>, heights: (f64, f64)) {
        if !places.is_empty() {
            self.add(class, Form::Ticks(places, heights));
        }
    }

    pub(crate) fn text(&mut self, class: &str, anchor: Anchor, at: Place, text: &str) {
        self.add(class, Form::Text(anchor, at, text.replace(NBSP, " ")));
    }

    /// Draws the mark of one value; `tip` is shown when the pointer rests on it.
    pub(crate) fn mark(&mut self, shape: Shape, class: &str, at: Place, tip: &str) {
        self.add(class, Form::Mark(shape, at, tip.to_owned()));
    }

    /// Draws another picture into this one, so much further down.
    fn put(&mut self, other: Self, down: f64) {
        self.elements.extend(other.elements.into_iter().map(|element| element.moved(down)));
    }

    fn add(&mut self, class: &str, form: Form) {
        self.elements.push(Element { class: class.to_owned(), form });
    }

    /// Counts the parts of a class.
    pub(crate) fn count_of(&self, class: &str) -> usize {
        let is_of = |element: &&Element| element.class.split(' ').any(|name| name == class);
        self.elements.iter().filter(is_of).count()
    }
}

impl Element {
    fn moved(self, down: f64) -> Self {
        let place = |(x, y): Place| (x, y + down);
        let form = match self.form {
            Form::Line(from, to) => Form::Line(place(from), place(to)),
            Form::Area(from, to) => Form::Area(place(from), place(to)),
            Form::Polygon(corners) => Form::Polygon(corners.into_iter().map(place).collect()),
            Form::Path(places) => Form::Path(places.into_iter().map(place).collect()),
            Form::Ticks(places, (top, bottom)) => Form::Ticks(places, (top + down, bottom + down)),
            Form::Text(anchor, at, text) => Form::Text(anchor, place(at), text),
            Form::Mark(shape, at, tip) => Form::Mark(shape, place(at), tip),
        };
        Self { form, ..self }
    }
}

/// The form of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Diamond,
    Square,
    Triangle,
    /// Never a subject's own shape: it marks a disturbed run.
    Cross,
}

impl Shape {
    /// Returns the shape of the subject at `index`.
    pub(crate) fn of_subject(index: usize) -> Self {
        [Self::Circle, Self::Diamond, Self::Square, Self::Triangle][index % 4]
    }

    /// Returns the corners of the mark around its place; a circle has a radius instead, and a cross four ends.
    pub(crate) fn corners(self) -> &'static [Place] {
        match self {
            Self::Circle => &[],
            Self::Diamond => &[(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)],
            Self::Square => &[(-3.3, -3.3), (3.3, -3.3), (3.3, 3.3), (-3.3, 3.3)],
            Self::Triangle => &[(0.0, -4.4), (4.2, 3.4), (-4.2, 3.4)],
            Self::Cross => &[(-4.0, -4.0), (4.0, 4.0), (4.0, -4.0), (-4.0, 4.0)],
        }
    }
}

/// Returns the class with the colour of the subject at `index`. Six colours and four shapes
/// repeat together only after twelve subjects.
pub(crate) fn subject_class(index: usize) -> String {
    format!("s{}", index % usize::from(tone::SUBJECTS))
}

/// Returns the class of a curve with the colour of the subject at `index`.
fn curve_class(index: usize) -> String {
    format!("curve l{}", index % usize::from(tone::SUBJECTS))
}

/// Returns the class that keeps many marks apart: without an outline and half transparent.
pub(crate) fn density_class(n_marks: usize) -> &'static str {
    const CROWDED: usize = 400;
    if n_marks > CROWDED { " dense" } else { "" }
}

/// Where rows begin that have their names above them.
const ROWS_FROM: f64 = 20.0;

/// How far below the top of a row the line of its name is.
const NAME: f64 = 12.0;

/// Returns what rows are called.
fn row_names(names: &[&str]) -> Vec<String> {
    // So many letters fit, also where a narrow screen has larger ones.
    const COLUMNS: usize = 60;
    distinct(names, COLUMNS, true)
}

/// Radius of a round mark.
pub(crate) const RADIUS: f64 = 3.5;
