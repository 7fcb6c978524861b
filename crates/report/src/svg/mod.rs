//! Plots as SVG. Colours come from the style sheet of the page by class, so that one plot suits a
//! light and a dark page; every subject has a shape too, so that colour is never needed.

mod frame;
mod histogram;
mod paired;
mod sequence;
mod strip;
mod violin;

use std::fmt::Write as _;

use crate::escape;
use crate::quantity::NBSP;

pub(crate) use histogram::histogram;
pub(crate) use paired::paired;
pub(crate) use sequence::sequence;
pub(crate) use strip::{StripRow, strip, strip_of};
pub(crate) use violin::violins;

/// Width of every plot in its own units; the page scales it.
pub(crate) const WIDTH: f64 = 720.0;

/// A drawing that grows element by element.
#[derive(Debug)]
pub(crate) struct Svg {
    head: String,
    body: String,
}

/// Which end of a text its position means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// Starts a drawing. `id` has to be unique on its page; `title` and `description` are what a
    /// screen reader says instead of it.
    pub(crate) fn new(id: &str, title: &str, description: &str, height: f64) -> Self {
        let (title, description) = (escape::html(title), escape::html(description));
        let head = format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n<title id=\"{id}-title\">{title}</title>\n\
             <desc id=\"{id}-desc\">{description}</desc>\n",
            fixed(WIDTH),
            fixed(height)
        );
        Self { head, body: String::new() }
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.body,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            fixed(from.0),
            fixed(from.1),
            fixed(to.0),
            fixed(to.1)
        );
    }

    /// Draws a rectangle between two corners.
    pub(crate) fn area(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            fixed(from.0.min(to.0)),
            fixed(from.1.min(to.1)),
            fixed((to.0 - from.0).abs()),
            fixed((to.1 - from.1).abs())
        );
    }

    /// Draws a closed shape with these corners.
    pub(crate) fn polygon(&mut self, class: &str, corners: &[(f64, f64)]) {
        let corners: Vec<String> =
            corners.iter().map(|(x, y)| format!("{},{}", fixed(*x), fixed(*y))).collect();
        let _ =
            writeln!(self.body, "<polygon class=\"{class}\" points=\"{}\"/>", corners.join(" "));
    }

    pub(crate) fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{}\" y=\"{}\">{}</text>",
            fixed(at.0),
            fixed(at.1),
            escape::html(&text.replace(NBSP, " "))
        );
    }

    /// Draws the mark of one run; `tip` is shown when the pointer rests on it.
    pub(crate) fn mark(&mut self, shape: Shape, class: &str, at: (f64, f64), tip: &str) {
        let (x, y) = at;
        let tip = escape::html(tip);
        let around = |points: &[(f64, f64)]| {
            let points: Vec<String> = points
                .iter()
                .map(|(dx, dy)| format!("{},{}", fixed(x + dx), fixed(y + dy)))
                .collect();
            points.join(" ")
        };
        let _ = match shape {
            Shape::Circle => write!(
                self.body,
                "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"3.5\">",
                fixed(x),
                fixed(y)
            ),
            Shape::Cross => write!(
                self.body,
                "<path class=\"{class}\" d=\"M{} {}l8 8m0 -8l-8 8\">",
                fixed(x - 4.0),
                fixed(y - 4.0)
            ),
            Shape::Diamond | Shape::Square | Shape::Triangle => write!(
                self.body,
                "<polygon class=\"{class}\" points=\"{}\">",
                around(match shape {
                    Shape::Diamond => &[(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)],
                    Shape::Square => &[(-3.3, -3.3), (3.3, -3.3), (3.3, 3.3), (-3.3, 3.3)],
                    _ => &[(0.0, -4.4), (4.2, 3.4), (-4.2, 3.4)],
                })
            ),
        };
        let element = match shape {
            Shape::Circle => "circle",
            Shape::Cross => "path",
            Shape::Diamond | Shape::Square | Shape::Triangle => "polygon",
        };
        let _ = writeln!(self.body, "<title>{tip}</title></{element}>");
    }

    /// Returns the whole element.
    pub(crate) fn finish(self) -> String {
        format!("{}{}</svg>\n", self.head, self.body)
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
}

/// Returns the mark of a subject alone, for a legend: a drawing of 12 by 12.
pub(crate) fn key(index: usize) -> String {
    let mut svg = Svg { head: String::new(), body: String::new() };
    let class = format!("dot {}", subject_class(index));
    svg.mark(Shape::of_subject(index), &class, (6.0, 6.0), "");
    svg.body.replace("<title></title>", "").trim_end().to_owned()
}

/// Returns the class with the colour of the subject at `index`. Six colours and four shapes
/// repeat together only after twelve subjects.
pub(crate) fn subject_class(index: usize) -> String {
    format!("s{}", index % 6)
}

/// Returns the class that keeps many marks apart: without an outline and half transparent.
pub(crate) fn density_class(n_marks: usize) -> &'static str {
    const CROWDED: usize = 400;
    if n_marks > CROWDED { " dense" } else { "" }
}

/// Writes a coordinate with a fixed number of decimals, so that equal plots are equal texts.
fn fixed(value: f64) -> String {
    let text = format!("{value:.1}");
    if text == "-0.0" { "0.0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_says_what_it_shows_and_escapes_names() {
        let mut svg = Svg::new("p1", "<script>", "two & three", 20.0);
        svg.text("label", Anchor::End, (1.0 / 3.0, -0.01), "a<b");
        svg.mark(Shape::Diamond, "s1", (10.0, 10.0), "run 1");
        insta::assert_snapshot!(svg.finish(), @r#"
        <svg viewBox="0 0 720.0 20.0" role="img" aria-labelledby="p1-title p1-desc" xmlns="http://www.w3.org/2000/svg">
        <title id="p1-title">&lt;script&gt;</title>
        <desc id="p1-desc">two &amp; three</desc>
        <text class="label" text-anchor="end" x="0.3" y="0.0">a&lt;b</text>
        <polygon class="s1" points="10.0,5.4 14.6,10.0 10.0,14.6 5.4,10.0"><title>run 1</title></polygon>
        </svg>
        "#);
    }
}
