//! A picture as pixels: a PNG file. Letters come from a font of its own, because a machine without a screen has none.

mod file;
mod letters;

use tiny_skia::{
    Color, FillRule, LineCap, Paint, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use self::letters::Letters;
use crate::svg::look::Look;
use crate::svg::tone::{Surroundings, Tone};
use crate::svg::{Anchor, Form, Place, RADIUS, Shape, Svg, WIDTH};

/// Pixels for one unit of a picture: its lines and letters stay sharp on fine screens and in print.
const SCALE: f32 = 2.0;

/// Most pixels of a picture: 400 MiB while it is drawn. Thousands of subjects have more.
const MOST: f64 = 100e6;

/// A picture with too many pixels for a PNG file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TooLarge;

/// Draws a picture on a light page.
pub(crate) fn of(svg: &Svg) -> Result<Vec<u8>, TooLarge> {
    let scale = f64::from(SCALE);
    let (width, height) = ((WIDTH * scale).ceil(), (svg.height * scale).ceil().max(1.0));
    if width * height > MOST {
        return Err(TooLarge);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fewer than MOST")]
    let mut pixmap = Pixmap::new(width as u32, height as u32).ok_or(TooLarge)?;
    pixmap.fill(color(Tone::Page, 1.0));
    let mut canvas = Canvas { pixmap, letters: Letters::new() };
    for element in &svg.elements {
        canvas.draw(&element.form, &Look::of(&element.class));
    }
    Ok(file::of(&canvas.pixmap))
}

struct Canvas {
    pixmap: Pixmap,
    letters: Letters,
}

impl Canvas {
    fn draw(&mut self, form: &Form, look: &Look) {
        let mut path = PathBuilder::new();
        match form {
            Form::Line(from, to) => open(&mut path, &[*from, *to]),
            Form::Area((left, top), (right, bottom)) => {
                let corners = [(*left, *top), (*right, *top), (*right, *bottom), (*left, *bottom)];
                closed(&mut path, &corners);
            }
            Form::Polygon(corners) => closed(&mut path, corners),
            Form::Path(places) => open(&mut path, places),
            Form::Ticks(places, (top, bottom)) => {
                for x in places {
                    open(&mut path, &[(*x, *top), (*x, *bottom)]);
                }
            }
            Form::Text(anchor, at, text) => return self.text(*anchor, *at, text, look),
            Form::Mark(shape, at, _) => mark(&mut path, *shape, *at),
        }
        self.paint(path, look);
    }

    fn paint(&mut self, path: PathBuilder, look: &Look) {
        let Some(path) = path.finish() else { return };
        let transform = Transform::from_scale(SCALE, SCALE);
        if let Some(tone) = look.fill {
            let paint = paint(tone, look.fill_opacity);
            self.pixmap.fill_path(&path, &paint, FillRule::Winding, transform, None);
        }
        if let Some(tone) = look.stroke {
            let stroke = Stroke {
                width: single(look.stroke_width),
                line_cap: LineCap::Butt,
                dash: look
                    .dash
                    .and_then(|(on, off)| StrokeDash::new(vec![single(on), single(off)], 0.0)),
                ..Stroke::default()
            };
            self.pixmap.stroke_path(&path, &paint(tone, 1.0), &stroke, transform, None);
        }
    }

    fn text(&mut self, anchor: Anchor, (x, y): Place, text: &str, look: &Look) {
        let size = look.size;
        let width = self.letters.width(text, size);
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        let mut path = PathBuilder::new();
        self.letters.write(&mut path, text, size, (left, y));
        let fill = look.fill.unwrap_or(Tone::Text);
        // One font is enough: bold letters have an outline.
        let stroke = look.bold.then_some(fill);
        let look = Look { fill: Some(fill), stroke, stroke_width: size / 24.0, ..*look };
        self.paint(path, &look);
    }
}

fn mark(path: &mut PathBuilder, shape: Shape, at: Place) {
    let corners: Vec<Place> = shape.corners().iter().map(|(x, y)| (at.0 + x, at.1 + y)).collect();
    match shape {
        Shape::Circle => path.push_circle(single(at.0), single(at.1), single(RADIUS)),
        Shape::Cross => corners.chunks(2).for_each(|stroke| open(path, stroke)),
        Shape::Diamond | Shape::Square | Shape::Triangle => closed(path, &corners),
    }
}

fn open(path: &mut PathBuilder, places: &[Place]) {
    for (index, (x, y)) in places.iter().enumerate() {
        let (x, y) = (single(*x), single(*y));
        if index == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
}

fn closed(path: &mut PathBuilder, places: &[Place]) {
    open(path, places);
    path.close();
}

fn paint(tone: Tone, opacity: f64) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(color(tone, opacity));
    paint
}

fn color(tone: Tone, opacity: f64) -> Color {
    let [red, green, blue, alpha] = tone.rgba(Surroundings::Light);
    let mut color = Color::from_rgba8(red, green, blue, alpha);
    color.apply_opacity(single(opacity));
    color
}

#[expect(clippy::cast_possible_truncation, reason = "pixels need no more digits")]
fn single(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_becomes_pixels_of_its_size_and_colours() {
        let mut svg = Svg::new("t", "title", "words", 40.0);
        svg.area("bar s0", (0.0, 0.0), (WIDTH, 20.0));
        svg.text("label", Anchor::Start, (10.0, 36.0), "Größe µs ▸");
        let png = of(&svg).unwrap();
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!((number(16), number(20)), (1440, 80));
        assert_eq!(png, of(&svg).unwrap(), "the same picture gives the same bytes");
    }

    #[test]
    fn open_lines_and_ticks_are_pixels_too() {
        let empty = of(&Svg::new("t", "", "", 40.0)).unwrap();
        let mut path = Svg::new("t", "", "", 40.0);
        path.path("curve l0", vec![(0.0, 0.0), (100.0, 20.0), (200.0, 0.0)]);
        let mut ticks = Svg::new("t", "", "", 40.0);
        ticks.ticks("rug", vec![10.0, 20.0], (5.0, 15.0));
        let [path, ticks] = [path, ticks].map(|svg| of(&svg).unwrap());
        assert!(path != empty && ticks != empty && path != ticks);
    }

    #[test]
    fn a_picture_that_no_memory_holds_is_refused() {
        assert_eq!(of(&Svg::new("t", "", "", 1e9)), Err(TooLarge));
    }
}
