//! Single iterations far from their neighbours: collections of garbage, compilations, interruptions.
//!
//! A value is an outlier when it lies outside median +- 3 (90 % - 10 % quantile) of the iterations
//! around it, half of a window to either side; Barrett et al. (2017), section 4.1, after Tukey,
//! "Exploratory Data Analysis" (1977). The paper leaves the first window alone, because there slow
//! iterations are what is looked for. One spike among the first iterations of a flat run would then
//! pass for a warm-up, so it is told from one here: in the first window a value is an outlier when it
//! stands out from its neighbours on both sides by that band of the window after it. A start that
//! falls step by step never stands out on its earlier side.

use crate::center::median_of_sorted;
use crate::quantile::of_sorted;

/// How many times the distance of the quantiles a value may be from the median.
const BAND: f64 = 3.0;

/// Neighbours on each side that a value of the first window is compared with.
const NEIGHBOURS: usize = 4;

/// Returns the indices of the outliers, in ascending order.
pub(super) fn outliers(values: &[f64], window: usize) -> Vec<usize> {
    let half = (window / 2).max(1);
    let mut around = Around::new(values);
    (0..values.len())
        .filter(|&i| {
            let (from, to) = (i.saturating_sub(half), (i + half).min(values.len()));
            if from == 0 && to < window {
                let (_, band) = around.look(i, (i + window).min(values.len()));
                return stands_out(values, i, band);
            }
            let (median, band) = around.look(from, to);
            (values[i] - median).abs() > band
        })
        .collect()
}

/// Says whether the value differs by more than `band`, in the same direction, from the medians of
/// its neighbours before and after it. The first value has none before it.
fn stands_out(values: &[f64], i: usize, band: f64) -> bool {
    let before = middle(&values[i.saturating_sub(NEIGHBOURS)..i]);
    let after = middle(&values[(i + 1).min(values.len())..(i + 1 + NEIGHBOURS).min(values.len())]);
    let (Some(before), Some(after)) = (before, after) else { return false };
    let value = values[i];
    value - before.max(after) > band || before.min(after) - value > band
}

fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| median_of_sorted(&sorted))
}

/// A window that moves over the values, kept in order.
struct Around<'a> {
    values: &'a [f64],
    from: usize,
    to: usize,
    sorted: Vec<f64>,
}

impl<'a> Around<'a> {
    fn new(values: &'a [f64]) -> Self {
        Self { values, from: 0, to: 0, sorted: Vec::new() }
    }

    /// Moves to the values from `from` up to `to`, and returns their median and the band.
    fn look(&mut self, from: usize, to: usize) -> (f64, f64) {
        if from < self.from || self.to <= from || to < self.to {
            (self.from, self.to) = (from, from);
            self.sorted.clear();
        }
        for &value in &self.values[self.to..to] {
            let at = self.sorted.partition_point(|x| x.total_cmp(&value).is_lt());
            self.sorted.insert(at, value);
        }
        for value in &self.values[self.from..from] {
            let at = self.sorted.partition_point(|x| x.total_cmp(value).is_lt());
            self.sorted.remove(at);
        }
        (self.from, self.to) = (from, to);
        let distance = of_sorted(&self.sorted, 0.9) - of_sorted(&self.sorted, 0.1);
        (median_of_sorted(&self.sorted), BAND * distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn flat(n: usize) -> Vec<f64> {
        let mut rng = Rng::new(1);
        (0..n).map(|_| 10.0 + 0.1 * (rng.uniform() - 0.5)).collect()
    }

    #[test]
    fn a_spike_is_found_wherever_it_is() {
        for at in [1, 3, 50, 99, 100, 150, 1000, 1998, 1999] {
            let mut values = flat(2000);
            values[at] = 12.0;
            // The last value has nothing after it only inside the first window.
            assert_eq!(outliers(&values, 200), [at], "at {at}");
            values[at] = 8.0;
            assert_eq!(outliers(&values, 200), [at], "dip at {at}");
        }
    }

    #[test]
    fn a_slow_start_is_none() {
        let mut values = flat(2000);
        for (i, value) in values[..60].iter_mut().enumerate() {
            *value += 20.0 * 0.9_f64.powf(i as f64);
        }
        assert!(outliers(&values, 200).is_empty());
    }

    #[test]
    fn a_cold_first_iteration_is_none() {
        let mut values = flat(500);
        values[0] = 40.0;
        assert!(outliers(&values, 50).is_empty());
    }

    #[test]
    fn the_moving_window_sees_what_a_fresh_one_sees() {
        let values = flat(300);
        let mut moving = Around::new(&values);
        for i in 0..250 {
            let (from, to) = (i, i + 20 + i % 7);
            assert_eq!(moving.look(from, to), Around::new(&values).look(from, to), "at {i}");
        }
    }
}
