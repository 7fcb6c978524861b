//! A series in the size of a word: every value a dot, and the levels before and after a change.

use std::fmt::Write as _;

use becalm_stats::center::median_of;

use crate::axis::Axis;
use crate::escape;

const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 40.0;

/// Draws values in their order, with a change at the value of this index. `words` are what a screen reader says.
pub(super) fn spark(values: &[f64], change: Option<usize>, words: &str) -> String {
    let Some(axis) = Axis::without_far_values(&[values]) else { return String::new() };
    let axis = axis.widened(0.08);
    let across = Axis::between(-0.5, values.len() as f64 - 0.5);
    let x = |index: f64| 2.0 + (index - across.low) / (across.high - across.low) * (WIDTH - 4.0);
    let y = |value: f64| {
        let share = ((value - axis.low) / (axis.high - axis.low)).clamp(0.0, 1.0);
        HEIGHT - 2.0 - share * (HEIGHT - 4.0)
    };
    let mut out = format!(
        "<svg class=\"spark\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"xMinYMid\" role=\"img\" aria-label=\"{}\">",
        escape::html(words)
    );
    let mut dots = String::new();
    for (index, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        let _ = write!(dots, "M{:.1} {:.1}h0", x(index as f64), y(*value));
    }
    let _ = write!(out, "<path class=\"spark-dots\" d=\"{dots}\"/>");
    if let Some(at) = change.filter(|at| (1..values.len()).contains(at)) {
        for (from, to) in [(0, at), (at, values.len())] {
            let finite = values[from..to].iter().copied().filter(|value| value.is_finite());
            let level = y(median_of(&mut finite.collect::<Vec<_>>()));
            let (left, right) = (x(from as f64 - 0.5), x(to as f64 - 0.5));
            let _ =
                write!(out, "<path class=\"spark-level\" d=\"M{left:.1} {level:.1}H{right:.1}\"/>");
        }
    }
    out.push_str("</svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_a_dot_and_a_change_has_two_levels() {
        let drawn = spark(&[1.0, 1.0, 2.0, f64::NAN], Some(2), "a <change>");
        let counted = ["h0", "spark-level"].map(|part| drawn.matches(part).count());
        assert_eq!(counted, [3, 2], "{drawn}");
        assert!(drawn.contains("aria-label=\"a &lt;change&gt;\""), "{drawn}");
        assert_eq!(spark(&[], None, ""), "");
        assert_eq!(spark(&[3.0], Some(0), "").matches("spark-level").count(), 0);
    }
}
