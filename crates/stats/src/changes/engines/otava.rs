//! The change points that Apache Otava 0.8.0 finds, index for index.
//!
//! For users who come from it, or who want to see what it would say. Windows of w values, half of them
//! overlapping, are split again and again at the largest divergence
//!
//! Q(s, t, k) = 2 A / (n + m) - 2 m X / ((n + m) (n - 1)) - 2 n Y / ((n + m) (m - 1)),
//!
//! n = t - s, m = k - t, with the sums of absolute differences A between [s, t) and [t, k), X within the
//! former and Y within the latter, as long as Student's t test between the whole left and right parts
//! gives p at most ten times the level asked for (twice, from 0.05). Then the weakest points are taken out
//! until all have p below the level and a change above the smallest one wanted.
//!
//! Its t test knows nothing of the split being the best of many, takes population deviations for sample
//! deviations, and needs no least length of a level: see docs/methodology/change-points.md for what that costs.
//!
//! Fleming et al., "Hunter: Using Change Point Detection to Hunt for Performance Regressions" (2023).

use crate::student;

/// What Otava is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Otava {
    /// Values in a window, at least 2; its default is 50.
    pub window: usize,
    /// Level of its t test; its default is 0.001.
    pub p: f64,
    /// Smallest relative change; its default is 0.
    pub magnitude: f64,
}

impl Default for Otava {
    fn default() -> Self {
        Self { window: 50, p: 0.001, magnitude: 0.0 }
    }
}

/// A change point and how it was tested.
#[derive(Debug, Clone, Copy)]
struct Tested {
    index: usize,
    p: f64,
    magnitude: f64,
}

/// Returns the first index of every new level.
pub fn otava(values: &[f64], rules: Otava) -> Vec<usize> {
    let mut points = weak_points(values, rules);
    while let Some(weakest) = weakest(&points, rules) {
        points.remove(weakest);
        // The neighbour before it keeps its old figures, as it does in Otava.
        for i in weakest..points.len().min(weakest + 2) {
            points[i] = between_neighbours(values, &points, i);
        }
    }
    points.iter().map(|point| point.index).collect()
}

/// Returns the point to be taken out next.
fn weakest(points: &[Tested], rules: Otava) -> Option<usize> {
    // The first of equal ones, which `min_by` gives and `max_by` does not.
    let least_likely =
        (0..points.len()).reduce(|best, i| if points[i].p > points[best].p { i } else { best })?;
    if points[least_likely].p < rules.p {
        let smallest = (0..points.len())
            .min_by(|a, b| points[*a].magnitude.total_cmp(&points[*b].magnitude))?;
        return (points[smallest].magnitude <= rules.magnitude).then_some(smallest);
    }
    Some(least_likely)
}

/// Returns the points of all windows, tested between their neighbours.
fn weak_points(values: &[f64], rules: Otava) -> Vec<Tested> {
    let p = match rules.p {
        p if p < 0.05 => 10.0 * p,
        p if p < 0.5 => 2.0 * p,
        p => p,
    };
    let window = rules.window.max(2);
    let mut indices = Vec::new();
    let mut start = 0;
    while start < values.len() {
        let end = values.len().min(start + window);
        let found = divide(&values[start..end], p);
        let last = found.last().map_or(0, |index| start + index);
        indices.extend(found.iter().map(|index| start + index));
        start = last.max(start + window / 2);
    }
    indices.sort_unstable();
    indices.dedup();
    let points: Vec<Tested> =
        indices.iter().map(|index| Tested { index: *index, p: 0.0, magnitude: 0.0 }).collect();
    (0..points.len()).map(|i| between_neighbours(values, &points, i)).collect()
}

fn between_neighbours(values: &[f64], points: &[Tested], i: usize) -> Tested {
    let from = if i == 0 { 0 } else { points[i - 1].index };
    let to = points.get(i + 1).map_or(values.len(), |next| next.index);
    test(&values[from..to], points[i].index - from, points[i].index)
}

