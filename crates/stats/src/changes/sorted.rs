//! The values on both sides of one split after another, in ascending order.

use super::order::Order;

/// The values of both sides of a split, each in ascending order.
///
/// Going on to a split next to it takes values away and puts others in, which is a fraction of sorting them.
pub(super) struct Sorted<'a> {
    values: &'a [f64],
    order: &'a Order,
    /// How many values before a split count at most.
    reach: usize,
    /// Places of the values before the split.
    places: (usize, usize),
    before: Vec<f64>,
    after: Vec<f64>,
}

impl<'a> Sorted<'a> {
    /// Begins with no split, of values of which this is the order; at most `reach` values before one count.
    pub(super) fn new(values: &'a [f64], order: &'a Order, reach: usize) -> Self {
        let end = values.len();
        Self { values, order, reach, places: (end, end), before: Vec::new(), after: Vec::new() }
    }

    /// Goes on to a split that is not after the one before: the values before it that count, and all after it.
    pub(super) fn at(&mut self, split: usize) -> [&[f64]; 2] {
        let (from, to) = self.places;
        let first = split.saturating_sub(self.reach);
        if split <= from {
            self.before = self.order.sorted(|place| (first..split).contains(&place));
            self.after = self.order.sorted(|place| place >= split);
        } else {
            for value in &self.values[split..to] {
                take(&mut self.before, *value);
                put(&mut self.after, *value);
            }
            for value in &self.values[first..from] {
                put(&mut self.before, *value);
            }
        }
        self.places = (first, split);
        [&self.before, &self.after]
    }
}

fn put(sorted: &mut Vec<f64>, value: f64) {
    sorted.insert(sorted.partition_point(|one| *one < value), value);
}

fn take(sorted: &mut Vec<f64>, value: f64) {
    sorted.remove(sorted.partition_point(|one| *one < value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    const REACH: usize = 100;

    #[test]
    fn going_on_gives_what_sorting_gives() {
        let mut rng = Rng::new(8);
        for n in [12, 90, 150, 260] {
            for digits in [0.5, 100.0] {
                let values: Vec<f64> =
                    (0..n).map(|_| (rng.normal() * digits).round() / digits).collect();
                let order = Order::of(&values);
                let mut sorted = Sorted::new(&values, &order, REACH);
                let mut split = n;
                while split > 3 {
                    let farthest = if rng.coin() { 3 } else { 140 };
                    split -= (1 + rng.below(farthest)).min(split - 3);
                    let mut expected =
                        [&values[split.saturating_sub(REACH)..split], &values[split..]]
                            .map(<[f64]>::to_vec);
                    for side in &mut expected {
                        side.sort_by(f64::total_cmp);
                    }
                    assert_eq!(sorted.at(split), [&expected[0][..], &expected[1]], "{split}");
                }
            }
        }
    }
}
