//! How the parts of a picture look, by their class: one table for pages, for files and for pixels.

use std::fmt::Write as _;

use super::tone::{SUBJECTS, Surroundings, Tone};

/// How one part looks. `None` is no paint.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Look {
    pub(crate) fill: Option<Tone>,
    pub(crate) fill_opacity: f64,
    pub(crate) stroke: Option<Tone>,
    pub(crate) stroke_width: f64,
    pub(crate) dash: Option<(f64, f64)>,
    pub(crate) bold: bool,
    /// Size of letters.
    pub(crate) size: f64,
}

/// Size of letters where a class says nothing else.
const SIZE: f64 = 12.0;

/// Width of a curve.
const CURVE: f64 = 1.8;

/// One thing that a class says.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    Fill(Tone),
    Hollow,
    Opacity(f64),
    Stroke(Tone, f64),
    NoStroke,
    Dash(f64, f64),
    Bold,
    Size(f64),
}

use Says::{Bold, Dash, Fill, Hollow, NoStroke, Opacity, Size, Stroke};

/// Classes in the order in which they overrule each other.
const CLASSES: [(&str, &[Says]); 33] = [
    ("text", &[Fill(Tone::Text)]),
    ("tick", &[Fill(Tone::Quiet)]),
    ("axis-name", &[Fill(Tone::Quiet)]),
    ("note", &[Fill(Tone::Quiet)]),
    ("label", &[Bold]),
    ("heading", &[Bold, Size(15.0)]),
    ("grid", &[Stroke(Tone::Line, 0.7)]),
    ("axis", &[Stroke(Tone::Quiet, 1.0)]),
    ("zero", &[Stroke(Tone::Text, 1.2)]),
    ("estimate", &[Stroke(Tone::Subject(1), 1.6), Dash(7.0, 4.0)]),
    ("interval", &[Stroke(Tone::Text, 1.6)]),
    ("median", &[Stroke(Tone::Text, 2.6)]),
    ("margin-band", &[Fill(Tone::Margin)]),
    ("edged", &[Stroke(Tone::Equivalent, 0.9)]),
    ("interval-band", &[Fill(Tone::Interval)]),
    ("warmup", &[Fill(Tone::Warmup)]),
    ("page", &[Fill(Tone::Page)]),
    ("dot", &[Opacity(0.78), Stroke(Tone::Page, 0.6)]),
    ("bar", &[Opacity(0.78), Stroke(Tone::Page, 0.6)]),
    ("span", &[Opacity(0.78)]),
    ("dense", &[Opacity(0.4), NoStroke]),
    ("heat1", &[Fill(Tone::Subject(0)), Opacity(0.15)]),
    ("heat2", &[Fill(Tone::Subject(0)), Opacity(0.35)]),
    ("heat3", &[Fill(Tone::Subject(0)), Opacity(0.6)]),
    ("heat4", &[Fill(Tone::Subject(0)), Opacity(0.95)]),
    ("faint", &[Opacity(0.3)]),
    ("beyond", &[Hollow, Stroke(Tone::Quiet, 1.4)]),
    ("cross", &[Hollow, Stroke(Tone::Text, 1.8)]),
    ("curve", &[Hollow]),
    ("rug", &[Hollow, Stroke(Tone::Quiet, 0.8)]),
    ("joined", &[Stroke(Tone::Quiet, 1.0)]),
    ("steady", &[Stroke(Tone::Text, 1.6), Dash(7.0, 4.0)]),
    ("at-least", &[Dash(3.0, 3.0)]),
];

impl Look {
    /// Returns how a part of these classes looks; a text needs no class for the colour of text.
    pub(crate) fn of(classes: &str) -> Self {
        let mut look = Self { fill_opacity: 1.0, size: SIZE, ..Self::default() };
        let names: Vec<&str> = classes.split(' ').collect();
        for (_, says) in CLASSES.iter().filter(|(name, _)| names.contains(name)) {
            says.iter().for_each(|says| look.apply(*says));
        }
        for name in names {
            let index = |prefix| name.strip_prefix(prefix).and_then(|index| index.parse().ok());
            if let Some(subject) = index('s') {
                look.apply(Fill(Tone::Subject(subject)));
            }
            if let Some(subject) = index('l') {
                look.apply(Stroke(Tone::Subject(subject), CURVE));
            }
        }
        look
    }

    fn apply(&mut self, says: Says) {
        match says {
            Fill(tone) => self.fill = Some(tone),
            Hollow => self.fill = None,
            Opacity(share) => self.fill_opacity = share,
            Stroke(tone, width) => (self.stroke, self.stroke_width) = (Some(tone), width),
            NoStroke => self.stroke = None,
            Dash(on, off) => self.dash = Some((on, off)),
            Bold => self.bold = true,
            Size(size) => self.size = size,
        }
    }
}

/// Returns the rules of a style sheet for pictures, with what `colour` writes for a colour.
pub(crate) fn rules(colour: impl Fn(Tone) -> String) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "svg text {{ font: {SIZE}px system-ui, \"DejaVu Sans\", sans-serif; }}");
    let of_subject = |index: u8| {
        let tone = Tone::Subject(index);
        [(format!("s{index}"), [Fill(tone)]), (format!("l{index}"), [Stroke(tone, CURVE)])]
    };
    let subjects: Vec<(String, [Says; 1])> = (0..SUBJECTS).flat_map(of_subject).collect();
    let subjects = subjects.iter().map(|(name, says)| (name.as_str(), says.as_slice()));
    for (name, says) in CLASSES.into_iter().chain(subjects) {
        let selector = if name == "text" { "svg text".to_owned() } else { format!("svg .{name}") };
        let _ = write!(out, "{selector} {{");
        for says in says {
            let _ = match *says {
                Fill(tone) => write!(out, " fill: {};", colour(tone)),
                Hollow => write!(out, " fill: none;"),
                Opacity(share) => write!(out, " fill-opacity: {share};"),
                Stroke(tone, width) => {
                    write!(out, " stroke: {}; stroke-width: {width};", colour(tone))
                }
                NoStroke => write!(out, " stroke: none;"),
                Dash(on, off) => write!(out, " stroke-dasharray: {on} {off};"),
                Bold => write!(out, " font-weight: 600;"),
                Size(size) => write!(out, " font-size: {size}px;"),
            };
        }
        out.push_str(" }\n");
    }
    out
}

/// Returns the style sheet of a picture that stands alone: light, and dark where the viewer is.
pub(crate) fn alone() -> String {
    let light = rules(|tone| tone.css(Surroundings::Light));
    let dark = rules(|tone| tone.css(Surroundings::Dark));
    format!("{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_overrule_each_other_by_their_place_in_the_table() {
        let look = Look::of("dot s1 dense");
        assert_eq!((look.fill, look.stroke), (Some(Tone::Subject(1)), None));
        assert!((look.fill_opacity - 0.4).abs() < 1e-9);
        assert_eq!(Look::of("cross").fill, None);
        assert_eq!(Look::of("text tick").fill, Some(Tone::Quiet));
    }
}
