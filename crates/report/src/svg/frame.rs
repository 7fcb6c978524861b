//! The area of a plot inside its axes.

use becalm_model::Unit;

use super::{Anchor, Svg, WIDTH};
use crate::axis::Axis;
use crate::quantity::Scale;
use crate::scan::Ruled;

/// Half the width of a digit, where a narrow screen has larger ones.
const HALF_DIGIT: f64 = 5.5;

/// A plot area with a horizontal and a vertical axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    /// Leaves room for numbers on the left and below.
    pub(crate) fn new(left: f64, height: f64) -> Self {
        Self { left, right: WIDTH - 14.0, top: 14.0, bottom: height - 40.0 }
    }

    /// Also leaves room for a line of words above, where a narrow screen has larger ones.
    pub(crate) fn with_words_above(left: f64, height: f64) -> Self {
        Self { top: 24.0, ..Self::new(left, height) }
    }

    /// Returns the horizontal place of a value; values beyond the axis stay at its ends.
    pub(crate) fn x(&self, axis: &Axis, value: f64) -> f64 {
        let share = ((value - axis.low) / (axis.high - axis.low)).clamp(0.0, 1.0);
        self.left + share * (self.right - self.left)
    }

    /// Returns the vertical place of a value; values beyond the axis stay at its ends.
    pub(crate) fn y(&self, axis: &Axis, value: f64) -> f64 {
        let share = ((value - axis.low) / (axis.high - axis.low)).clamp(0.0, 1.0);
        self.bottom - share * (self.bottom - self.top)
    }

    /// Draws a value axis along the bottom, with lines up through the plot.
    pub(crate) fn bottom_axis(&self, svg: &mut Svg, axis: &Axis, scale: &Scale, name: &str) {
        let (ticks, decimals) = axis.ticks(7, scale);
        let shown = scale.with_decimals(decimals);
        for tick in ticks {
            let x = self.x(axis, tick);
            svg.line("grid", (x, self.top), (x, self.bottom));
            let number = shown.number(tick);
            svg.text("tick", below(x, &number), (x, self.bottom + 16.0), &number);
        }
        svg.line("axis", (self.left, self.bottom), (self.right, self.bottom));
        self.bottom_name(svg, &titled(name, scale));
    }

    /// Writes the name of the bottom axis.
    pub(crate) fn bottom_name(&self, svg: &mut Svg, name: &str) {
        let middle = f64::midpoint(self.left, self.right);
        svg.text("axis-name", Anchor::Middle, (middle, self.bottom + 34.0), name);
    }

    /// Draws a value axis up the left side, with lines across the plot.
    pub(crate) fn left_axis(&self, svg: &mut Svg, axis: &Axis, scale: &Scale, signed: bool) {
        let (ticks, decimals) = axis.ticks(6, scale);
        let shown = scale.with_decimals(decimals);
        for tick in ticks {
            let y = self.y(axis, tick);
            svg.line("grid", (self.left, y), (self.right, y));
            let sign = if signed && tick > (axis.high - axis.low) * 1e-9 { "+" } else { "" };
            let number = shown.with_unit(tick);
            // A tick that should be 0 may have come out as -0.
            let zero = number.trim_start_matches('-').chars().all(|c| !('1'..='9').contains(&c));
            let number = if zero { number.trim_start_matches('-') } else { &number };
            let at = (self.left - 6.0, y + 4.0);
            svg.text("tick", Anchor::End, at, &format!("{sign}{number}"));
        }
        svg.line("axis", (self.left, self.top), (self.left, self.bottom));
    }

    /// Draws an axis by distances or by ratios up the left side, with lines across the plot.
    pub(crate) fn ruled_axis(&self, svg: &mut Svg, up: &Ruled, unit: &Unit, scale: &Scale) {
        if !up.is_logarithmic {
            return self.left_axis(svg, &up.axis, scale, false);
        }
        for tick in up.ticks() {
            let y = self.y(&up.axis, up.place(tick));
            svg.line("grid decade", (self.left, y), (self.right, y));
            let shown = Scale::of(unit, [tick], true).with_decimals(0);
            svg.text("tick", Anchor::End, (self.left - 6.0, y + 4.0), &shown.with_unit(tick));
        }
        svg.line("axis", (self.left, self.top), (self.left, self.bottom));
    }

    /// Draws whole numbers along the bottom, for runs and rounds.
    pub(crate) fn counting_axis(&self, svg: &mut Svg, axis: &Axis, name: &str) {
        let scale = Scale::of(&Unit::Count, [axis.high.round()], true);
        let (ticks, _) = axis.ticks(8, &scale);
        // Between few runs there are steps of less than one.
        let is_whole = |tick: &f64| (tick - tick.round()).abs() < 1e-9;
        for tick in ticks.into_iter().filter(is_whole) {
            let at = (self.x(axis, tick), self.bottom + 16.0);
            let number = format!("{tick:.0}");
            svg.text("tick", below(at.0, &number), at, &number);
        }
        svg.line("axis", (self.left, self.bottom), (self.right, self.bottom));
        self.bottom_name(svg, name);
    }
}

/// Returns how a number stands below its place: a long one at the end would run out of the picture.
pub(crate) fn below(x: f64, number: &str) -> Anchor {
    if x + HALF_DIGIT * number.len() as f64 > WIDTH { Anchor::End } else { Anchor::Middle }
}

fn titled(name: &str, scale: &Scale) -> String {
    if scale.unit().is_empty() { name.to_owned() } else { format!("{name} ({})", scale.unit()) }
}
