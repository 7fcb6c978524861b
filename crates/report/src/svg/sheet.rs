//! Several pictures on one sheet, below each other, with a heading, a legend and their captions.

use super::{Anchor, Shape, Svg, WIDTH, subject_class};
use crate::pictures::Picture;
use crate::width::{printable, wrap};

/// Space around everything.
const MARGIN: f64 = 14.0;
/// From one line of text to the next.
const LINE: f64 = 17.0;
/// Letters of a line of text, and of one in the size of a heading.
const COLUMNS: usize = 104;
const HEADING_COLUMNS: usize = 78;

/// Draws pictures on one sheet. `heading` is what they show together, in lines; `legend` says what each subject is.
pub(crate) fn sheet(heading: &[String], legend: &[String], pictures: &[Picture]) -> Svg {
    let mut svg = Svg::new("sheet", &heading.join(" "), &descriptions(pictures), 0.0);
    let mut body = Svg::new("", "", "", 0.0);
    let mut y = MARGIN;
    for (index, line) in heading.iter().enumerate() {
        let (class, columns) =
            if index == 0 { ("heading", HEADING_COLUMNS) } else { ("caption", COLUMNS) };
        y = paragraph(&mut body, class, (MARGIN, y), columns, line);
    }
    y += 4.0;
    for (index, meaning) in legend.iter().enumerate() {
        let class = format!("dot {}", subject_class(index));
        body.mark(Shape::of_subject(index), &class, (MARGIN + 5.0, y + LINE - 8.0), meaning);
        y = paragraph(&mut body, "caption", (MARGIN + 18.0, y), COLUMNS - 4, meaning);
    }
    let mut section = "";
    for picture in pictures {
        y += MARGIN;
        if picture.section != section {
            section = picture.section;
            body.line("grid", (MARGIN, y), (WIDTH - MARGIN, y));
            y = paragraph(&mut body, "heading", (MARGIN, y + 4.0), HEADING_COLUMNS, section) + 6.0;
        }
        body.put(picture.drawing.clone(), y);
        y += picture.drawing.height + 2.0;
        y = paragraph(&mut body, "note", (MARGIN, y), COLUMNS, &picture.caption);
    }
    svg.height = y + MARGIN;
    svg.area("page", (0.0, 0.0), (WIDTH, svg.height));
    svg.put(body, 0.0);
    svg
}

/// Writes a text below a place, and returns where it ends.
fn paragraph(svg: &mut Svg, class: &str, at: (f64, f64), columns: usize, text: &str) -> f64 {
    let mut y = at.1;
    for line in wrap(&printable(text), columns) {
        y += LINE;
        svg.text(class, Anchor::Start, (at.0, y - 4.0), &line);
    }
    y
}

fn descriptions(pictures: &[Picture]) -> String {
    let each =
        pictures.iter().map(|one| format!("{}: {}", one.drawing.title, one.drawing.description));
    each.collect::<Vec<_>>().join(" ")
}