/// Divides one window as long as the best split is significant.
fn divide(values: &[f64], p: f64) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    loop {
        let mut ends = vec![0];
        ends.extend(&found);
        ends.push(values.len());
        let best = ends
            .windows(2)
            .filter(|part| part[1] - part[0] > 1)
            .map(|part| (part[0], part[1], best_split(&values[part[0]..part[1]])))
            .reduce(|best, one| if one.2.1 > best.2.1 { one } else { best });
        let Some((from, to, (split, _))) = best else { return found };
        let tested = test(&values[from..to], split, from + split);
        // No number, where both parts are the same constant, is no change either.
        if tested.p.is_nan() || tested.p > p {
            return found;
        }
        found.push(tested.index);
        found.sort_unstable();
    }
}

/// Returns the split of the largest divergence, and the divergence.
fn best_split(values: &[f64]) -> (usize, f64) {
    let n = values.len();
    let distance = |i: usize, k: usize| (values[i] - values[k]).abs();
    // left[t]: sum of the distances within [0, t).
    let mut left = vec![0.0; n + 1];
    for t in 1..=n {
        left[t] = left[t - 1] + (0..t - 1).map(|i| distance(i, t - 1)).sum::<f64>();
    }
    let mut best = (1, f64::NEG_INFINITY);
    // from_row[k]: sum of the distances from each i < t to all of (i, k), grown by a row for each t.
    let mut rows = vec![0.0; n + 1];
    let mut right = RightSums::of(values);
    for (t, within_left) in left.iter().enumerate().take(n).skip(1) {
        let mut row = 0.0;
        for (k, sum) in rows.iter_mut().enumerate().skip(t) {
            if k > t {
                row += distance(t - 1, k - 1);
            }
            *sum += row;
        }
        let within_right = right.after(values, t);
        // Where t >= k there is no split; the place of such pairs counts as 0, as it does in Otava.
        if t >= 2 && 0.0 > best.1 {
            best = (t, 0.0);
        }
        for k in t + 1..=n {
            let (before, after) = (t as f64, (k - t) as f64);
            let total = before + after;
            let mut q = 2.0 / total * (rows[k] - within_left);
            if t > 1 {
                q -= 2.0 * after / (total * (before - 1.0)) * within_left;
            }
            if k > t + 1 {
                q -= 2.0 * before / (total * (after - 1.0)) * within_right[k];
            }
            if q > best.1 {
                best = (t, q);
            }
        }
    }
    best
}

/// Sums of the distances within [t, k), for one t after another.
struct RightSums {
    sums: Vec<f64>,
}

impl RightSums {
    /// The sums for t = 0.
    fn of(values: &[f64]) -> Self {
        let mut sums = vec![0.0; values.len() + 1];
        for k in 1..=values.len() {
            let last = values[k - 1];
            sums[k] = sums[k - 1] + values[..k - 1].iter().map(|v| (v - last).abs()).sum::<f64>();
        }
        Self { sums }
    }

    /// The sums for `t`, one more than before.
    fn after(&mut self, values: &[f64], t: usize) -> &[f64] {
        let gone = values[t - 1];
        let mut distances = 0.0;
        for k in t + 1..=values.len() {
            distances += (gone - values[k - 1]).abs();
            self.sums[k] -= distances;
        }
        &self.sums
    }
}

/// Otava's t test of the two parts of `values`.
fn test(values: &[f64], split: usize, index: usize) -> Tested {
    let (left, right) = values.split_at(split);
    let (mean_1, square_1) = moments(left);
    let (mean_2, square_2) = moments(right);
    let (n_1, n_2) = (left.len() as f64, right.len() as f64);
    let df = n_1 + n_2 - 2.0;
    let p = if df > 0.0 {
        let pooled = ((n_1 - 1.0) * square_1 + (n_2 - 1.0) * square_2) / df;
        let t = (mean_1 - mean_2) / (pooled * (1.0 / n_1 + 1.0 / n_2)).sqrt();
        match t {
            _ if t.is_nan() => f64::NAN,
            _ if t.is_infinite() => 0.0,
            _ => student::two_sided_p(t, df),
        }
    } else {
        1.0
    };
    let change = |from: f64, to: f64| if from == 0.0 { 0.0 } else { (to / from - 1.0).abs() };
    let magnitude = change(mean_1, mean_2).max(change(mean_2, mean_1));
    Tested { index, p, magnitude }
}

/// Mean, and mean squared distance from it.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n)
}
