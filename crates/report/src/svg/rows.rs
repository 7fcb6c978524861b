//! What pictures of several samples have in common: rows below each other over one axis, or curves with their names below.

use super::frame::Frame;
use super::{Anchor, NAME, Shape, Svg, curve_class, row_names, subject_class};
use crate::axis::Axis;
use crate::quantity::{Scale, count};
use crate::samples::{Row, Samples};

/// Height of what is below the rows: the axis and its name.
const BELOW: f64 = 54.0;

/// One line of a legend.
const LINE: f64 = 19.0;

/// What a picture of rows is about.
pub(super) struct About<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) in_words: &'a str,
    /// What the axis is called.
    pub(super) axis: &'a str,
    /// What the rows are called.
    pub(super) labels: &'a [&'a str],
}

/// A picture of rows that grows from top to bottom.
pub(super) struct Rows {
    pub(super) svg: Svg,
    pub(super) frame: Frame,
    names: Vec<String>,
    /// Of one row.
    height: f64,
}

impl Rows {
    /// Begins one with its axis. Rows have this height each and begin so far from the left.
    pub(super) fn begin(
        about: &About<'_>,
        (axis, scale): (&Axis, &Scale),
        height: f64,
        left: f64,
    ) -> Self {
        let all = height * about.labels.len() as f64 + BELOW;
        let mut svg = Svg::new(about.id, about.title, about.in_words, all);
        let frame = Frame::new(left, all);
        frame.bottom_axis(&mut svg, axis, scale, about.axis);
        Self { svg, frame, names: row_names(about.labels), height }
    }

    /// Writes the name of a row, and returns where the row begins from the top.
    pub(super) fn name(&mut self, row: usize) -> f64 {
        let top = self.frame.top + self.height * row as f64;
        let at = (self.frame.left, top + NAME);
        self.svg.text("label", Anchor::Start, at, &self.names[row]);
        top
    }

    /// Says beside its name how much of a row is beyond the axis.
    pub(super) fn beyond(&mut self, top: f64, axis: &Axis, row: &Row, each: &str) {
        let (below, above) = axis.beyond(row.sample.values());
        if below + above > 0 {
            let note = format!("{} beyond the axis", count(below + above, each));
            self.svg.text("note", Anchor::End, (self.frame.right - 4.0, top + NAME), &note);
        }
    }
}

/// Returns the height of a picture of curves with the legend below it.
pub(super) fn with_legend(height: f64, samples: &Samples) -> f64 {
    height + LINE * samples.rows.len() as f64 + 6.0
}

/// Names each curve below a plot of this height, with how many values it has and what is `said` of it.
pub(super) fn legend(
    svg: &mut Svg,
    frame: &Frame,
    height: f64,
    samples: &Samples,
    said: impl Fn(&Row) -> String,
) {
    for (index, (row, name)) in samples.rows.iter().zip(row_names(&samples.labels())).enumerate() {
        let y = height + LINE * (index as f64 + 0.5);
        let class = format!("dot {}", subject_class(row.style));
        svg.path(&curve_class(row.style), vec![(frame.left - 12.0, y), (frame.left + 12.0, y)]);
        svg.mark(Shape::of_subject(row.style), &class, (frame.left, y), &row.label);
        let text = format!("{name}: {}{}", count(row.sample.len(), samples.each), said(row));
        svg.text("text", Anchor::Start, (frame.left + 20.0, y + 4.0), &text);
    }
}
