//! The colours of pages and pictures, each for light and dark surroundings.

use std::fmt::Write as _;

/// A colour by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// What everything stands on.
    Page,
    /// Boxes on the page.
    Panel,
    Text,
    /// Text beside the matter, and axes.
    Quiet,
    /// Lines that only guide the eye.
    Line,
    Faster,
    Slower,
    Equivalent,
    Inconclusive,
    /// One of the six colours of subjects.
    Subject(u8),
    /// The band of the margin.
    Margin,
    /// The band of an interval.
    Interval,
    /// What was left out as warm-up.
    Warmup,
}

/// Colours of subjects; with the shapes of their marks they repeat after twelve.
pub(crate) const SUBJECTS: u8 = 6;

const ALL: [Tone; 18] = [
    Tone::Page,
    Tone::Panel,
    Tone::Text,
    Tone::Quiet,
    Tone::Line,
    Tone::Faster,
    Tone::Slower,
    Tone::Equivalent,
    Tone::Inconclusive,
    Tone::Subject(0),
    Tone::Subject(1),
    Tone::Subject(2),
    Tone::Subject(3),
    Tone::Subject(4),
    Tone::Subject(5),
    Tone::Margin,
    Tone::Interval,
    Tone::Warmup,
];

/// What a picture stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surroundings {
    Light,
    Dark,
}

impl Tone {
    /// Red, green, blue and opacity.
    pub(crate) fn rgba(self, on: Surroundings) -> [u8; 4] {
        let (light, dark): (u32, u32) = match self {
            Self::Page => (0xffff_ffff, 0x1417_1bff),
            Self::Panel => (0xf5f6_f8ff, 0x1d22_27ff),
            Self::Text => (0x1b1f_24ff, 0xe6e8_ebff),
            Self::Quiet => (0x5b64_70ff, 0x9ba5_b1ff),
            Self::Line => (0xd5d9_dfff, 0x353c_45ff),
            Self::Faster => (0x0a70_40ff, 0x5fce_95ff),
            Self::Slower => (0xb326_1eff, 0xff8f_84ff),
            Self::Equivalent => (0x1f5f_a8ff, 0x82b9_ffff),
            Self::Inconclusive => (0x8a5a_00ff, 0xf0bd_5eff),
            Self::Subject(index) => match index % SUBJECTS {
                0 => (0x0072_b2ff, 0x56b4_e9ff),
                1 => (0xd55e_00ff, 0xff9a_4dff),
                2 => (0x009e_73ff, 0x3fcf_9fff),
                3 => (0xaa44_99ff, 0xdd8f_d0ff),
                4 => (0x7a6a_00ff, 0xd9c8_4aff),
                _ => (0x5d6b_7aff, 0xa9b6_c4ff),
            },
            Self::Margin => (0x1f5f_a81c, 0x82b9_ff22),
            Self::Interval => (0xd55e_0038, 0xff9a_4d40),
            Self::Warmup => (0x0000_0010, 0xffff_ff14),
        };
        match on {
            Surroundings::Light => light.to_be_bytes(),
            Surroundings::Dark => dark.to_be_bytes(),
        }
    }

    /// Writes it as CSS: `#0072b2`, or with its opacity where it is not full.
    pub(crate) fn css(self, on: Surroundings) -> String {
        let [red, green, blue, opacity] = self.rgba(on);
        match opacity {
            u8::MAX => format!("#{red:02x}{green:02x}{blue:02x}"),
            opacity => format!("#{red:02x}{green:02x}{blue:02x}{opacity:02x}"),
        }
    }

    /// Returns the name of its CSS variable.
    pub(crate) fn variable(self) -> String {
        match self {
            Self::Subject(index) => format!("--s{}", index % SUBJECTS),
            other => format!("--{other:?}").to_lowercase(),
        }
    }
}

/// Returns the style sheet that gives every variable its value, by the reader's preference.
pub(crate) fn variables() -> String {
    let all = |on: Surroundings| {
        let mut out = String::new();
        for tone in ALL {
            let _ = write!(out, " {}: {};", tone.variable(), tone.css(on));
        }
        out
    };
    format!(
        ":root {{ color-scheme: light dark;{} }}\n\
         @media screen and (prefers-color-scheme: dark) {{ :root {{{} }} }}\n",
        all(Surroundings::Light),
        all(Surroundings::Dark)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tone_has_a_variable_of_its_own() {
        let names: std::collections::BTreeSet<String> = ALL.map(Tone::variable).into();
        assert_eq!(names.len(), ALL.len());
        assert!(names.contains("--s5") && names.contains("--inconclusive"), "{names:?}");
        assert_eq!(Tone::Margin.css(Surroundings::Light), "#1f5fa81c");
    }

    /// The contrast of two colours by WCAG 2.1.
    fn contrast(one: Tone, other: Tone, on: Surroundings) -> f64 {
        let luminance = |tone: Tone| {
            let [red, green, blue, _] = tone.rgba(on).map(|part| {
                let share = f64::from(part) / 255.0;
                if share <= 0.03928 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let (one, other) = (luminance(one), luminance(other));
        one.max(other) / one.min(other)
    }

    #[test]
    fn words_and_marks_can_be_seen_on_both_pages() {
        for on in [Surroundings::Light, Surroundings::Dark] {
            for tone in [Tone::Text, Tone::Quiet, Tone::Faster, Tone::Slower, Tone::Inconclusive] {
                for ground in [Tone::Page, Tone::Panel] {
                    assert!(contrast(tone, ground, on) >= 4.5, "{tone:?} on {ground:?}, {on:?}");
                }
            }
            for subject in (0..SUBJECTS).map(Tone::Subject) {
                assert!(contrast(subject, Tone::Page, on) >= 3.0, "{subject:?}, {on:?}");
            }
        }
    }
}
