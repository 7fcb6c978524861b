//! Letters as outlines.

use tiny_skia::PathBuilder;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::single;
use crate::svg::Place;

/// The font `DejaVu Sans`, as far as pictures need it: `FONT-LICENSE.txt` says what is in it.
const FONT: &[u8] = include_bytes!("font.ttf");

/// The font, ready to be drawn.
pub(super) struct Letters {
    face: Face<'static>,
}

impl Letters {
    pub(super) fn new() -> Self {
        Self { face: Face::parse(FONT, 0).expect("the font is part of the program") }
    }

    /// Returns how much room a text takes.
    pub(super) fn width(&self, text: &str, size: f64) -> f64 {
        text.chars().map(|c| self.advance(self.glyph(c))).sum::<f64>() * self.scale(size)
    }

    /// Adds the outlines of a text whose first letter stands at this place.
    pub(super) fn write(&self, path: &mut PathBuilder, text: &str, size: f64, at: Place) {
        let scale = self.scale(size);
        let mut x = at.0;
        for c in text.chars() {
            let glyph = self.glyph(c);
            let mut outline = Outline { path, scale: single(scale), x: single(x), y: single(at.1) };
            // A space has none.
            let _ = self.face.outline_glyph(glyph, &mut outline);
            x += self.advance(glyph) * scale;
        }
    }

    /// Returns the glyph of a letter; a letter that the font lacks is an empty box.
    fn glyph(&self, c: char) -> GlyphId {
        self.face.glyph_index(c).unwrap_or(GlyphId(0))
    }

    fn advance(&self, glyph: GlyphId) -> f64 {
        f64::from(self.face.glyph_hor_advance(glyph).unwrap_or(0))
    }

    fn scale(&self, size: f64) -> f64 {
        size / f64::from(self.face.units_per_em())
    }
}

/// An outline on its way from the units of the font, which go up, to those of the picture, which go down.
struct Outline<'a> {
    path: &'a mut PathBuilder,
    scale: f32,
    x: f32,
    y: f32,
}

impl Outline<'_> {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.place(x1, y1), self.place(x2, y2));
        let (x, y) = self.place(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_that_pictures_write_has_a_glyph() {
        let letters = Letters::new();
        for c in "Az09 +-.,:%µ…·–±×≥▸◂éñßžΩЖ".chars() {
            assert!(letters.face.glyph_index(c).is_some(), "{c}");
        }
        assert!(letters.width("mm", 12.0) > letters.width("ii", 12.0));
    }
}
