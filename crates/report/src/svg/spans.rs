//! Values in order that are too many for a mark each: for each place of the axis a bar from the lowest to the highest there.
//! Nothing is outside of the bars, and a picture of any number of values has a bounded size.

use std::collections::BTreeMap;

use super::frame::Frame;
use super::{Place, Shape, Svg};

/// Marks that a picture has at most, in place of bars.
pub(super) const MOST_MARKS: usize = 1500;

/// Bars beside each other.
const PLACES: f64 = 300.0;

/// Half the least height of a bar: values that are equal still have to be seen.
const SEEN: f64 = 0.8;

/// Draws the bars of these places in a frame; the middle half of each is darker.
pub(super) fn spans(
    svg: &mut Svg,
    frame: &Frame,
    class: &str,
    places: impl IntoIterator<Item = Place>,
) {
    let outer = format!("{class} dense");
    for (bar, heights) in bars(frame, places) {
        let [left, right] = [bar, bar + 1].map(|edge| edge_at(frame, edge));
        let last = heights.len() - 1;
        let mut area = |class: &str, top: usize, bottom: usize| {
            svg.area(class, (left, heights[top] - SEEN), (right, heights[bottom] + SEEN));
        };
        if last > 0 {
            area(&outer, 0, last);
        }
        area(class, last / 4, last - last / 4);
    }
}

/// Draws crosses at the highest and the lowest of each bar.
pub(super) fn crosses_at_ends(
    svg: &mut Svg,
    frame: &Frame,
    places: impl IntoIterator<Item = Place>,
    tip: &str,
) {
    for (bar, heights) in bars(frame, places) {
        let x = f64::midpoint(edge_at(frame, bar), edge_at(frame, bar + 1));
        svg.mark(Shape::Cross, "cross", (x, heights[0]), tip);
        if let [_, .., bottom] = heights[..] {
            svg.mark(Shape::Cross, "cross", (x, bottom), tip);
        }
    }
}

fn edge_at(frame: &Frame, edge: usize) -> f64 {
    frame.left + (frame.right - frame.left) * edge as f64 / PLACES
}

/// Returns where the places of each bar are from the top, in rising order; there is at least one.
fn bars(frame: &Frame, places: impl IntoIterator<Item = Place>) -> BTreeMap<usize, Vec<f64>> {
    let mut bars = BTreeMap::<usize, Vec<f64>>::new();
    for (x, y) in places {
        let share = (x - frame.left) / (frame.right - frame.left);
        let bar = becalm_model::place((share * PLACES).floor().clamp(0.0, PLACES - 1.0));
        bars.entry(bar).or_default().push(y);
    }
    for heights in bars.values_mut() {
        heights.sort_by(f64::total_cmp);
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Form;

    #[test]
    fn every_value_is_within_the_bar_of_its_place() {
        let frame = Frame { left: 0.0, right: 300.0, top: 0.0, bottom: 100.0 };
        let places: Vec<Place> =
            (0..30_000_u32).map(|i| (f64::from(i) / 100.0, f64::from(i * 7919 % 100))).collect();
        let mut svg = Svg::new("s", "s", "s", 100.0);
        spans(&mut svg, &frame, "span", places.iter().copied().chain([(150.0, 300.0)]));
        let bars: Vec<(Place, Place)> = (svg.elements.iter())
            .filter(|element| element.class == "span dense")
            .map(|element| match element.form {
                Form::Area(from, to) => (from, to),
                _ => panic!("{element:?}"),
            })
            .collect();
        assert_eq!(bars.len(), 300);
        for (x, y) in places.into_iter().chain([(150.0, 300.0)]) {
            let is_within = |((left, top), (right, bottom)): &(Place, Place)| {
                (*left..=*right).contains(&x) && (*top..=*bottom).contains(&y)
            };
            assert!(bars.iter().any(is_within), "{x}, {y}");
        }
    }
}
