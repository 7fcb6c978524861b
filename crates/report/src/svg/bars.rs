//! Numbers in rows over one axis by ratios: each a bar from a common start, or a mark, with its interval.

use super::frame::Frame;
use super::{Anchor, NAME, ROWS_FROM, Shape, Svg, row_names, subject_class};
use crate::bars::{Bars, Mark, is_drawn};

const ROW: f64 = 44.0;
/// Half the height of a bar.
const HALF: f64 = 6.5;
/// Distance from the name of a row to the middle of its bars.
const BELOW_NAME: f64 = 14.0;
/// Half the width of a number on the axis.
const HALF_NUMBER: f64 = 16.0;
/// One line of the legend.
const LINE: f64 = 19.0;

/// Draws all rows. Returns nothing when there is no number above 0 to draw.
pub(crate) fn bars(picture: &Bars<'_>, id: &str) -> Option<Svg> {
    let across = picture.across()?;
    let legend = if picture.legend.is_empty() { 0.0 } else { LINE };
    let height = ROW * picture.rows.len() as f64 + 54.0 + legend;
    let mut svg = Svg::new(id, picture.title, picture.in_words, height);
    let frame = Frame { top: 14.0 + legend, ..Frame::new(ROWS_FROM, height) };
    let x = |value: f64| frame.x(&across.axis, across.place(value));
    for (style, name) in picture.legend.iter().enumerate() {
        let at = frame.left + 6.0 + 200.0 * style as f64;
        let class = format!("dot {}", subject_class(style));
        svg.mark(Shape::of_subject(style), &class, (at, 12.0), name);
        svg.text("text", Anchor::Start, (at + 10.0, 16.0), name);
    }
    for tick in across.ticks() {
        svg.line("grid", (x(tick), frame.top), (x(tick), frame.bottom));
        let at = (x(tick), frame.bottom + 16.0);
        // A number at an end would run out of the picture.
        let anchor = match at.0 {
            x if x > frame.right - HALF_NUMBER => Anchor::End,
            x if x < frame.left + HALF_NUMBER => Anchor::Start,
            _ => Anchor::Middle,
        };
        svg.text("tick", anchor, at, &(picture.number)(tick));
    }
    svg.line("axis", (frame.left, frame.bottom), (frame.right, frame.bottom));
    frame.bottom_name(&mut svg, picture.axis);
    let names: Vec<&str> = picture.rows.iter().map(|row| row.label).collect();
    for ((at, row), name) in picture.rows.iter().enumerate().zip(row_names(&names)) {
        let top = frame.top + ROW * at as f64;
        svg.text("label", Anchor::Start, (frame.left, top + NAME), &name);
        svg.text("note", Anchor::End, (frame.right - 4.0, top + NAME), &row.note);
        let y = top + NAME + BELOW_NAME;
        let drawn: Vec<&Mark> = row.marks.iter().filter(|mark| is_drawn(mark.value)).collect();
        if let (None, [first, .., last]) = (picture.from, drawn.as_slice()) {
            svg.line("joined", (x(first.value), y), (x(last.value), y));
        }
        if let Some(from) = picture.from {
            // Not all the way up, where it would cross out the notes.
            svg.line("zero", (x(from), y - HALF - 4.0), (x(from), y + HALF + 4.0));
        }
        for mark in drawn {
            if let Some(from) = picture.from {
                let class = format!("bar {}", subject_class(mark.style));
                svg.area(&class, (x(from), y - HALF), (x(mark.value), y + HALF));
            }
            if let Some((low, high)) = mark.drawn_interval() {
                svg.line("interval", (x(low), y), (x(high), y));
                for end in [low, high] {
                    svg.line("interval", (x(end), y - 4.0), (x(end), y + 4.0));
                }
            }
            let class = format!("dot {}", subject_class(mark.style));
            svg.mark(Shape::of_subject(mark.style), &class, (x(mark.value), y), &mark.tip);
        }
    }
    Some(svg)
}
