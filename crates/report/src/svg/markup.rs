//! A picture written as SVG.

use std::fmt::Write as _;

use super::{Anchor, Element, Form, Place, RADIUS, Shape, Svg, WIDTH, look, subject_class};
use crate::escape;

/// Writes a picture for a page, which has the style sheet.
pub(crate) fn within(svg: &Svg) -> String {
    format!("{}{}</svg>\n", head(svg, ""), body(&svg.elements))
}

/// Writes a picture for a page with links on top, which are SVG: their texts are read, and not only what the picture says
/// of itself.
pub(crate) fn with_links(svg: &Svg, links: &str) -> String {
    let head = head(svg, "").replacen("role=\"img\"", "role=\"group\"", 1);
    format!("{head}{}{links}</svg>\n", body(&svg.elements))
}

/// Writes a picture as a file of its own.
pub(crate) fn alone(svg: &Svg) -> String {
    let size = format!(" width=\"{}\" height=\"{}\"", fixed(WIDTH), fixed(svg.height));
    format!(
        "{}<style>\nsvg {{ max-width: 100%; height: auto; }}\n{}</style>\n{}</svg>\n",
        head(svg, &size),
        look::alone(),
        body(&svg.elements)
    )
}

/// Returns the mark of a subject alone, for a legend: a drawing of 12 by 12.
pub(crate) fn key(index: usize) -> String {
    let class = format!("dot {}", subject_class(index));
    let form = Form::Mark(Shape::of_subject(index), (6.0, 6.0), String::new());
    let element = Element { class, form };
    body(&[element]).replace("<title></title>", "").trim_end().to_owned()
}

fn head(svg: &Svg, size: &str) -> String {
    let (id, title) = (&svg.id, escape::html(&svg.title));
    format!(
        "<svg viewBox=\"0 0 {} {}\"{size} role=\"img\" aria-labelledby=\"{id}-title {id}-desc\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n<title id=\"{id}-title\">{title}</title>\n\
         <desc id=\"{id}-desc\">{}</desc>\n",
        fixed(WIDTH),
        fixed(svg.height),
        escape::html(&svg.description)
    )
}

fn body(elements: &[Element]) -> String {
    let mut out = String::new();
    for element in elements {
        write(&mut out, element);
    }
    out
}

fn write(out: &mut String, Element { class, form }: &Element) {
    let _ = match form {
        Form::Line(from, to) => writeln!(
            out,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            fixed(from.0),
            fixed(from.1),
            fixed(to.0),
            fixed(to.1)
        ),
        Form::Area(from, to) => writeln!(
            out,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            fixed(from.0.min(to.0)),
            fixed(from.1.min(to.1)),
            fixed((to.0 - from.0).abs()),
            fixed((to.1 - from.1).abs())
        ),
        Form::Polygon(corners) => {
            let points = points(corners, (0.0, 0.0));
            writeln!(out, "<polygon class=\"{class}\" points=\"{points}\"/>")
        }
        Form::Path(places) => {
            let points = points(places, (0.0, 0.0));
            writeln!(out, "<polyline class=\"{class}\" points=\"{points}\"/>")
        }
        Form::Ticks(places, (top, bottom)) => {
            let (top, down) = (fixed(*top), fixed(bottom - top));
            let one = |place: &f64| format!("M{} {top}v{down}", fixed(*place));
            let all: String = places.iter().map(one).collect();
            writeln!(out, "<path class=\"{class}\" d=\"{all}\"/>")
        }
        Form::Text(anchor, at, text) => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            writeln!(
                out,
                "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{}\" y=\"{}\">{}</text>",
                fixed(at.0),
                fixed(at.1),
                escape::html(text)
            )
        }
        Form::Mark(shape, at, tip) => mark(out, *shape, class, *at, tip),
    };
}

fn mark(
    out: &mut String,
    shape: Shape,
    class: &str,
    at: Place,
    tip: &str,
) -> Result<(), std::fmt::Error> {
    let tip = escape::html(tip);
    match shape {
        Shape::Circle => writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{RADIUS}\"><title>{tip}</title></circle>",
            fixed(at.0),
            fixed(at.1)
        ),
        Shape::Cross => writeln!(
            out,
            "<path class=\"{class}\" d=\"M{} {}l8 8m0 -8l-8 8\"><title>{tip}</title></path>",
            fixed(at.0 - 4.0),
            fixed(at.1 - 4.0)
        ),
        Shape::Diamond | Shape::Square | Shape::Triangle => writeln!(
            out,
            "<polygon class=\"{class}\" points=\"{}\"><title>{tip}</title></polygon>",
            points(shape.corners(), at)
        ),
    }
}

fn points(corners: &[Place], around: Place) -> String {
    let one = |(x, y): &Place| format!("{},{}", fixed(around.0 + x), fixed(around.1 + y));
    corners.iter().map(one).collect::<Vec<_>>().join(" ")
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
        insta::assert_snapshot!(within(&svg), @r#"
        <svg viewBox="0 0 720.0 20.0" role="img" aria-labelledby="p1-title p1-desc" xmlns="http://www.w3.org/2000/svg">
        <title id="p1-title">&lt;script&gt;</title>
        <desc id="p1-desc">two &amp; three</desc>
        <text class="label" text-anchor="end" x="0.3" y="0.0">a&lt;b</text>
        <polygon class="s1" points="10.0,5.4 14.6,10.0 10.0,14.6 5.4,10.0"><title>run 1</title></polygon>
        </svg>
        "#);
    }
}
